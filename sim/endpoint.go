package sim

// An endpoint is one end of a TCP connection: what it sends, what it receives, and the application above it.
type endpoint struct {
	clock      *clock
	connection int // tells the losses of one connection from those of another
	peer       *endpoint
	out        *link // to the peer
	send       sender
	recv       receiver

	// established is called when the handshake is over, on the side that began it. arrived says that n more octets are in
	// order, which the application takes from peer.send.content. writable says that octets were acknowledged. Each may be
	// nil.
	established func(rtt int64)
	arrived     func(n int64)
	writable    func()

	deaf       bool  // takes no notice of anything
	handshakes int   // exchanges to make before octets may flow
	began      int64 // when the last exchange began
}

// tcpOptions are what the two ends of a connection do not have in common.
type tcpOptions struct {
	control       string
	noHyStart     bool
	initialWindow int64 // segments
	receiveBuffer int64 // octets; 0 means without bound
}

// newPair returns the two ends of a connection, client first, joined by an up and a down link.
func newPair(c *clock, id int, up, down *link, client, server tcpOptions, stats *PathStats) (a, b *endpoint) {
	a = &endpoint{clock: c, connection: id, out: up}
	b = &endpoint{clock: c, connection: id, out: down}
	a.peer, b.peer = b, a
	a.send.init(a, client, &PathStats{})
	b.send.init(b, server, stats)
	a.recv.init(a, client.receiveBuffer)
	b.recv.init(b, server.receiveBuffer)
	return a, b
}

// connect begins the handshake, of so many round trips.
func (e *endpoint) connect(roundTrips int) {
	e.handshakes = roundTrips
	e.began = e.clock.now
	e.out.send(packet{to: e.peer, handshake: 1})
}

// shake takes one step of the handshake: odd ones are the client's.
func (e *endpoint) shake(step int) {
	if step%2 == 1 {
		e.send.start(0)
		e.out.send(packet{to: e.peer, handshake: step + 1})
		return
	}
	rtt := e.clock.now - e.began
	if step < 2*e.handshakes {
		e.began = e.clock.now
		e.out.send(packet{to: e.peer, handshake: step + 1})
		return
	}
	e.send.start(rtt)
	e.peer.send.measured(rtt)
	e.established(rtt)
}

// receive takes a packet off the path.
func (e *endpoint) receive(p packet) {
	if e.deaf {
		return
	}
	if p.handshake > 0 {
		e.shake(p.handshake)
		return
	}
	if e.send.acknowledged(&p) && e.writable != nil {
		e.writable()
	}
	if p.end > p.start {
		if n := e.recv.take(&p); n > 0 && e.arrived != nil {
			e.arrived(n)
		}
	}
	e.send.push()
	if e.recv.ackNow {
		e.recv.acknowledge()
	}
}

// write gives the octets of p to TCP, writeZeros n zeros; push lets them go.
func (e *endpoint) write(p []byte) {
	e.send.content.append(p)
	e.send.written += int64(len(p))
}

func (e *endpoint) writeZeros(n int64) {
	e.send.content.appendZeros(n)
	e.send.written += n
}

// packet returns a packet for the peer that carries the acknowledgement that is due.
func (e *endpoint) packet(start, end int64) packet {
	p := packet{to: e.peer, start: start, end: end, ack: e.recv.next, edge: e.recv.edge()}
	if len(e.recv.spans) > 0 {
		e.recv.tell(&p)
	}
	e.recv.acknowledged()
	return p
}
