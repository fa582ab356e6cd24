// Package hostile lets a connection live a hard life, in virtual time and on one goroutine, decided by one seed: a user
// who opens requests, reads slowly, gives up and fails in the middle; a server that keeps the rules, with a nemesis that
// breaks one of them at a time; and a transport that cuts what is sent into any pieces, blocks, and breaks.
//
// [Run] plays one life and returns what went wrong, if anything:
//
//	report := hostile.Run(hostile.Seed(42), hostile.NewTally())
//	if report.Err != nil {
//		t.Errorf("seed 42: %v\n%s", report.Err, hostile.Tell(hostile.Seed(42), hostile.NewTally()).Transcript())
//	}
//
// Decisions come from a [Chooser]: a [Seed] makes them up, and [Octets] takes them from a fuzzer's input.
//
// # Invariants
//
// After every step: the connection's own laws; two sets of books that know nothing but the octets, one at each end,
// which judge all that the client sends; the order of events. In the end the faults stop and everybody finishes, within
// bounded time: then each request has had exactly one outcome, each complete response is what the server sent, and a
// request that was called not processed was not answered. The same decisions give the same life, octet by octet.
//
// A [Tally] counts which rare states, by name, and which cells of the table of stream states and frame types were
// reached; a campaign that never reaches one has not tested what it claims to.
//
// # What it does not do
//
// It knows no goroutines and no sockets: the driver of the root package has its own tests.
package hostile
