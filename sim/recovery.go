package sim

// recovery is how lost octets are found and how the window is reduced.
//
// Model: a flight is lost if one that was sent later has arrived and either three segments have, or a quarter of a round
// trip passed: paths do not reorder. While recovering, what is sent follows what is delivered, so that the window falls
// to its threshold over one round trip. See RFC 6675, RFC 6937, RFC 8985.
type recovery struct {
	inRecovery bool
	afterTime  bool // it began by a timeout: slow start goes on
	until      int64
	prrPrior   int64 // octets
	prrSeen    int64
	prrOut     int64

	rackSent, rackEnd, rackRTT int64 // the flight sent last of those that arrived
}

// retrying reports whether something was sent again and is not acknowledged.
func (s *sender) retrying() bool { return s.inRecovery || s.lost > 0 }

// firstLost is the index of the first lost flight; there is one.
func (s *sender) firstLost() int {
	i := s.head
	for s.flights[i].state != isLost {
		i++
	}
	return i
}

// detectLoss finds the flights that must be lost by what has arrived.
func (s *sender) detectLoss() {
	now := s.e.clock.now
	patient := s.sacked < 3*mss && !s.inRecovery
	found := false
	for i := s.head; i < len(s.flights); i++ {
		f := &s.flights[i]
		if f.attempt == 1 && f.start >= s.rackEnd && f.sent >= s.rackSent {
			break // nothing that follows was sent before what has arrived
		}
		if f.state != onTheWay || f.sent > s.rackSent || f.sent == s.rackSent && f.end > s.rackEnd {
			continue
		}
		if due := f.sent + s.rackRTT + s.minRTT/4; patient && due > now {
			s.e.clock.at(due, s.recheck)
			break
		}
		s.lose(f)
		found = true
	}
	if found && !s.inRecovery {
		s.recover()
	}
}

// recheck looks for losses again after the patience for few segments.
func (s *sender) recheck() {
	if s.sacked > 0 {
		s.detectLoss()
		s.push()
	}
}

func (s *sender) lose(f *flight) {
	f.state = isLost
	s.inFlight -= wholeSegments(f.end - f.start)
	s.lost += f.end - f.start
}

// recover begins the recovery of losses.
func (s *sender) recover() {
	s.inRecovery, s.afterTime = true, false
	s.until = s.next
	s.prrPrior, s.prrSeen, s.prrOut = max(s.cwnd*mss, mss), 0, 0
	s.ssthresh = s.control.reduce()
	s.forget()
}

// forget drops growth that has not become a whole segment.
func (w *window) forget() { w.growth = 0 }

// grow lets the window follow an acknowledgement.
func (s *sender) grow(got *ackResult) {
	if s.inRecovery && s.una >= s.until {
		s.inRecovery = false
		if !s.afterTime {
			s.cwnd = s.control.recovered()
		}
	}
	if s.inRecovery && !s.afterTime && s.control.pacing() == 0 {
		s.reduceProportionally(got.octets)
		return
	}
	s.control.acknowledged(got.segments, got)
}

// reduceProportionally sets the window for what may be sent on this acknowledgement. See RFC 6937, Section 3.
func (s *sender) reduceProportionally(delivered int64) {
	s.prrSeen += delivered
	threshold := s.ssthresh * mss
	var quota int64
	if s.inFlight > threshold {
		quota = (mulDiv(s.prrSeen, threshold, s.prrPrior) - s.prrOut + mss - 1) / mss * mss
	} else {
		quota = min(threshold-s.inFlight, max(s.prrSeen-s.prrOut, delivered)+mss)
	}
	if s.prrOut == 0 {
		quota = max(quota, mss) // the first one goes at once
	}
	s.cwnd = (s.inFlight + max(quota, 0) + mss - 1) / mss
}

// timeout is how long to wait for any acknowledgement.
func (s *sender) timeout() int64 {
	if s.srtt == 0 {
		return firstTimeout
	}
	return s.srtt + max(4*s.rttVar, leastTimeout)
}

// arm sets the timer for what is under way: a probe of the tail first, then the timeout.
func (s *sender) arm() {
	if s.inFlight == 0 && s.lost == 0 {
		s.timer.clear()
		return
	}
	wait := s.timeout() << s.backoff
	s.probing = !s.probed && !s.inRecovery && s.backoff == 0 && s.srtt > 0 && s.sacked == 0
	if s.probing {
		probe := 2*s.srtt + 2e6
		if s.next-s.una <= mss {
			probe += leastTimeout // the peer may delay its acknowledgement
		}
		wait = min(wait, probe)
	}
	s.timer.set(s.e.clock.now + wait)
}

// expire is the timer: a probe of the tail, or the timeout.
func (s *sender) expire() {
	if s.probing && s.inFlight > 0 {
		s.probe()
		return
	}
	s.stats.Timeouts++
	for i := s.head; i < len(s.flights); i++ {
		if f := &s.flights[i]; f.state == onTheWay {
			s.lose(f)
		}
	}
	if s.backoff < 6 {
		s.backoff++
	}
	s.ssthresh = s.control.reduce()
	s.control.timedOut()
	s.cwnd = 1
	s.inRecovery, s.afterTime = true, true
	s.until = s.next
	s.forget()
	s.pace.next = 0
	s.push()
	s.arm()
}

// probe sends the last segment again, or a new one, so that its acknowledgement shows what is missing before it. See RFC
// 8985, Section 7.
func (s *sender) probe() {
	s.probed = true
	if min(s.written, s.edge) > s.next {
		n := min(s.written-s.next, s.edge-s.next, mss)
		s.flights = append(s.flights, flight{start: s.next, end: s.next + n, attempt: 1})
		s.next += n
		s.transmit(&s.flights[len(s.flights)-1])
		s.arm()
		return
	}
	i := len(s.flights) - 1
	for s.flights[i].state != onTheWay {
		i--
	}
	if f := s.flights[i]; f.end-f.start > mss {
		s.split(i, f.end-(f.end-f.start-1)%mss-1)
		i++
	}
	f := &s.flights[i]
	f.attempt++
	s.inFlight -= wholeSegments(f.end - f.start)
	s.stats.Retransmitted++
	s.transmit(f)
	s.arm()
}
