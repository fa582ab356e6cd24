package strategy

import (
	"time"

	"example.com/h2flow/flow"
)

// path decides the window that fills the path.
type path struct {
	window int64
	most   int64
	rate   provenRate
	rtt    pathTime
	loop   loop

	phase phase
	base  int64 // the rate when cruise began
	flat  int   // rounds without growth

	// spoiled says that in this round octets came for a reader that was behind: they were not counted.
	spoiled bool

	low   int
	high  int64
	since time.Time
	slow  time.Duration // the shortest loop while low
	tries int           // loops of settling
}

// phase is what the path window does.
type phase uint8

const (
	ramping  phase = iota // grows ahead of the rate
	settling              // falls until the round trip is that of an empty queue
	cruising              // is a little more than the product
)

const (
	startPath  = 1 << 20
	flatRounds = 3
	lowRounds  = 4
	lowTime    = time.Second
	pathSlack  = 64 << 10
	mostTries  = 20
)

func (p *path) init(most int64) {
	p.most = most
	p.window = min(startPath, most)
}

// sample takes a round-trip time.
func (p *path) sample(now time.Time, source flow.RTTSource, rtt time.Duration) {
	p.rtt.sample(now, source, rtt)
	p.rate.setSpan(max(p.rtt.least, leastSpan))
}

func (p *path) arrived(now time.Time, n int64, o flow.Offsets) {
	if t, ok := p.loop.received(now, o.Received); ok {
		p.looped(now, t)
	}
	if p.rate.span == 0 {
		return
	}
	if r, ok := p.rate.add(now, n, p.window); ok {
		if !p.spoiled {
			p.round(now, r)
		}
		p.spoiled = false
	}
	if p.phase == ramping {
		p.grow()
	}
}

// looped takes the time from a grant to the first octet that it allowed.
func (p *path) looped(now time.Time, took time.Duration) {
	if p.low > 0 {
		p.slow = min(p.slow, took)
	}
	before := p.rtt.least
	p.sample(now, flow.SourcePassive, took)
	if p.phase == settling && p.loop.window <= p.rate.best+p.rate.best/8 {
		if p.tries++; took > before-before/50 || p.tries >= mostTries {
			p.phase = cruising
			p.base = p.rate.best
		}
		p.window = p.target()
	}
}

// round judges a round trip in which octets arrived.
func (p *path) round(now time.Time, r round) {
	best := p.rate.best
	switch {
	case r.octets >= best*3/4:
		p.low, p.high = 0, 0
	case r.octets >= best/8:
		if p.low == 0 {
			p.since = now
			p.slow = time.Hour
		}
		p.high = max(p.high, r.octets)
		if p.low++; p.low >= lowRounds && now.Sub(p.since) > lowTime {
			p.rate.best = p.high
			p.low, p.high = 0, 0
			p.phase, p.flat = ramping, 0
			return
		}
	}
	if p.phase != ramping {
		p.window = p.target()
		if p.phase == cruising && best > p.base+p.base/8 {
			p.phase, p.flat = ramping, 0
		}
		return
	}
	switch {
	case r.more > best/8:
		p.flat = 0
	case r.octets >= best/2:
		p.flat++
	}
	if p.flat > 0 {
		p.window = min(p.window, max(best+best/2, pathSlack))
	}
	if p.flat >= flatRounds && p.window > best+best/4+pathSlack {
		p.phase, p.tries = settling, 0
		p.window = p.target()
	}
}

func (p *path) target() int64 {
	size := p.rate.best + p.rate.best/4 + pathSlack
	if p.phase == settling {
		size = max(p.rate.best+p.rate.best/16, pathSlack)
	}
	return min(size, p.most)
}

// grow raises the window if the server came close to using it up within one round trip.
func (p *path) grow() {
	got := p.rate.rate()
	if p.flat == 0 {
		got = max(got, min(2*got, p.rate.peak))
	}
	if got >= p.window-p.window/3 {
		p.window = max(p.window, min(2*got, 4*p.window, p.most))
	}
}

// busy reports whether the window is likely to matter: a third of it is used in one round trip.
func (p *path) busy() bool { return p.rate.rate() >= p.window/3 }

// loop measures how long the connection window takes to come round: from a grant to the first octet that it allowed.
// If the server had used up what it had before, that is the round trip with the queue; else it is more.
type loop struct {
	open   bool
	limit  int64
	at     time.Time
	window int64
}

// granted says that the connection window, of o before, was raised by n.
func (l *loop) granted(now time.Time, o flow.Offsets, n int64) {
	if !l.open {
		*l = loop{open: true, limit: o.Granted, at: now, window: o.Granted + n - o.Received}
	}
}

// received returns the time that has passed if that octet is among those received.
func (l *loop) received(now time.Time, received int64) (time.Duration, bool) {
	if !l.open || received <= l.limit {
		return 0, false
	}
	l.open = false
	return now.Sub(l.at), true
}
