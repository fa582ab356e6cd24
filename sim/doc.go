// Package sim runs the production connection core over a modelled path in virtual time.
//
// A [Scenario] says what the path is, what is transferred and who reads it; [Run] gives a [Result] with one [Record] for
// each request:
//
//	result, err := sim.Run(sim.Scenario{
//		RTTMs: 50, RateMbit: 100, Bytes: 10 << 20, Requests: 2,
//		Strategy: "bdp",
//	})
//
// # Invariants
//
// A run is a function of its Scenario: one goroutine, no clock, integer nanoseconds and octets, no order that depends on
// a map. The same scenario gives the same result on every machine, and runs may go in parallel.
//
// # What it does not do
//
// It sends no request bodies, models no TLS records and no processor: only the path, TCP, the server's windows and the
// reader take time.
package sim
