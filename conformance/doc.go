// Package conformance holds RFC 9113, for clients, as executable cases that run against any HTTP/2 client.
//
// A [Case] is a short script that a server plays over one connection: what it says, and what the client must say in
// return. [Cases] returns all of them; [Run] plays one against a [Client], which is how a case asks for requests:
//
//	for _, c := range conformance.Cases() {
//		t.Run(c.ID, func(t *testing.T) {
//			server, client := net.Pipe()
//			if err := conformance.Run(server, myClient(client), c); err != nil {
//				t.Error(err)
//			}
//		})
//	}
//
// # Scripts
//
// The scripts in the folder cases are read like transcripts. The first line names the section and the rule, "req:" the
// rows of the table of requirements, and then each line is one step:
//
//	= GET /a               the client is asked for a request, here and below on its next stream
//	> HEADERS stream=1     the client must say this next; WINDOW_UPDATE and PING are passed over unless named
//	> DATA stream=1 total=65535
//	                       the client must send so many octets, in frames of any size
//	< DATA stream=1 len=5  the server says this
//	! GET /a 200 len=5     the application must have got this of its first request for /a: a status, or "fails"
//	! closed               the client must close the connection
//
// An expectation names what matters: each of its words must be among those of the frame as package frame prints it, or
// of the field section with its fields. Unless the script begins with a line "ungreeted", both sides have exchanged
// their SETTINGS and acknowledgements before its first step.
//
// # Invariants
//
// The verdict is by what is on the wire, the error code too: that a connection ended is not enough. Every octet of the
// client is checked besides by a shadow of the connection, so a case can fail for a rule that it is not about. Each
// step has a deadline; a client that hangs fails.
//
// # What it does not do
//
// It knows no client: what makes one from a connection is for the caller. It says nothing about servers, TLS, or
// performance, and a client that passes may still break a rule for which there is no case.
package conformance
