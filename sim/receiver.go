package sim

import "slices"

// receiver is the receiving half of TCP: it puts octets in order and acknowledges them.
//
// Model: next is what is expected; spans are what arrived above it, in order and disjoint. The second segment, however
// small, is acknowledged at once, since the application reads at once; the first alone after delayedAck. The application always takes everything at once, since an engine reads
// its socket; what it does not read is kept above, which the windows of HTTP/2 bound.
type receiver struct {
	e       *endpoint
	next    int64
	spans   []span
	recent  [3]int64 // where the last octets out of order went, each in a span, the latest first
	repeats int      // acknowledgements alone that said the same as the one before
	told    int64    // by the last of them
	unacked int64    // in order, since the last acknowledgement
	pieces  int      // packets since then
	quick   int      // acknowledgements at the start that are not delayed
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
	r.pieces++
	r.window.arrived(r.e, n)
	switch {
	case r.unacked >= 2*mss || r.pieces >= 2 || len(r.spans) > 0:
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
	i := r.holding(s.start - 1) // one that ends where s starts is joined
	j := i
	for j < len(r.spans) && r.spans[j].start <= s.end {
		s.start, s.end = min(s.start, r.spans[j].start), max(s.end, r.spans[j].end)
		j++
	}
	r.spans = slices.Replace(r.spans, i, j, s)
	if r.recent[0] < s.start || r.recent[0] >= s.end {
		r.recent[2], r.recent[1] = r.recent[1], r.recent[0]
	}
	r.recent[0] = s.start
}

// holding is the index of the span that holds offset, or of the first after it.
func (r *receiver) holding(offset int64) int {
	i, _ := slices.BinarySearchFunc(r.spans, offset, func(x span, offset int64) int {
		if x.end <= offset {
			return -1
		}
		return 1
	})
	return i
}

// tell puts into p the spans where the last octets out of order went, so that each is told three times: an
// acknowledgement may be lost. See RFC 2018, Section 4.
func (r *receiver) tell(p *packet) {
	for _, offset := range r.recent {
		i := r.holding(offset)
		if i == len(r.spans) || r.spans[i].start > offset {
			continue
		}
		if s := r.spans[i]; !slices.Contains(p.sacks[:p.nsacks], s) {
			p.sacks[p.nsacks] = s
			p.nsacks++
		}
	}
}

// edge is up to where the peer may send.
func (r *receiver) edge() int64 { return r.next + r.window.size() }

// acknowledge sends an acknowledgement alone.
func (r *receiver) acknowledge() {
	r.repeats++
	if r.told != r.next {
		r.told, r.repeats = r.next, 0
	}
	p := r.e.packet(0, 0)
	p.attempt = r.repeats
	r.e.out.send(p)
}

// acknowledged notes that a packet carries what is due.
func (r *receiver) acknowledged() {
	r.unacked, r.pieces, r.ackNow = 0, 0, false
	r.delayed.clear()
}
