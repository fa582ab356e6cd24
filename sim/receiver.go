package sim

import "slices"

// receiver is the receiving half of TCP: it puts octets in order and acknowledges them.
//
// Model: next is what is expected; spans are what arrived above it, in order and disjoint. At least two segments are
// acknowledged at once, less after delayedAck. The application always takes everything at once, since an engine reads
// its socket; what it does not read is kept above, which the windows of HTTP/2 bound.
type receiver struct {
	e       *endpoint
	next    int64
	spans   []span
	recent  span  // where the last octets out of order went
	unacked int64 // in order, since the last acknowledgement
	quick   int   // acknowledgements at the start that are not delayed
	ackNow  bool
	delayed *timer
	window  receiveWindow
}

const (
	delayedAck = 40e6 // ns
	quickAcks  = 16
)

func (r *receiver) init(e *endpoint, buffer int64) {
	r.e = e
	r.quick = quickAcks
	r.delayed = e.clock.timer(func() { r.acknowledge() })
	r.window.init(buffer)
}

// take puts the octets of p in their place and returns how many more are in order.
func (r *receiver) take(p *packet) int64 {
	before := r.next
	switch {
	case p.end <= r.next:
		r.ackNow = true // again: the acknowledgement was lost
		return 0
	case p.start > r.next:
		r.insert(span{p.start, p.end})
		r.ackNow = true
		return 0
	}
	r.next = p.end
	for len(r.spans) > 0 && r.spans[0].start <= r.next {
		r.next = max(r.next, r.spans[0].end)
		r.spans = slices.Delete(r.spans, 0, 1)
		r.ackNow = true
	}
	n := r.next - before
	r.unacked += n
	r.window.arrived(r.e, n)
	switch {
	case r.unacked >= 2*mss || len(r.spans) > 0:
		r.ackNow = true
	case r.quick > 0:
		r.quick--
		r.ackNow = true
	case !r.delayed.isSet():
		r.delayed.set(r.e.clock.now + delayedAck)
	}
	return n
}

// insert adds s to what arrived out of order.
func (r *receiver) insert(s span) {
	i, _ := slices.BinarySearchFunc(r.spans, s.start, func(x span, start int64) int { return int(x.end - start) })
	j := i
	for j < len(r.spans) && r.spans[j].start <= s.end {
		s.start, s.end = min(s.start, r.spans[j].start), max(s.end, r.spans[j].end)
		j++
	}
	r.spans = slices.Replace(r.spans, i, j, s)
	r.recent = s
}

// latest are the spans to tell: where the last octets went, then the first ones.
func (r *receiver) latest() []span {
	if len(r.spans) <= 1 {
		return r.spans
	}
	told := make([]span, 0, 3)
	if r.recent.start > r.next {
		told = append(told, r.recent)
	}
	for _, s := range r.spans {
		if len(told) < cap(told) && s != r.recent {
			told = append(told, s)
		}
	}
	return told
}

// edge is up to where the peer may send.
func (r *receiver) edge() int64 { return r.next + r.window.size() }

// acknowledge sends an acknowledgement alone.
func (r *receiver) acknowledge() {
	r.e.out.send(r.e.packet(0, 0))
}

// acknowledged notes that a packet carries what is due.
func (r *receiver) acknowledged() {
	r.unacked, r.ackNow = 0, false
	r.delayed.clear()
}
