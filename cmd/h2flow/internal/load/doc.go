// Package load drives one HTTP client as hard as it goes and measures what that costs.
//
// A [Spec] says what to do, [Run] does it in this process, a [Result] says what it took:
//
//	spec := load.Spec{Client: load.HTTP1, URL: url, Op: load.Get, Size: 1024, Requests: 1000, Conns: 1, Streams: 32}
//	result, err := load.Run(ctx, spec)
//
// Conns times Streams lanes each do one request after another, waiting for nothing but the client under test. A lane
// reads a body into a buffer of its own and throws it away; it uses one request again and again, so that hardly
// anything that is allocated is the generator's. Every lane's first requests, the warm-up, are not measured.
//
// CPU time, allocations and memory are those of the whole process. So a process does one run, and nothing else: the
// server, a relay, or another client belongs into a process of its own.
//
// Invariants: every request that was begun is counted once, as a request or as a failure; the time of a run ends when
// its last request has ended; a figure that this platform cannot give is nil.
//
// The package starts no processes, compares nothing and prints nothing.
package load
