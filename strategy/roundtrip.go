package strategy

import (
	"time"

	"example.com/h2flow/flow"
)

// roundTrip knows the round-trip time of the path without its queues, and when to measure it again.
//
// Model: least is the lowest sample. A window of twice the product can fill a queue that makes a PING take twice as
// long; taking that for the path's own time would make the window grow with its own queue. So a higher time is only
// believed when several PINGs in a row took more than three times as long: then the path has changed.
type roundTrip struct {
	least time.Duration // 0: unknown

	pings   int       // answered
	asked   time.Time // when the last PING was asked for
	waiting bool      // its answer is not there yet
	notTill time.Time // the budget is used up until then
	stopped bool

	high      int           // PINGs in a row that took too long
	leastHigh time.Duration // of them
}

const (
	firstPings   = 3                // to get below the time that the first flight of a connection takes
	pingRefresh  = 10 * time.Second // between PINGs once the path is known
	pingPatience = 2 * time.Second  // after a refusal: what the shared budget needs for the next one
	highPings    = 4
)

// sample takes one measurement.
func (r *roundTrip) sample(source flow.RTTSource, rtt time.Duration) {
	if rtt <= 0 || source == flow.SourceKernel {
		// Behind a proxy the kernel knows only the way to the proxy.
		return
	}
	if source == flow.SourcePing && r.waiting {
		r.waiting = false
		r.pings++
	}
	switch {
	case r.least == 0 || rtt <= r.least:
		r.least, r.high = rtt, 0
	case source != flow.SourcePing:
	case rtt <= 3*r.least:
		r.high = 0
	case r.high == 0:
		r.high, r.leastHigh = 1, rtt
	default:
		r.high++
		r.leastHigh = min(r.leastHigh, rtt)
		if r.high >= highPings {
			r.least, r.high = r.leastHigh, 0
		}
	}
}

// due reports whether a PING should be asked for now, and takes it as asked for.
func (r *roundTrip) due(now time.Time) bool {
	pause := pingRefresh
	if r.pings < firstPings || r.high > 0 {
		pause = max(r.least, 10*time.Millisecond)
	}
	if r.stopped || now.Before(r.notTill) || !r.asked.IsZero() && now.Sub(r.asked) < pause {
		return false
	}
	if r.waiting && now.Sub(r.asked) < pingRefresh {
		return false
	}
	r.asked, r.waiting = now, true
	return true
}

// refused says that the last PING was not sent.
func (r *roundTrip) refused(now time.Time) {
	r.waiting = false
	r.notTill = now.Add(pingPatience)
}

// stop ends all PINGs: the peer is about to go, and PINGs may be why.
func (r *roundTrip) stop() { r.stopped = true }
