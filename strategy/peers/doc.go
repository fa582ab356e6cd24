// Package peers has models of other clients' receive windows, so that any plot can show a strategy beside what exists.
//
// Each client is one Config, such as [NetHTTP] or [GRPCGo], whose zero value is the client as it comes; known defects are
// behind a field. [Parse] reads what their String methods write, [Table] lists them all, and [Lookup] reads them beside
// other strategies:
//
//	cfg, err := peers.Lookup("peer:grpc-go", strategy.Parse)
//	s := cfg.New() // one for each connection
//
// # What is modelled
//
// The rules by which a client decides its WINDOW_UPDATE, SETTINGS and PING frames, with the constants of its source at
// the commit that its file names: what is credited (on receipt or on reading), when it is given back, and how a window
// grows. Most clients hand a frame on only when it is complete, so their models heed octets at the end of each frame.
// Models of tuners that are no HTTP/2 clients, such as [Linux] and [QUICGo], are their rules on the same offsets.
//
// # Invariants
//
//   - A model is a strategy like any other and keeps the promises of package flowtest, but for those that Info.Breaks
//     names: that is what its client does.
//   - Models that send PINGs limit them as their clients do, and lift the budget of the connection. They are for
//     experiments, not for servers of others.
//
// Which of them reproduce what was measured of their clients is in docs/strategies.md.
//
// # What it does not do
//
// It models no client's parser, threads, buffers or speed. No model grants on a stream whose end has come.
package peers
