// Command goclient asks for URLs with one of Go's HTTP/2 clients, all at once on one connection, and exits with 0 if
// every response came whole. It is what `h2flow conform` tests net/http and x/net by:
//
//	go build -o goclient ./internal/goclient
//	h2flow conform --pair "./goclient {url} {url2}" -- ./goclient {url}
package main
