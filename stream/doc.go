// Package stream holds what HTTP/2 says about one stream, as data: the life-cycle table of RFC 9113, Section 5.1, and
// the order of a message's parts of Section 8.1.
//
// [State] and [Input] are the two axes of the table; [Next] looks a pair up and returns the new state and a [Verdict]:
// go on, ignore the frame, or fail the stream or the connection with a code. [Phase] is the second, tiny machine: where
// a message stands between its interim heads and its trailers.
//
//	next, v := stream.Next(stream.Open, stream.RecvEndStream) // HalfClosedRemote, OK
//	phase, ok := stream.AwaitingHead.Next(stream.FinalHead)   // InBody, true
//
// The table is written from a client's point of view, which never pushes: there is no reserved (local) state. Closed is
// four states, since who closed the stream, and how, decides what a late frame means.
//
// Invariants, checked by tests over all pairs: every closed state is left by nothing; a local input is legal or a bug
// of the caller, never an error of the peer; the golden dump testdata/transitions.txt shows every pair.
//
// The package does not hold streams, count them, or know about flow control; package conn does.
package stream
