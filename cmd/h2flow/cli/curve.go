package cli

import (
	"sync"
	"time"

	"example.com/h2flow/cmd/h2flow/internal/report"
)

// maxBuckets is how many buckets a curve keeps. A plot is some hundred pixels wide.
const maxBuckets = 400

// A curve records how a number of octets changes over time. It may be added to from several goroutines.
//
// Model: time is cut into buckets, each with the least, the greatest and the last number within it, so that what swings
// fast still shows how far it swings. At first every addition is a bucket; when there are too many, they become wider.
type curve struct {
	start time.Time

	mu      sync.Mutex
	buckets []bucket
	width   float64 // of a bucket, in seconds
}

type bucket struct {
	begin           float64 // seconds
	low, high, last report.Point
}

func newCurve(start time.Time) *curve { return &curve{start: start} }

// add says that the number is octets from now on. A nil curve takes nothing, and no curve what was before its start.
func (c *curve) add(now time.Time, octets int64) {
	if c == nil || now.Before(c.start) {
		return
	}
	p := report.Point{Seconds: now.Sub(c.start).Seconds(), Octets: octets}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.buckets = c.append(c.buckets, bucket{begin: p.Seconds, low: p, high: p, last: p})
	if len(c.buckets) <= maxBuckets {
		return
	}
	c.width = max(2*c.width, 2*p.Seconds/maxBuckets)
	var wider []bucket
	for _, b := range c.buckets {
		wider = c.append(wider, b)
	}
	c.buckets = wider
}

// append appends b to list, or makes it part of the last bucket if that is wide enough.
func (c *curve) append(list []bucket, b bucket) []bucket {
	if len(list) == 0 || b.begin >= list[len(list)-1].begin+c.width {
		return append(list, b)
	}
	into := &list[len(list)-1]
	if b.low.Octets < into.low.Octets {
		into.low = b.low
	}
	if b.high.Octets > into.high.Octets {
		into.high = b.high
	}
	into.last = b.last
	return list
}

// all returns the points so far.
func (c *curve) all() []report.Point {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var points []report.Point
	add := func(p report.Point) {
		if n := len(points); n == 0 || points[n-1] != p {
			points = append(points, p)
		}
	}
	for _, b := range c.buckets {
		if b.low.Seconds < b.high.Seconds {
			add(b.low)
			add(b.high)
		} else {
			add(b.high)
			add(b.low)
		}
		add(b.last)
	}
	return points
}

// A plot is a curve of a whole run, and one of its opening that keeps more detail of it.
type plot struct {
	whole, opening *curve
	horizon        time.Time // where the opening ends
}

// add is curve.add. A nil plot takes nothing.
func (p *plot) add(now time.Time, octets int64) {
	if p == nil {
		return
	}
	p.whole.add(now, octets)
	if now.Before(p.horizon) {
		p.opening.add(now, octets)
	}
}

// all returns the points of both so far.
func (p *plot) all() (whole, opening []report.Point) {
	if p == nil {
		return nil, nil
	}
	return p.whole.all(), p.opening.all()
}
