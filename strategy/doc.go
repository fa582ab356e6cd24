// Package strategy has the flow-control strategies to choose from.
//
// Each is a struct of options whose zero value is useful and which is a [flow.Config]: [BDP], the default, [Fixed],
// [Threshold] and [Unlimited]. [Parse] reads what their String methods write.
//
//	cfg, err := strategy.Parse("bdp:max=64MiB") // or strategy.BDP{Max: 64 << 20}
//	s := cfg.New()                              // one for each connection
//
// W is the window of a stream, C that of the connection, BDP the bandwidth-delay product of the path.
//
//	              bdp                      fixed                    threshold                unlimited
//	windows       W 1 MiB, C 4 MiB         65,535 both,             16 MiB and 32 MiB,       2^31-1 both
//	              at first                 or as set                or as set
//	growth        to twice the BDP;        none                     none                     none
//	              at most Max/2; kept
//	              for later streams
//	throughput    the path's, after 0 to   15/16 W each round trip  3/4 W each round trip    the path's
//	              2 round trips to grow
//	memory bound  Max (64 MiB)             C                        C                        2 GiB
//	unread        64; C is given back on   (15/16 C - 16 KiB) / W:  (3/4 C - 16 KiB) / W:    none promised
//	streams that  receipt, within Max      none by default          one by default
//	stop nobody
//	frames sent   8 a window and level,    16 a window and level,   4 a window and level     one each 256 KiB
//	              1 to raise a stream;     or one each 256 KiB                               and level
//	              a PING each 10 s
//	choose it     unless you know better   as control: what a       for a path that          to see what a
//	                                       window costs             you know                 path can do
//
// # Invariants
//
//   - Every octet that is consumed is due, and what is due is granted once it is a small part of the window: an obedient
//     server never waits for a reader that has read everything, even a server that sends only whole frames.
//   - Nothing is granted on a stream whose end was received.
//   - Unread octets and granted ones together never exceed the memory bound, which MemoryBound tells.
//   - As many streams as SlowReaders tells may have no reader without stopping the others.
//
// # What it does not do
//
// No strategy here lowers a window, changes SETTINGS on a running connection, or looks at content-length to save the
// last grants.
package strategy
