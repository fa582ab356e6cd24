// Package httpbench puts HTTP clients through the same benchmarks, beside net/http's, so that benchstat can pair them.
//
// A [Client] does one request at a time on the connection that it keeps; [Get], [ParallelGet], [Download] and [Upload]
// run it as the sub-benchmark client=h2flow, beside client=net/http-http1 and client=net/http-h2:
//
//	func init() { httpbench.ServeIfAsked() }
//
//	func BenchmarkGet(b *testing.B) { httpbench.Get(b, open) }
//
// The server is the test binary itself, started again: in another process its CPU time and its allocations do not count
// as the client's. ServeIfAsked is what makes the second process a server.
//
// [AnswerWithoutAllocating] is a server for counting allocations in one process, which testing.AllocsPerRun needs.
//
// Invariants: every client sends the same requests and reads bodies into a buffer of the same size; connections are
// open before the clock runs.
package httpbench
