// Package flow is receive-side flow control as a plug-in: the accounting of windows, and the interface through which a
// strategy decides every WINDOW_UPDATE of a connection.
//
// The types that matter are [Strategy], which decides, [Config], which makes a Strategy for each connection and is what
// users hold, and [Offsets], the four counts that describe a receive window at any time.
//
// # How it is driven
//
// A connection asks a new strategy for its windows, then tells it each [Event] as it happens; the strategy appends the
// [Action] values that follow from it:
//
//	s := cfg.New()
//	windows := s.Open(now)
//	...
//	actions = s.Decide(now, ev, actions[:0])
//
// The connection keeps a [Receive] for each stream and one for itself, checks every action against them, and tells what
// it refused by an ActionRefused event. The other direction, what the peer lets us send, is a [SendWindow]. Windows of
// streams are relative to a [Base], so that a changed initial window costs the same with any number of streams.
//
// [Observe] puts an [Observer] beside each strategy of a Config, a [Meter] for example. [Record] writes down all events
// and actions of a connection as JSON lines; [ReadLog] reads them, and a [Log] replays them to any other strategy: what it
// would have decided on the same arrivals, not how long the transfer would have taken. Package strategy has strategies
// to use, package flowtest a suite that any strategy can be run through.
//
// # Invariants
//
//   - Consumed <= Received <= Charged, and Charged <= Granted unless the initial window was lowered.
//   - No window exceeds [MaxWindow], whatever a strategy asks for and whatever the peer sends.
//   - The same events at the same times give the same actions: a strategy has no clock and no randomness of its own.
//   - Every octet charged to the connection is consumed exactly once, by the application, as padding, or as discarded.
//
// # What it does not do
//
// It knows no frames and sends nothing. It does not decide what we send: the peer's windows do. It reads no clock,
// starts no goroutine and takes no lock.
package flow
