module example.com/h2flow/cmd/h2flow

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	golang.org/x/sys v0.50.0
)

replace example.com/h2flow => ../..
