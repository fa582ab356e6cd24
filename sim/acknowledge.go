package sim

// acknowledged takes in what p acknowledges and reports whether anything is new.
func (s *sender) acknowledged(p *packet) bool {
	s.edge = max(s.edge, p.edge)
	got := ackResult{flown: s.inFlight}
	if p.ack > s.una {
		s.advance(p.ack, &got)
	}
	for _, span := range p.sacks[:p.nsacks] {
		s.mark(span, &got)
	}
	if got.octets == 0 {
		return false
	}
	now := s.e.clock.now
	s.rates.delivered += got.octets
	s.rates.deliveredAt = now
	if got.rtt > 0 {
		s.measured(got.rtt)
	}
	if got.moved {
		s.backoff = 0
		s.probed = false
	}
	if s.sacked > 0 || s.retrying() {
		s.detectLoss()
	}
	s.grow(&got)
	s.arm()
	return true
}

// ackResult is what one acknowledgement brought.
type ackResult struct {
	octets   int64 // newly delivered
	segments int64 // newly delivered
	moved    bool  // una went up
	rtt      int64 // of the newest flight that was sent once, or 0
	flown    int64 // what was in flight before
	rate     int64 // of delivery, in bits per second, or 0
	idle     bool  // the sender had run dry when the newest flight was sent
	before   int64 // octets that had been delivered when it was sent
	round    bool  // a control sets it when a round has ended
}

// deliver takes octets of f as delivered.
func (s *sender) deliver(f *flight, octets int64, got *ackResult) {
	segments := wholeSegments(f.end-f.start) - wholeSegments(f.end-f.start-octets)
	switch f.state {
	case isSacked:
		s.sacked -= octets
		return
	case isLost:
		s.lost -= octets
	default:
		s.inFlight -= segments
	}
	got.octets += octets
	got.segments += segments / mss
	if f.attempt == 1 {
		got.rtt = s.e.clock.now - f.sent
	}
	s.rates.sample(f, s.e.clock.now, got)
	if f.sent > s.rackSent || f.sent == s.rackSent && f.end > s.rackEnd {
		s.rackSent, s.rackEnd = f.sent, f.end
		s.rackRTT = s.e.clock.now - f.sent
	}
}

// advance takes everything below ack as delivered.
func (s *sender) advance(ack int64, got *ackResult) {
	got.moved = true
	for s.head < len(s.flights) && s.flights[s.head].start < ack {
		f := &s.flights[s.head]
		end := min(f.end, ack)
		s.deliver(f, end-f.start, got)
		if end < f.end {
			f.start = end
			break
		}
		s.head++
	}
	s.una = ack
	if s.head == len(s.flights) {
		s.flights, s.head = s.flights[:0], 0
	} else if s.head > 256 && 2*s.head > len(s.flights) {
		s.flights = s.flights[:copy(s.flights, s.flights[s.head:])]
		s.head = 0
	}
}

// mark takes the octets of a span as delivered out of order.
func (s *sender) mark(sp span, got *ackResult) {
	if sp.end <= s.una {
		return
	}
	for i := s.find(sp.start); i < len(s.flights) && s.flights[i].start < sp.end; i++ {
		f := &s.flights[i]
		if f.state == isSacked {
			continue
		}
		if f.start < sp.start {
			s.split(i, sp.start)
			continue // the second part comes next
		}
		if f.end > sp.end {
			s.split(i, sp.end)
			f = &s.flights[i]
		}
		octets := f.end - f.start
		s.deliver(f, octets, got)
		f.state = isSacked
		s.sacked += octets
	}
}

// find is the index of the flight that holds offset, or of the first after it.
func (s *sender) find(offset int64) int {
	low, high := s.head, len(s.flights)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if s.flights[middle].end <= offset {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// split cuts flight i in two at offset.
func (s *sender) split(i int, offset int64) {
	s.flights = append(s.flights, flight{})
	copy(s.flights[i+1:], s.flights[i:])
	a, b := &s.flights[i], &s.flights[i+1]
	if a.state == onTheWay {
		s.inFlight += wholeSegments(offset-a.start) + wholeSegments(a.end-offset) - wholeSegments(a.end-a.start)
	}
	a.end, b.start = offset, offset
}

// rates measures the rate of delivery, as BBR wants it.
type rates struct {
	delivered   int64
	deliveredAt int64
	firstSent   int64 // when the flight was sent that was delivered last
	dryUntil    int64 // samples below this many delivered octets are of a sender that had nothing to send
	pace        pacer
}

// stamp notes in f what was delivered when it was sent.
func (r *rates) stamp(f *flight, now int64, first bool) {
	if first {
		r.firstSent, r.deliveredAt = now, now
	}
	f.delivered, f.deliveredAt, f.idle = r.delivered, r.deliveredAt, r.dryUntil > r.delivered
}

func (r *rates) ranDry(inFlight int64) { r.dryUntil = max(r.delivered+inFlight, 1) }

// sample takes the rate of delivery that f tells. The delivered octets of this acknowledgement are not counted yet.
func (r *rates) sample(f *flight, now int64, got *ackResult) {
	interval := max(now-f.deliveredAt, f.sent-r.firstSent, 1)
	got.rate = mulDiv(r.delivered+got.octets-f.delivered, 8e9, interval)
	got.idle = f.idle
	got.before = f.delivered
	r.firstSent = f.sent
}

// pacer spreads what is sent.
type pacer struct {
	next  int64
	timer *timer
}

// allows reports whether something may be sent; if not, the timer says when.
func (p *pacer) allows(now int64) bool {
	if p.next <= now {
		return true
	}
	p.timer.set(p.next)
	return false
}

// sent counts n octets at a rate in bits per second; 0 does not pace.
func (p *pacer) sent(now, n, rate int64) {
	if rate > 0 {
		p.next = max(p.next, now) + mulDiv(wireBytes(n), 8e9, rate)
	}
}
