package strategy

import (
	"time"

	"example.com/h2flow/flow"
)

// pathTime knows the round-trip time of the path without its queues, and when to ask for it.
//
// Model: least is the lowest sample. Every sample of a busy path contains its queue, which a window can fill; taking
// that for the path's own time would make the window grow with its own queue. So a higher time is only believed when
// several PINGs in a row took more than twice as long, or when path finds that everything takes longer. The kernel's
// sample counts as long as there is no other: behind a proxy it is that of the way to the proxy.
type pathTime struct {
	least time.Duration // 0: unknown
	guess bool          // it is the kernel's

	last    time.Time // of the last sample
	asked   time.Time // when the last PING was asked for
	waiting bool      // its answer is not there yet
	notTill time.Time // the budget is used up until then
	stopped bool

	high      int           // PINGs in a row that took too long
	leastHigh time.Duration // of them
}

// freshSample is how old the last sample must be before a PING is asked for.
const freshSample = 10 * time.Second

// sample takes one measurement.
func (p *pathTime) sample(now time.Time, source flow.RTTSource, rtt time.Duration) {
	if rtt <= 0 {
		return
	}
	if source == flow.SourceKernel {
		if p.least == 0 || p.guess {
			p.least, p.guess = rtt, true
		}
		return
	}
	p.last = now
	if source == flow.SourcePing {
		p.waiting = false
	}
	switch {
	case p.least == 0 || p.guess || rtt <= p.least:
		p.least, p.guess, p.high = rtt, false, 0
	case source != flow.SourcePing:
		// It may contain more than the path: the server's time to think, octets that it sent first.
	case rtt <= 2*p.least:
		p.high = 0
	case p.high == 0:
		p.high, p.leastHigh = 1, rtt
	default:
		p.high++
		p.leastHigh = min(p.leastHigh, rtt)
		if p.high >= highPings {
			p.least, p.high = p.leastHigh, 0
		}
	}
}

// due reports whether a PING should be asked for now, and takes it as asked for.
func (p *pathTime) due(now time.Time) bool {
	if p.stopped || now.Before(p.notTill) || now.Sub(p.last) < freshSample {
		return false
	}
	if p.waiting && now.Sub(p.asked) < freshSample {
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
