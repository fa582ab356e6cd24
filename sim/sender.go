package sim

// sender is the sending half of TCP.
//
// Model: octets below una are acknowledged, those up to next were sent, those up to written may be. What is between una
// and next is cut into flights, in order and without gaps: a stretch that was sent in one piece and has one fate.
// inFlight is the sum of those that are believed to be on the way, lost of those believed lost and not sent again. The
// window counts segments, so inFlight counts each as full, however little is in it.
type sender struct {
	e       *endpoint
	content octets // from what the peer has taken to written
	written int64
	una     int64
	next    int64
	edge    int64 // the peer's receive window ends here
	open    bool

	flights  []flight
	head     int // of flights
	inFlight int64
	lost     int64
	sacked   int64

	window
	control control
	limited bool // the congestion window kept octets back since the last round began
	recovery
	rates

	srtt, rttVar, minRTT int64
	timer                *timer
	probing              bool // the timer is for a tail loss probe
	probed               bool // one is on its way
	backoff              uint
	lastSent             int64
	stamp                int64 // when the window was last the limit
	used                 int64 // the most segments in flight since stamp

	stats *PathStats
}

// window is the congestion window in segments.
type window struct {
	cwnd, ssthresh int64
	initial        int64
	growth         int64 // acknowledged segments that have not become a whole one of growth

	roundEnd   int64 // the round is over when this is acknowledged
	mostFlight int64 // the most segments in flight in the last round
}

// flight is a stretch of octets that was sent in one piece.
type flight struct {
	start, end int64
	sent       int64
	attempt    int
	state      fate

	// For the rate of delivery: the state when it was sent.
	delivered   int64
	deliveredAt int64
	idle        bool // the sender had nothing more to send
}

// fate is what is believed of a flight.
type fate uint8

const (
	onTheWay fate = iota
	isSacked
	isLost
)

const (
	unknownThreshold = 1 << 30
	maxTrain         = 45 // segments that fit in 64 KiB
	leastTimeout     = 200e6
	firstTimeout     = 1e9
)

func (s *sender) init(e *endpoint, o tcpOptions, stats *PathStats) {
	s.e = e
	s.stats = stats
	s.cwnd, s.ssthresh, s.initial = o.initialWindow, unknownThreshold, o.initialWindow
	s.edge = firstReceiveWindow
	s.control = newControl(s, o)
	s.timer = e.clock.timer(s.expire)
	s.pace.timer = e.clock.timer(s.push)
}

// start lets octets flow, once the handshake is over; rtt is what it measured, or 0.
func (s *sender) start(rtt int64) {
	s.open = true
	s.stamp = s.e.clock.now
	s.measured(rtt)
}

// measured takes a sample of the round-trip time.
func (s *sender) measured(rtt int64) {
	switch {
	case rtt <= 0:
		return
	case s.srtt == 0:
		s.srtt, s.rttVar, s.minRTT = rtt, rtt/2, rtt
		return
	}
	off := rtt - s.srtt
	s.srtt += off / 8
	s.rttVar += (max(off, -off) - s.rttVar) / 4
	s.minRTT = min(s.minRTT, rtt)
}

// push sends what the windows allow.
func (s *sender) push() {
	if !s.open {
		return
	}
	if s.inFlight == 0 && s.lost == 0 && s.sacked == 0 && s.next < s.written {
		s.wake()
	}
	for s.lost > 0 {
		if !s.sendLost() {
			return
		}
	}
	for s.sendNew() {
	}
}

// sendNew sends one train of new octets; false means that nothing more may go.
func (s *sender) sendNew() bool {
	available := min(s.written, s.edge) - s.next
	if available <= 0 {
		s.nothingMore()
		return false
	}
	quota := s.cwnd*mss - s.inFlight
	if quota < min(available, mss) {
		s.wasLimited()
		return false
	}
	n := min(available, s.train()*mss)
	if n > quota {
		n = quota / mss * mss
		if s.defers(n) {
			s.wasLimited()
			return false
		}
	}
	if n > mss && n < available {
		n -= n % mss
	}
	if !s.pace.allows(s.e.clock.now) {
		return false
	}
	f := flight{start: s.next, end: s.next + n, attempt: 1}
	s.next += n
	s.flights = append(s.flights, f)
	s.transmit(&s.flights[len(s.flights)-1])
	return true
}

