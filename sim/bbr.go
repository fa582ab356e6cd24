package sim

// bbr sends at the rate at which the path delivers and keeps two bandwidth-delay products under way at most. It is
// version 1, without its measure of policers and of aggregated acknowledgements.
type bbr struct {
	s     *sender
	phase bbrPhase

	rounds    int64
	roundEnd  int64     // delivered octets that end the round
	best      [10]int64 // the highest rate of each of the last rounds, bits per second
	full      int64     // the rate when it last grew by a quarter
	fullCount int

	minRTT      int64
	minRTTAt    int64
	probeUntil  int64 // of probeRTT; 0 until the window has shrunk
	priorWindow int64

	cycle   int
	cycleAt int64
}

type bbrPhase uint8

const (
	bbrStartup bbrPhase = iota
	bbrDrain
	bbrProbeRate
	bbrProbeRTT
)

// Gains are in 256ths.
const (
	bbrUnit         = 256
	bbrHigh         = bbrUnit*2885/1000 + 1
	bbrLow          = bbrUnit * 1000 / 2885
	bbrWindow       = 2 * bbrUnit
	bbrLeast        = 4 // segments
	bbrRTTAge       = 10e9
	bbrProbeRTTTime = 200e6
)

var bbrCycle = [8]int64{bbrUnit * 5 / 4, bbrUnit * 3 / 4, bbrUnit, bbrUnit, bbrUnit, bbrUnit, bbrUnit, bbrUnit}

func newBBR(s *sender) *bbr { return &bbr{s: s} }

// rate is the highest rate of delivery of late, 0 if there is no sample yet.
func (b *bbr) rate() int64 {
	var best int64
	for _, r := range b.best {
		best = max(best, r)
	}
	return best
}

func (b *bbr) pacing() int64 {
	rate := b.rate()
	if rate == 0 {
		if b.s.srtt == 0 {
			return 1e9
		}
		rate = mulDiv(b.s.initial*mss*8, 1e9, b.s.srtt)
	}
	return max(mulDiv(rate, b.gain(), bbrUnit)*99/100, 1)
}

func (b *bbr) gain() int64 {
	switch b.phase {
	case bbrStartup:
		return bbrHigh
	case bbrDrain:
		return bbrLow
	case bbrProbeRate:
		return bbrCycle[b.cycle]
	}
	return bbrUnit
}

// target is the window in segments for a gain.
func (b *bbr) target(gain int64) int64 {
	if b.rate() == 0 || b.minRTT == 0 {
		return b.s.initial
	}
	product := mulDiv(b.rate(), b.minRTT, 8e9)
	return mulDiv(product, gain, bbrUnit)/mss + 1 + 3*b.s.train()
}

func (b *bbr) acknowledged(segments int64, got *ackResult) {
	b.learnRate(got)
	b.learnRTT(got)
	b.changePhase(got)
	s := b.s
	gain := int64(bbrWindow)
	if b.phase == bbrStartup || b.phase == bbrDrain {
		gain = bbrHigh
	}
	target := b.target(gain)
	switch {
	case b.fullCount >= 3:
		s.cwnd = min(s.cwnd+segments, target)
	case s.cwnd < target || s.rates.delivered < s.initial*mss:
		s.cwnd += segments
	}
	s.cwnd = max(s.cwnd, bbrLeast)
	if b.phase == bbrProbeRTT {
		s.cwnd = min(s.cwnd, bbrLeast)
	}
}

// learnRate counts rounds and takes a sample of the rate.
func (b *bbr) learnRate(got *ackResult) {
	if got.before >= b.roundEnd {
		b.roundEnd = b.s.rates.delivered
		b.rounds++
		b.best[b.rounds%int64(len(b.best))] = 0
		got.round = true
	}
	slot := &b.best[b.rounds%int64(len(b.best))]
	if !got.idle || got.rate > b.rate() {
		*slot = max(*slot, got.rate)
	}
	if b.phase == bbrStartup && got.round && !got.idle && b.fullCount < 3 {
		if rate := b.rate(); rate >= b.full+b.full/4 {
			b.full, b.fullCount = rate, 0
		} else {
			b.fullCount++
		}
	}
}

// learnRTT keeps the least round-trip time of the last ten seconds, and empties the path to measure it anew.
func (b *bbr) learnRTT(got *ackResult) {
	s, now := b.s, b.s.e.clock.now
	expired := b.minRTT > 0 && now-b.minRTTAt > bbrRTTAge
	if got.rtt > 0 && (b.minRTT == 0 || got.rtt <= b.minRTT || expired) {
		b.minRTT, b.minRTTAt = got.rtt, now
	}
	if expired && b.phase != bbrProbeRTT {
		b.phase = bbrProbeRTT
		b.priorWindow = s.cwnd
		b.probeUntil = 0
	}
	if b.phase != bbrProbeRTT {
		return
	}
	s.rates.ranDry(s.inFlight)
	switch {
	case b.probeUntil == 0 && s.inFlight <= bbrLeast*mss:
		b.probeUntil = now + bbrProbeRTTTime
	case b.probeUntil > 0 && now > b.probeUntil:
		b.minRTTAt = now
		s.cwnd = max(s.cwnd, b.priorWindow)
		b.enterProbeRate()
		if b.fullCount < 3 {
			b.phase = bbrStartup
		}
	}
}

// changePhase goes from startup over draining to cycles of probing.
func (b *bbr) changePhase(got *ackResult) {
	s, now := b.s, b.s.e.clock.now
	if b.phase == bbrStartup && b.fullCount >= 3 {
		b.phase = bbrDrain
		s.ssthresh = b.target(bbrUnit)
	}
	if b.phase == bbrDrain && s.inFlight <= b.target(bbrUnit)*mss {
		b.enterProbeRate()
	}
	if b.phase != bbrProbeRate {
		return
	}
	over := now-b.cycleAt > b.minRTT
	switch bbrCycle[b.cycle] {
	case bbrUnit * 5 / 4:
		over = over && (s.lost > 0 || got.flown >= b.target(bbrUnit*5/4)*mss-3*s.train()*mss)
	case bbrUnit * 3 / 4:
		over = over || got.flown <= b.target(bbrUnit)*mss
	}
	if over {
		b.cycle = (b.cycle + 1) % len(bbrCycle)
		b.cycleAt = now
	}
}

// enterProbeRate begins the cycles, not with the phase that drains.
func (b *bbr) enterProbeRate() {
	b.phase = bbrProbeRate
	b.cycle = 2
	b.cycleAt = b.s.e.clock.now
}

func (b *bbr) reduce() int64    { return b.s.ssthresh }
func (b *bbr) recovered() int64 { return b.s.cwnd }
func (b *bbr) timedOut()        { b.full, b.fullCount = 0, 0 }
func (b *bbr) idle(int64)       {}
func (b *bbr) restarted()       {}
