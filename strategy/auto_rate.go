package strategy

import "time"

// provenRate is the rate that a path has proven to carry, in octets in a span of time.
//
// Model: allowance is what would have come since the last proof at the rate best, less what came; it never falls below
// 0. Octets beyond the allowance prove a higher rate: best and what excess they made in a span. So octets that a lost
// segment held up, or a pause of this process, prove nothing, however many come at once: while they were held up the
// allowance rose by as much. A server that doubles its rate each round trip proves it within that round trip.
type provenRate struct {
	span      time.Duration // 0: unknown, nothing is counted
	best      int64
	excess    int64 // in this round
	allowance int64
	at        time.Time // when allowance was right
	begin     time.Time // of the round
	octets    int64     // in this round

	// peak is the highest rate at which excess came in a row: that of the bottleneck, if the server sends
	// as fast as the path lets it and then waits.
	peak   int64
	train  time.Time // when the present 8th began
	length int64     // the excess in it
}

// round is what a span of time brought.
type round struct {
	octets int64 // in a span
	more   int64 // what best grew by
}

// setSpan makes d the span; what is known is scaled.
func (r *provenRate) setSpan(d time.Duration) {
	if r.span > 0 && d != r.span {
		r.best = scale(r.best, d, r.span)
		r.excess = scale(r.excess, d, r.span)
		r.peak = scale(r.peak, d, r.span)
	}
	r.span = d
}

// scale is n * by / of.
func scale(n int64, by, of time.Duration) int64 {
	return n * int64(by/time.Microsecond) / max(1, int64(of/time.Microsecond))
}

// add counts n octets that arrived now. No more than most can come at once. It returns the round that ended by that.
func (r *provenRate) add(now time.Time, n, most int64) (ended round, ok bool) {
	if r.span == 0 {
		return round{}, false
	}
	if r.at.IsZero() {
		r.at, r.begin = now, now
	}
	if passed := now.Sub(r.at); passed >= time.Microsecond {
		r.allowance = min(r.allowance+scale(r.best, min(passed, time.Minute), r.span), most)
		r.at = now
	}
	if took := now.Sub(r.begin); took >= r.span {
		if took < time.Minute {
			ended = round{octets: scale(r.octets, r.span, took), more: scale(r.excess, r.span, took)}
			r.best += ended.more
			ok = true
		}
		r.begin, r.octets, r.excess = now, 0, 0
	}
	r.octets += n
	if more := n - r.allowance; more > 0 {
		r.excess += more
		r.measure(now, more)
	}
	r.allowance = max(0, r.allowance-n)
	return ended, ok
}

// trainOctets is the least from which a rate is told: several reads of a socket.
const trainOctets = 256 << 10

// measure takes n octets of excess that came now into peak. They came since the arrival before them, so those that begin
// a train do not belong to it.
func (r *provenRate) measure(now time.Time, n int64) {
	r.length += n
	if took := now.Sub(r.train); took >= r.span/16 && r.length >= trainOctets {
		r.peak = max(r.peak, scale(r.length, r.span, took))
		r.train, r.length = now, 0
	}
}

// rate is what is proven by now.
func (r *provenRate) rate() int64 { return r.best + r.excess }
