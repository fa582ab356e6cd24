// Package strategy has the flow-control strategies to choose from.
//
// Each is a struct of options whose zero value is useful and which is a [flow.Config]: [Auto], the default, [BDP],
// [Fixed], [Threshold] and [Unlimited]. [Parse] reads what their String methods write.
//
//	cfg, err := strategy.Parse("auto:max=64MiB") // or strategy.Auto{Max: 64 << 20}
//	s := cfg.New()                               // one for each connection
//
// W is the window of a stream, C that of the connection, BDP the bandwidth-delay product of the path.
//
//	              auto                    bdp                     fixed                   threshold
//	windows       W 32 to 512 KiB,        W 1 MiB, C 4 MiB        65,535 both,            16 MiB and 32 MiB,
//	              C 768 KiB at first      at first                or as set               or as set
//	growth        to twice the BDP, then  to twice the BDP;       none                    none
//	              down to 1.25; W falls   at most Max/2; kept
//	              with a slow reader      for later streams
//	throughput    the path's, also in     the path's, after 0 to  15/16 W each round      3/4 W each round
//	              slow start              2 round trips to grow   trip                    trip
//	queue         a quarter of a round    as long as a round      W - BDP                 W - BDP
//	              trip                    trip
//	memory bound  Max (64 MiB)            Max (64 MiB)            C                       C
//	unread        510; C is given back    64; C is given back on  (15/16 C - 16 KiB) / W: (3/4 C - 16 KiB) / W:
//	streams that  on receipt to readers   receipt, within Max     none by default         one by default
//	stop nobody   that wait, within Max
//	frames sent   8 a window and level,   8 a window and level,   16 a window and level,  4 a window and level
//	              in common packets;      1 to raise a stream;    or one each 256 KiB
//	              no PING while octets    a PING each 10 s
//	              come
//	choose it     unless you know better  where windows should    as control: what a      for a path that
//	                                      never fall              window costs            you know
//
// unlimited opens both windows to 2^31-1 and grants each 256 KiB: it shows what a path can do, and bounds no memory.
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
// No strategy here changes SETTINGS on a running connection, or looks at content-length to save the last grants; a window
// is lowered by withholding grants alone.
package strategy
