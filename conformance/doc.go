// Package conformance holds RFC 9113, for clients, as executable cases that run against any HTTP/2 client.
//
// A [Case] is a short script that a server plays over one connection: what it says, and what the client must say in
// return. [Cases] returns all of them; [Run] plays one against a [Client], which is how a case asks for requests:
//
//	for _, c := range conformance.Cases() {
//		t.Run(c.ID, func(t *testing.T) {
//			server, client := net.Pipe()
//			if err := conformance.Run(server, myClient(client), c, 0).Err(); err != nil {
//				t.Error(err)
//			}
//		})
//	}
//
// [NewHTTPClient] makes a Client of any http.RoundTripper; `h2flow conform` plays the cases against any command.
//
// # Scripts
//
// There is one file for each section in the folder cases; [Parse] reads such a text. Its first line names the section,
// and each case begins with the requirement that it is about, perhaps a name, and the rule. Then each line is a step,
// and they read like a transcript:
//
//	RFC 9113, Section 6.9
//
//	case 9113-6.9-2/other: an increment of 0 on a stream is an error of that stream.
//	req: 9113-5.4.2-2
//	= GET /a               the client is asked for a request
//	> HEADERS stream=1     the client says this next; what it may say at any time is passed over
//	> DATA stream=1 total=65535
//	                       it sends so many octets, in frames of any size
//	> A || B | C           it says one of these; A and B are right, and C is what the RFC permits
//	>? A | B               it may say this from here on
//	< DATA stream=1 len=5  the server says this
//	< 9 times PING         and this, so often
//	< close                the server closes the transport
//	barrier                the client answers a PING, and says nothing before it
//	! GET /a 200 len=5     the application gets this of its request: a status, a length, or "fails"
//	! closed               the client closes the connection
//
// An expectation names what matters: each of its words is among those of the frame as package frame prints it, or of
// the field section with its fields. Streams are numbered as if the client's were 1, 3, 5, in the order in which its
// requests arrive. Frames are said as package frame prints them, and more exactly: FRAME gives any type, flags and
// payload, "set=" and "reserved" set bits of any header, "block=" is a field block in hexadecimal, a length may be
// "max+1" or "window+1" for the client's own limits; in fields "%0a" is an octet, and "{9*a}" is nine of them.
//
// Before the first step both sides have exchanged their SETTINGS and acknowledgements, unless there is a line
// "ungreeted"; "greet:" gives settings of the server. "req:" names further requirements, "level: should" what the RFC
// only recommends or leaves to the client, "needs:" what the client's SETTINGS must say for the case to apply. A case
// with lines "each name: text" is one for each of them, with the text in the place of "$".
//
// # Verdicts
//
// The verdict is by what is on the wire, the error code too: that a connection ended is not enough, and has a [Verdict]
// of its own. What the RFC permits in place of the exact reaction is Allowed. Every octet of the client is checked
// besides by a shadow of the connection, so a case can fail for a rule that it is not about. Each step has a deadline;
// a client that hangs fails.
//
// [Always] lists the requirements that the shadow checks in every case, [Unshown] those that no server can see.
//
// # What it does not do
//
// It knows no client: what makes one from a connection is for the caller. It says nothing about servers, little about
// TLS, nothing about performance, and a client that passes may still break a rule for which there is no case.
package conformance
