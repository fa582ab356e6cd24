// Package peer is the server side of a connection for tests: it says whatever the test wants, legal or not, and checks
// every octet that the client says.
//
// A [Peer] has no connection: it turns values into octets and octets into values. Values are the types of package
// frame, and [Headers] and [PushPromise], which stand for a whole field section, fields decoded, however many frames
// carry it.
//
//	p := peer.New(peer.Plain)
//	core.Feed(now, p.Encode(nil, peer.Headers{Stream: 1, Fields: fields}, frame.Data{Stream: 1, EndStream: true}))
//	p.Feed(core.AppendOutput(now, nil, math.MaxInt))
//	got, ok := p.Next()                  // cmp.Diff(frame.RSTStream{Stream: 1, Code: frame.Cancel}, got)
//	if err := p.Check(); err != nil {    // what the client broke, if anything
//		t.Error(err, "\n", p.Transcript())
//	}
//
// A [Shadow] is the checker by itself. It keeps its own books from the octets of both directions: windows on both
// levels, settings in force, streams and their ends, field blocks. A [Server] runs a script over a net.Conn, with a
// deadline for every step, so that a client that hangs is a failure.
//
// # Invariants
//
// What the server says is never judged, since breaking rules is its purpose: only the client's octets make Check fail.
// A rule that depends on what the client knew is applied once the client acknowledged a SETTINGS or a PING that was
// sent later, or at once if Prompt is set. So Check has no false alarm, whatever is under way on a network.
//
// # What it does not do
//
// It does not import package conn, nor share any state machine with it. It does not decide whether the client's
// reaction to a broken rule is the right one: that is what the test says.
package peer
