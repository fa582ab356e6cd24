// Package interop holds tests of h2flow against other people's HTTP/2 servers and libraries. There is nothing to import.
//
//	GOWORK=off go test ./...
//	GOWORK=off H2FLOW_LONG=1 go test -timeout 60m ./...
//
// The servers are Go's, nginx, nghttpd, nghttpx, Apache httpd, h2o, Caddy, HAProxy, lighttpd, Varnish behind hitch, Traffic
// Server, Node, Hypercorn and Jetty. Each is asked for a cover of all pairs of cleartext or TLS, strategy, frame size, client and
// direction, or, with H2FLOW_LONG, for all combinations. ../docs/compatibility.md says what was found.
//
// A test whose server is not installed skips and says what to install. The servers run as children of the test, on free
// ports of the loopback interface, with all that they write in a temporary directory, and are ended by their process ids. On
// Linux a supervisor sees to that also when the test is killed.
//
// Every transfer is also made by net/http, as the control: when that fails too, the server or the harness is at fault.
//
// It is a module of its own, outside go.work, so that what the tests require never moves the versions of the library.
// It does not measure: the figures of transfers over the loopback interface say nothing about flow control.
package interop
