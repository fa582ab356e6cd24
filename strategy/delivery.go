package strategy

import "time"

// slices is how many parts the span of a delivery has.
const slices = 8

// delivery counts what arrived within the last round trip.
//
// Model: the span, one round trip, is cut into slices. The ring holds what arrived in each of the last of them, now's
// at cur, and sum is their total. Once octets arrived in every slice of a whole span the path is known to flow, and
// steady is the highest average of a slice seen then. From then on a slice counts for three times that at most: octets
// that had been held up, by a lost segment that arrived late or by a pause of this process, come all at once and say
// nothing about the path.
type delivery struct {
	width  time.Duration // of a slice; 0: unknown, nothing is counted
	begin  time.Time     // of the slice at cur
	ring   [slices]int64
	cur    int
	sum    int64
	steady int64
}

// leastSpan is the shortest span: below it, scheduling of processes takes longer than the path.
const leastSpan = time.Millisecond

// setSpan makes rtt the span.
func (d *delivery) setSpan(rtt time.Duration) {
	if rtt > 0 {
		d.width = max(rtt, leastSpan) / slices
	}
}

// add counts n octets that arrived now.
func (d *delivery) add(now time.Time, n int64) {
	if d.width == 0 {
		return
	}
	d.advance(now)
	if d.steady > 0 {
		n = max(0, min(n, 3*d.steady-d.ring[d.cur]))
	}
	d.ring[d.cur] += n
	d.sum += n
	for _, octets := range d.ring {
		if octets == 0 {
			return
		}
	}
	d.steady = max(d.steady, d.sum/slices)
}

// advance drops the slices that are older than the span.
func (d *delivery) advance(now time.Time) {
	passed := int64(now.Sub(d.begin) / d.width)
	if passed >= slices {
		d.ring, d.sum, d.begin = [slices]int64{}, 0, now
		return
	}
	for range passed {
		d.cur = (d.cur + 1) % slices
		d.sum -= d.ring[d.cur]
		d.ring[d.cur] = 0
	}
	d.begin = d.begin.Add(time.Duration(passed) * d.width)
}

// peak is what would arrive in one span at the highest rate of two successive slices. A server that waits for window
// half the time is seen at the rate of the path.
func (d *delivery) peak() int64 {
	var most int64
	for i, octets := range d.ring {
		// What follows cur is the oldest slice; the two are no neighbours.
		if i != d.cur {
			most = max(most, octets+d.ring[(i+1)%slices])
		}
	}
	return most * slices / 2
}
