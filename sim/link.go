package sim

import "math/bits"

// A packet is one segment of TCP, or several of full size that follow each other (a train), or an acknowledgement alone.
type packet struct {
	due int64 // when it arrives
	to  *endpoint

	start, end int64 // the octets that it carries; equal if none
	attempt    int   // how many times they were sent, this one included; without octets, how many times that was said
	handshake  int   // 1 and up: a step of the handshake, which carries nothing else

	// The acknowledgement: everything below ack arrived, and what the first nsacks of sacks say; up to edge may be sent.
	ack    int64
	edge   int64
	sacks  [3]span
	nsacks int
}

// span is a range of octets of a stream.
type span struct{ start, end int64 }

// Sizes on the wire: an Ethernet payload of 1,500 octets with TCP's time stamps.
const (
	mss         = 1448
	headerBytes = 52
)

// wireBytes is what n octets of payload take on the wire.
func wireBytes(n int64) int64 { return n + max((n+mss-1)/mss, 1)*headerBytes }

// A link is one way of the path: a queue that drops what does not fit, a rate, a delay.
//
// Model: free is when the last octet that was accepted will have left the queue, so free-now is what waits. Packets
// arrive in the order in which they were sent; those under way are in a ring, and one timer waits for the first.
type link struct {
	clock *clock
	rate  int64 // bits per second; 0 means no limit
	delay int64
	room  int64 // of the queue in octets
	losses
	trace *trace // instead of a rate, if not nil

	free  int64
	last  int64 // when the last packet arrives
	ring  []packet
	head  int
	count int
	timer *timer
	stats *PathStats
}

func newLink(c *clock, rate, delay, room int64, l losses, stats *PathStats) *link {
	n := &link{clock: c, rate: rate, delay: delay, room: room, losses: l, stats: stats}
	n.timer = c.timer(n.arrive)
	return n
}

// takes is how long n octets take at the rate of the link.
func (l *link) takes(n int64) int64 {
	if l.rate == 0 {
		return 0
	}
	return n * 8e9 / l.rate
}

// waiting is how many octets wait in the queue.
func (l *link) waiting() int64 {
	if l.trace != nil {
		return l.trace.waiting(l.clock.now)
	}
	if l.rate == 0 || l.free <= l.clock.now {
		return 0
	}
	return mulDiv(l.free-l.clock.now, l.rate, 8e9)
}

// send puts p on the way. Segments of it that are lost at random, or find no room, never arrive.
func (l *link) send(p packet) {
	if p.handshake > 0 {
		l.enqueue(p, headerBytes)
		return
	}
	if p.start == p.end {
		if l.losesAck(&p) {
			return
		}
		l.queue(p)
		return
	}
	if l.threshold == 0 {
		l.queue(p)
		return
	}
	// Cut the train where segments are lost.
	piece := p
	for at := p.start; at < p.end; {
		end := min(at+mss, p.end)
		if l.losesSegment(&p, at, end) {
			l.stats.LossDrops++
			if piece.start < at {
				piece.end = at
				l.queue(piece)
			}
			piece.start = end
		}
		at = end
	}
	if piece.start < p.end {
		piece.end = p.end
		l.queue(piece)
	}
}

// queue lets as many segments of p enter the queue as fit.
func (l *link) queue(p packet) {
	wire := wireBytes(p.end - p.start)
	if waiting := l.waiting(); waiting > 0 && waiting+wire > l.room {
		fit := max(l.room-waiting, 0) / (mss + headerBytes) * mss
		if dropped := (p.end - p.start - min(fit, p.end-p.start) + mss - 1) / mss; dropped > 0 {
			l.stats.QueueDrops += dropped
		}
		if fit == 0 || p.start == p.end {
			return
		}
		p.end = min(p.end, p.start+fit)
		wire = wireBytes(p.end - p.start)
	}
	l.enqueue(p, wire)
}

func (l *link) enqueue(p packet, wire int64) {
	l.stats.SentBytes += wire
	if l.trace != nil {
		l.free = l.trace.pass(l.clock.now, wire)
	} else {
		l.free = max(l.free, l.clock.now) + l.takes(wire)
	}
	l.stats.PeakQueueBytes = max(l.stats.PeakQueueBytes, l.waiting())
	p.due = max(l.free+l.delay, l.last)
	l.last = p.due
	l.push(p)
}

// change sets a new rate and delay; what waits is served at the new rate.
func (l *link) change(rate, delay int64) {
	waiting := l.waiting()
	l.rate, l.delay = rate, delay
	if l.trace != nil {
		return
	}
	l.free = l.clock.now + l.takes(waiting)
}

func (l *link) push(p packet) {
	if l.count == len(l.ring) {
		ring := make([]packet, max(64, 2*len(l.ring)))
		n := copy(ring, l.ring[l.head:])
		copy(ring[n:], l.ring[:l.head])
		l.ring, l.head = ring, 0
	}
	l.ring[(l.head+l.count)&(len(l.ring)-1)] = p
	l.count++
	if l.count == 1 {
		l.timer.set(p.due)
	}
}

// arrive hands over the packet whose time has come.
func (l *link) arrive() {
	p := &l.ring[l.head]
	l.head = (l.head + 1) & (len(l.ring) - 1)
	l.count--
	if l.count > 0 {
		l.timer.set(l.ring[l.head].due)
	}
	p.to.receive(*p)
}

// mulDiv is a*b/c, exactly, for values that are not negative and a result that fits.
func mulDiv(a, b, c int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high == 0 {
		return int64(low / uint64(c))
	}
	quotient, _ := bits.Div64(high, low, uint64(c))
	return int64(quotient)
}
