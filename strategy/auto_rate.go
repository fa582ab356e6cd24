package strategy

import "time"

// provenRate is the rate that a path has proven to carry, in octets in a span of time.
//
// Model: the allowance is what could have come at the rate best and did not: it rises with time and falls with every
// octet, never below 0. Octets beyond it prove a higher rate: best, and what excess they make in a span. So octets that
// a lost segment held up, or a pause of this process, prove nothing, however many come at once: while they were held up
// the allowance rose by as much. A server that doubles its rate each round trip proves it within that round trip.
//
// Bound: octets that leave the bottleneck at the rate C make excess at C - best in time, as long as the allowance is 0,
// so best and excess never exceed C times the span.
type provenRate struct {
	span      time.Duration // 0: unknown, nothing is counted
	best      int64
	excess    int64 // in this round
	octets    int64 // in this round
	allowance int64
	at        time.Time // when allowance was right
	begin     time.Time // of the round

	// peak is the highest rate at which excess came for a 16th of a span: the bottleneck's, if the server sends as fast as
	// the path lets it and then waits. It is never above what is true.
	peak   int64
	train  time.Time // when the present 16th began
	length int64     // the excess in it
	reads  int       // that brought it
	read   time.Time // the last of them
}

// round is what a span of time brought.
type round struct {
	octets int64 // in a span
	more   int64 // what best grew by
}

// trainReads is the least from which a rate is told: what one read of a socket brings has waited for the others.
const trainReads = 8

// setSpan makes d the span; what is known is scaled.
func (r *provenRate) setSpan(d time.Duration) {
	if r.span > 0 && d != r.span {
		r.best = scale(r.best, d, r.span)
		r.excess = scale(r.excess, d, r.span)
		r.peak = scale(r.peak, d, r.span)
	}
	r.span = d
}

// scale is n * by / of, to the microsecond.
func scale(n int64, by, of time.Duration) int64 {
	return n * int64(by/time.Microsecond) / max(1, int64(of/time.Microsecond))
}

// add counts n octets that came now. No more than most can be held up. It returns the round that ended by that.
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
		ended = round{octets: scale(r.octets, r.span, took), more: scale(r.excess, r.span, took)}
		r.best += ended.more
		r.begin, r.octets, r.excess = now, 0, 0
		r.train, r.length, r.reads = now, 0, 0
		ok = true
	}
	r.octets += n
	if more := n - r.allowance; more > 0 {
		r.excess += more
		r.measure(now, more)
	}
	r.allowance = max(0, r.allowance-n)
	return ended, ok
}

// measure takes n octets of excess that came now into peak. They came since the arrival before them, so those that begin
// a 16th do not belong to it.
func (r *provenRate) measure(now time.Time, n int64) {
	took := now.Sub(r.train)
	if took == 0 {
		return
	}
	r.length += n
	if now != r.read {
		r.read = now
		r.reads++
	}
	if took >= r.span/16 && r.reads >= trainReads {
		r.peak = max(r.peak, r.best+scale(r.length, r.span, took))
		r.train, r.length, r.reads = now, 0, 0
	}
}

// rate is what is proven by now.
func (r *provenRate) rate() int64 { return r.best + r.excess }
