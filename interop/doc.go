// Package interop holds tests of h2flow against other people's HTTP/2 servers: Go's, nghttpd and nginx, over TLS and in
// cleartext. There is nothing to import.
//
//	GOWORK=off go test ./...
//
// A test whose server is not installed skips and says what to install. The servers run as children of the test,
// on free ports of the loopback interface, with all that they write below the test's temporary directory, and are stopped by
// their process ids.
//
// Every transfer is also made by net/http, as the control: when that fails too, the server or the harness is at fault.
//
// It is a module of its own, outside go.work, so that what the tests require never moves the versions of the library.
// It does not measure: the figures of transfers over the loopback interface say nothing about flow control.
package interop
