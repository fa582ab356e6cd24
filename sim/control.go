package sim

// control is a congestion control: it moves the window of its sender.
type control interface {
	// acknowledged tells what an acknowledgement brought, and how many whole segments. It is not called while the window
	// is being reduced, but for controls that pace.
	acknowledged(segments int64, got *ackResult)
	// reduce is called once for each recovery, at its beginning or at a timeout, and returns the new threshold.
	reduce() int64
	// recovered is called at the end of a recovery and returns the window to go on with.
	recovered() int64
	// timedOut follows reduce at a timeout.
	timedOut()
	// idle says that octets come after a time in which nothing was under way, restarted that the window was taken back
	// because of it.
	idle(ns int64)
	restarted()
	// pacing is the rate at which to send in bits per second; 0 leaves it to the window.
	pacing() int64
}

func newControl(s *sender, o tcpOptions) control {
	switch o.control {
	case "bbr":
		return newBBR(s)
	case "reno":
		return &reno{s: s}
	}
	return &cubic{reno: reno{s: s}, hyStart: hyStart{off: o.noHyStart}}
}

// reno grows by the window in a round trip until the threshold, then by a segment. See RFC 5681.
type reno struct{ s *sender }

func (r *reno) acknowledged(segments int64, _ *ackResult) {
	if !r.s.mayGrow() {
		return
	}
	if rest := r.slowStart(segments); rest > 0 {
		r.add(r.s.cwnd, rest)
	}
}

// slowStart adds segments below the threshold and returns the rest.
func (r *reno) slowStart(segments int64) int64 {
	s := r.s
	if s.cwnd >= s.ssthresh {
		return segments
	}
	grown := min(s.cwnd+segments, s.ssthresh)
	rest := segments - (grown - s.cwnd)
	s.cwnd = grown
	return rest
}

// add adds a segment to the window for each so many that are acknowledged.
func (r *reno) add(each, segments int64) {
	s := r.s
	if s.growth >= each {
		s.growth = 0
		s.cwnd++
	}
	s.growth += segments
	if s.growth >= each {
		s.cwnd += s.growth / each
		s.growth %= each
	}
}

func (r *reno) reduce() int64    { return max(r.s.cwnd/2, 2) }
func (r *reno) recovered() int64 { return r.s.ssthresh }
func (r *reno) timedOut()        {}
func (r *reno) idle(int64)       {}
func (r *reno) restarted()       {}
func (r *reno) pacing() int64    { return 0 }
