module example.com/h2flow/interop

go 1.26.0

require (
	example.com/h2flow v0.0.0
	github.com/google/go-cmp v0.7.0
)

require golang.org/x/net v0.62.0 // indirect

replace example.com/h2flow => ..
