// Package sim runs the production connection core over a modelled path in virtual time, so that what a strategy costs or
// gains can be seen in milliseconds and repeated to the octet.
//
// A [Scenario] says what the path is, what is transferred over it and who reads; [Run] gives a [Result], which has one
// [Record] for each request:
//
//	result, err := sim.Run(sim.Scenario{
//		RTTMs: 50, RateMbit: 100, Bytes: 10 << 20, Requests: 2, // the second one is warm
//		Strategy: "bdp",
//	})
//
// [ReadScenario] reads the same from JSON. A strategy of one's own goes into Scenario.Flow, and flow.Observe shows each
// of its decisions.
//
// # What is modelled
//
//   - The path: a rate, a delay and a queue that drops what does not fit, each way; losses at random; changes of rate and
//     delay on the way. Connections and cross traffic share the bottleneck.
//   - TCP, as Linux 6.18 does it: the handshake, slow start with HyStart, CUBIC, Reno and a BBR (version 1), selective
//     acknowledgements, recovery in proportion, tail loss probes, timeouts, delayed acknowledgements, restart after
//     idling, the send buffer, and the receive window, which grows with what arrives.
//   - The server: obeys both windows, applies SETTINGS, answers PING, takes streams in turn, 16 KiB a frame.
//   - The reader: at once, at a rate, in bursts, with a pause, or never.
//
// Segments that follow each other travel as one train, about a millisecond long, as the kernel hands them to a network
// card. That makes a bulk transfer several hundred times faster than real time.
//
// # Invariants
//
// A run is a function of its Scenario: no goroutine, no clock, integer nanoseconds and octets, no order that depends on
// a map. The same scenario gives the same result on every machine, and runs may go in parallel. Losses are a function of
// the seed, the octet and how often it was sent, so that two strategies lose the same octets. Scenario.CheckInvariants
// checks the core's own invariants, and those of TCP, after every step.
//
// How far the times are from those of a kernel is in docs/strategies.md.
//
// # What it does not do
//
// It sends no request bodies, and models no TLS records, no processor and no jitter: only the path, TCP, the server's
// windows and the reader take time. Paths do not reorder. No random process but that of losses is modelled.
package sim
