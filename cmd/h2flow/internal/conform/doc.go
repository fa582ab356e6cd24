// Package conform plays the cases of package conformance against clients that are processes.
//
// A [Suite] says which client and how, [Suite.Run] plays cases, several at a time, and hands each [Outcome] on in the
// order of the cases; a [Report] counts them by section and writes them as text, as lines of JSON, or as JUnit's XML:
//
//	suite := conform.Suite{Get: []string{"curl", "--http2-prior-knowledge", "{url}"}}
//	report := conform.NewReport()
//	err := suite.Run(ctx, conformance.Cases(), report.Add)
//
// Every case has a server of its own on loopback, which accepts one connection; whatever else the client opens is
// closed. The client is started once for each case and has ended, or been ended, when its outcome is told.
//
// Invariants: each case has one outcome, in order; no process and no socket is left when Run returns.
//
// The package knows neither flags nor terminals, and no rule of HTTP/2: what a client does wrong, package conformance
// says.
package conform
