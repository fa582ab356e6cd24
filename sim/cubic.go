package sim

// cubic grows along a cubic function of the time since the last reduction, flat where the window was then. In integers,
// as Linux does it. See RFC 9438.
type cubic struct {
	reno
	hyStart

	lastMax  int64 // the window before the last reduction
	epoch    int64 // when this stretch of growth began; 0 means that it has not
	origin   int64 // the window of the plateau
	k        int64 // ms from epoch to the plateau
	friendly int64 // the window that reno would have
	acked    int64 // segments that friendly has not been given
	each     int64 // acknowledged segments for one of growth
	looked   int64 // when each was computed, for which window
	lookedAt int64
}

const (
	cubicBeta = 717 // of 1024: what remains of the window after a loss
	cubicUnit = 1024
	renoEach  = 15 // eighths of a segment: reno's growth that is as fair as a reduction to cubicBeta
)

func (c *cubic) acknowledged(segments int64, got *ackResult) {
	s := c.s
	if s.cwnd < s.ssthresh && got.rtt > 0 {
		c.hyStart.look(s, got.rtt)
	}
	if !s.mayGrow() {
		return
	}
	if segments = c.slowStart(segments); segments > 0 {
		c.update(segments)
		c.add(c.each, segments)
	}
}

// update computes how many acknowledged segments make one of growth.
func (c *cubic) update(segments int64) {
	s := c.s
	now := s.e.clock.now
	c.acked += segments
	if c.lookedAt == s.cwnd && now-c.looked <= 1e9/32 {
		return
	}
	c.looked, c.lookedAt = now, s.cwnd
	if c.epoch == 0 {
		c.epoch, c.acked, c.friendly = now, segments, s.cwnd
		c.k, c.origin = 0, s.cwnd
		if c.lastMax > s.cwnd {
			c.k = cubeRoot((c.lastMax - s.cwnd) * 2.5e9)
			c.origin = c.lastMax
		}
	}
	t := (now-c.epoch+s.minRTT)/1e6 - c.k
	t = min(max(t, -1e5), 1e5)
	target := c.origin + t*t*t/2.5e9 // 0.4 segments a second cubed
	c.each = 100 * s.cwnd
	if target > s.cwnd {
		c.each = s.cwnd / (target - s.cwnd)
	}
	if c.lastMax == 0 {
		c.each = min(c.each, 20) // no loss yet: at least a twentieth in a round trip
	}
	each := max(s.cwnd*renoEach/8, 1)
	c.friendly += c.acked / each
	c.acked %= each
	if c.friendly > s.cwnd {
		c.each = min(c.each, s.cwnd/(c.friendly-s.cwnd))
	}
	c.each = max(c.each, 2)
}

func (c *cubic) reduce() int64 {
	s := c.s
	c.epoch = 0
	if s.cwnd < c.lastMax {
		c.lastMax = s.cwnd * (cubicUnit + cubicBeta) / (2 * cubicUnit)
	} else {
		c.lastMax = s.cwnd
	}
	return max(s.cwnd*cubicBeta/cubicUnit, 2)
}

func (c *cubic) timedOut() {
	c.epoch, c.lastMax, c.lookedAt = 0, 0, 0
	c.hyStart.begin(c.s)
}

// idle takes an idle time out of the time of growth.
func (c *cubic) idle(ns int64) {
	if c.epoch > 0 {
		c.epoch = min(c.epoch+ns, c.s.e.clock.now)
	}
}

func (c *cubic) restarted() { c.hyStart.begin(c.s) }

// cubeRoot is the largest integer whose cube is at most n.
func cubeRoot(n int64) int64 {
	var low, high int64 = 0, 1 << 20
	for low < high {
		middle := (low + high + 1) / 2
		if middle*middle*middle <= n {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// hyStart ends slow start before the queue overflows, as Linux does it.
//
// Model: a round ends when what had been sent at its beginning is acknowledged. Slow start is over once the
// acknowledgements of a round, each within 2 ms of the one before, span half of the least round-trip time: then the path
// is half full; or once the least round-trip time of a round is an eighth above the least of all, 4 to 16 ms.
type hyStart struct {
	off     bool
	end     int64
	began   int64
	last    int64
	least   int64 // round-trip time in this round
	samples int
}

const (
	hyStartWindow  = 16 // segments below which it does not look
	hyStartGap     = 2e6
	hyStartSamples = 8
)

func (h *hyStart) begin(s *sender) {
	h.end = s.next
	h.began, h.last = s.e.clock.now, s.e.clock.now
	h.least, h.samples = 1<<62, 0
}

func (h *hyStart) look(s *sender, rtt int64) {
	if h.off {
		return
	}
	if s.una > h.end || h.began == 0 {
		h.begin(s)
	}
	if s.cwnd < hyStartWindow {
		return
	}
	now := s.e.clock.now
	if now-h.last <= hyStartGap {
		h.last = now
		if now-h.began > s.minRTT/2 {
			s.ssthresh = s.cwnd
			return
		}
	}
	h.least = min(h.least, rtt)
	if h.samples < hyStartSamples {
		h.samples++
	} else if h.least > s.minRTT+min(max(s.minRTT/8, 4e6), 16e6) {
		s.ssthresh = s.cwnd
	}
}
