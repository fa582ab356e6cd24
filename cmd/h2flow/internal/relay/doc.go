// Package relay emulates a network path with real sockets: it accepts TCP connections, connects each to a target, and
// delays and paces the octets between them.
//
// A [Relay] has one [Path] for each direction. A path is a link of a given rate behind a queue of bounded length,
// followed by a propagation delay:
//
//	sender -> kernel buffers (kept small) -> queue -> link at Rate -> Delay -> receiver
//
// When the queue is full the relay stops reading, so the sender's own socket fills up and nothing is ever dropped. All
// connections of a relay share the link of their direction. What that gives is a path on which TCP has already opened
// its window: no slow start and no loss, the same for every protocol above it.
//
//	r, err := relay.Listen(relay.Config{Target: addr, Up: p, Down: p})
//	...
//	defer r.Close()
//	conn, err := net.Dial("tcp", r.Addr())
//
// Invariants: octets leave in the order in which they came, none is lost or changed; over any span the link passes no
// more than Rate allows, and exactly that while the queue is not empty; no octet arrives earlier than a quarter of a
// millisecond before its time. Setting up a connection costs one round trip, as the TCP handshake would: the accepting
// kernel has already answered, so what the client says first is held back by that time.
//
// The package does not model loss, reordering, jitter or congestion control.
package relay
