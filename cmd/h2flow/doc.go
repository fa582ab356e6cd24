// Command h2flow is an HTTP/2 client and a laboratory for flow control.
//
//	go run ./cmd/h2flow demo
//	go run ./cmd/h2flow get -o body.bin https://example.com/
//	go run ./cmd/h2flow bench --compare
//
// `h2flow --help` lists the verbs, `h2flow VERB --help` describes one. Everything is in package cli, whose Main a program
// with a flow-control strategy of its own calls in the same way; this program adds none. It keeps no configuration and
// no state between calls.
package main
