// Package flowtest is a suite that any flow-control strategy can be run through.
//
// [Run] is all that a test of a strategy needs:
//
//	func TestMine(t *testing.T) { flowtest.Run(t, Mine{}) }
//
// The example of Run is a whole strategy in fifty lines, and what the suite says when it forgets a grant.
//
// It drives strategies made by a [flow.Config] with a small model of a connection, its server and the path between, in
// virtual time and on one goroutine: the server obeys both windows and sends as fast as they and the path allow; readers
// keep up, are slow, drain in bursts, or never read; streams are cancelled with octets unread and on the way; frames are
// padded. [Download] gives the times that the model arrives at, for tests of a strategy's speed.
//
// # What is checked
//
//   - Safety: no window ever exceeds 2^31-1, no grant is below 1 or for a stream that cannot receive any more, refused
//     PINGs are not asked for again and again, a refused action is not answered with the same action for ever.
//   - Liveness: a body ends when its reader reads and the server obeys, also when the server uses no part of a window
//     that is smaller than a frame.
//   - Conservation: after many cancelled streams the connection window is neither used up nor inflated.
//   - Memory: bodies that nobody reads stop; slow readers and readers that drain in bursts do not inflate a window.
//   - Determinism: the same events give the same actions, and strategies of one Config share no state.
//
// A Config that implements [Bounded], [Growing] or [Tolerant] is held to what it promises there.
//
// # What it does not do
//
// The path loses nothing and its queue has no limit, so the times are no predictions.
package flowtest