// sendLost sends the first lost flight again, or as much of it as the window allows.
func (s *sender) sendLost() bool {
	quota := s.cwnd*mss - s.inFlight
	i := s.firstLost()
	f := &s.flights[i]
	n := min(f.end-f.start, s.train()*mss)
	if n > quota {
		n = quota / mss * mss
	}
	if n <= 0 {
		s.wasLimited()
		return false
	}
	if !s.pace.allows(s.e.clock.now) {
		return false
	}
	if n < f.end-f.start {
		s.split(i, f.start+n)
		f = &s.flights[i]
	}
	f.attempt++
	f.state = onTheWay
	s.lost -= n
	s.stats.Retransmitted += (n + mss - 1) / mss
	s.transmit(f)
	return true
}

// transmit sends f.
func (s *sender) transmit(f *flight) {
	now := s.e.clock.now
	n := f.end - f.start
	f.sent = now
	s.rates.stamp(f, now, s.inFlight == 0)
	s.inFlight += wholeSegments(n)
	s.prrOut += n
	s.pace.sent(now, n, s.control.pacing())
	s.lastSent = now
	p := s.e.packet(f.start, f.end)
	p.attempt = f.attempt
	s.e.out.send(p)
	s.validate(false)
	if !s.timer.isSet() {
		s.arm()
	}
}

// train is how many segments may follow each other: about a millisecond of what the sender sends, as Linux has it.
func (s *sender) train() int64 {
	if s.srtt == 0 {
		return maxTrain
	}
	rate := s.control.pacing()
	if rate == 0 {
		gain := int64(12) // tenths of a window in a round trip
		if s.cwnd < s.ssthresh/2 {
			gain = 20
		}
		rate = mulDiv(s.cwnd*mss*8, gain*1e8, s.srtt)
	}
	octets := rate / 8 / 1024
	if shift := s.minRTT >> 19; shift < 32 {
		octets += 65536 >> shift
	}
	return min(max(octets/mss, 2), maxTrain)
}

// defers reports whether a train that the window cut down to n octets should wait for the next acknowledgement, which
// makes a longer one of it.
func (s *sender) defers(n int64) bool {
	if n >= min(s.train(), max(s.cwnd/3, 1))*mss || s.inRecovery || s.head == len(s.flights) {
		return false
	}
	return s.e.clock.now-s.flights[s.head].sent > s.srtt/2 // else the next acknowledgement is far off
}

// wake adapts the window to a time in which nothing was sent: half for each timeout that it lasted, down to the initial
// window. See RFC 5681, Section 4.1.
func (s *sender) wake() {
	if s.lastSent == 0 {
		return
	}
	now := s.e.clock.now
	idle := now - s.lastSent
	s.control.idle(idle)
	if idle <= s.timeout() || s.control.pacing() > 0 {
		return
	}
	s.ssthresh = s.remembered()
	for idle > s.timeout() && s.cwnd > s.initial {
		idle -= s.timeout()
		s.cwnd = max(s.cwnd/2, s.initial)
	}
	s.stamp = now
	s.used = 0
	s.control.restarted()
}

// remembered is the threshold to go on with after a window was given up unused: slow start is to come back to it.
func (s *sender) remembered() int64 { return max(s.ssthresh, s.cwnd*3/4) }

// wasLimited notes that the congestion window kept octets back.
func (s *sender) wasLimited() { s.validate(true) }

// nothingMore notes that the application, or the peer's window, is the limit.
func (s *sender) nothingMore() { s.rates.ranDry(s.underWay()) }

// underWay is how many octets are believed to be on the way.
func (s *sender) underWay() int64 { return s.next - s.una - s.sacked - s.lost }

// wholeSegments is what n octets count in the window.
func wholeSegments(n int64) int64 { return (n + mss - 1) / mss * mss }

// validate keeps account of how much of the window is used, and takes a part of it back if it was not the limit for a
// whole timeout. See RFC 7661.
func (s *sender) validate(limited bool) {
	flying := max(s.inFlight, wholeSegments(s.next-s.una)) / mss
	limited = limited || s.inFlight >= s.cwnd*mss
	if s.una >= s.roundEnd || limited || !s.limited && flying > s.mostFlight {
		s.limited = limited
		s.mostFlight = flying
		s.roundEnd = s.next
	}
	now := s.e.clock.now
	if s.mayGrow() {
		s.used = 0
		s.stamp = now
		return
	}
	s.used = max(s.used, flying)
	if s.srtt > 0 && now-s.stamp >= s.timeout() && s.control.pacing() == 0 {
		if used := max(s.used, s.initial); used < s.cwnd {
			s.ssthresh = s.remembered()
			s.cwnd = (s.cwnd + used) / 2
		}
		s.used = 0
		s.stamp = now
	}
}

// mayGrow reports whether the window was the limit, or was used so well that it counts as one.
func (s *sender) mayGrow() bool {
	return s.limited || s.cwnd < s.ssthresh && s.cwnd < 2*s.mostFlight
}
