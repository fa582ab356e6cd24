package strategy

import (
	"time"

	"example.com/h2flow/flow"
)

// pathTime knows the round-trip time of the path without its queues, and when to measure it again.
//
// Model: least is the lowest sample. Samples of a busy path contain its queue, which a window can fill; taking that for
// the path's own time would make the window grow with its own queue. So a higher time is only believed when several
// samples in a row took more than twice as long: then the path has changed. The kernel's sample counts as long as there
// is no other: behind a proxy it is that of the way to the proxy.
type pathTime struct {
	least time.Duration // 0: unknown
	first time.Duration // the kernel's

	last    time.Time // of the last sample
	asked   time.Time // when the last PING was asked for
	waiting bool
	notTill time.Time
	stopped bool

	high      int
	leastHigh time.Duration
}

const (
	freshSample = 10 * time.Second // no PING while a sample is younger
	highSamples = 4
)

// sample takes one measurement.
func (p *pathTime) sample(now time.Time, source flow.RTTSource, rtt time.Duration) {
	if rtt <= 0 {
		return
	}
	if source == flow.SourceKernel {
		if p.least == 0 || p.least == p.first {
			p.least, p.first = rtt, rtt
		}
		return
	}
	p.last = now
	if source == flow.SourcePing {
		p.waiting = false
	}
	if p.least == p.first {
		p.first, p.least = 0, 0
	}
	switch {
	case p.least == 0 || rtt <= p.least:
		p.least, p.high = rtt, 0
	case rtt <= 2*p.least:
		p.high = 0
	case source == flow.SourcePassive:
		// The server may have taken its time.
	case p.high == 0:
		p.high, p.leastHigh = 1, rtt
	default:
		p.high++
		p.leastHigh = min(p.leastHigh, rtt)
		if p.high >= highSamples {
			p.least, p.high = p.leastHigh, 0
		}
	}
}

// due reports whether a PING should be asked for now, and takes it as asked for.
func (p *pathTime) due(now time.Time) bool {
	if p.stopped || now.Before(p.notTill) || now.Sub(p.last) < freshSample || p.waiting && now.Sub(p.asked) < freshSample {
		return false
	}
	p.asked, p.waiting = now, true
	return true
}

// refused says that the last PING was not sent.
func (p *pathTime) refused(now time.Time) {
	p.waiting = false
	p.notTill = now.Add(pingPatience)
}

// stop ends all PINGs: the peer is about to go, and PINGs may be why.
func (p *pathTime) stop() { p.stopped = true }
