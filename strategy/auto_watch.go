package strategy

import (
	"time"

	"example.com/h2flow/flow"
)

// loop measures how long the connection window takes to come round: from a grant to the first octet that it allowed.
// If the server had used up what it had before, that is the round trip with the queue; else it is more. It costs no
// frame.
type loop struct {
	open   bool
	limit  int64 // octets allowed before the grant
	at     time.Time
	window int64 // what the peer could send then, with the grant
}

// granted says that the connection window, of o before, was raised by n.
func (l *loop) granted(now time.Time, o flow.Offsets, n int64) {
	if !l.open {
		*l = loop{open: true, limit: o.Granted, at: now, window: o.Granted + n - o.Received}
	}
}

// received ends the loop if the first octet that it allowed is among those received, and returns the time that it took.
func (l *loop) received(now time.Time, received int64) (took time.Duration, ok bool) {
	if !l.open || received <= l.limit {
		return 0, false
	}
	l.open = false
	return now.Sub(l.at), true
}

// watch reports whether, for a while in which the rate did not grow, even the shortest loop took clearly longer than the
// window takes at the best rate: the path carries less, or takes longer, or others fill its queue.
func (p *path) watch(now time.Time) bool {
	if p.phase == settling || p.flat == 0 {
		p.watchAgain(now)
		return false
	}
	p.wide = max(p.wide, p.window)
	if p.loops < leastLoops || now.Sub(p.since) < max(watchTime, 8*p.rate.span) {
		return false
	}
	expected := time.Microsecond * time.Duration(scale(int64(p.rate.span/time.Microsecond),
		time.Duration(p.wide+spare)*time.Microsecond, time.Duration(p.rate.best)*time.Microsecond))
	if p.slow > expected+expected/7 {
		return true
	}
	p.watchAgain(now)
	return false
}

// watchAgain begins a new watch.
func (p *path) watchAgain(now time.Time) { p.since, p.loops, p.slow, p.wide = now, 0, never, 0 }

// slowed begins anew, with the shortest loop as the round trip, which it is at most. If the window was too small for
// that, twice of it will bring more; if not, settling finds how long the round trip is without the queue.
func (p *path) slowed() {
	took := p.slow
	p.rate.best = scale(p.window+spare, p.rate.span, took)
	p.rtt.least = took
	p.rate.setSpan(max(took, leastSpan))
	p.phase, p.flat, p.rises = ramping, 0, 2
	p.lid = min(p.most, max(freeWindow, 2*p.window))
}
