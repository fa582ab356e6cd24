package relay

import (
	"math"
	"sync"
	"time"
)

// A Path is one direction of the emulated path. The zero value passes octets on as fast as it can.
type Path struct {
	// Rate of the link in bits per second; 0 means unlimited.
	Rate int64
	// Delay is the propagation delay, one way.
	Delay time.Duration
	// Queue is how many octets may wait in front of the link. Zero means DefaultQueue(Rate, 2*Delay).
	Queue int64
}

// MinQueue is the shortest default queue, in octets.
const MinQueue = 256 << 10

// DefaultQueue is the queue of a well-kept router: what the link passes in one round trip, and at least MinQueue.
// For an unlimited link it is 64 MiB.
func DefaultQueue(rate int64, rtt time.Duration) int64 {
	if rate == 0 {
		return 64 << 20
	}
	return max(octets(rate, rtt), MinQueue)
}

// octets is how much a link of rate bits per second passes in d.
func octets(rate int64, d time.Duration) int64 {
	return int64(math.Round(float64(rate) / 8 * d.Seconds()))
}

// limit is how many octets one connection may have on the path: those that wait and those that travel.
func (p Path) limit() int64 {
	queue := p.Queue
	if queue == 0 {
		queue = DefaultQueue(p.Rate, 2*p.Delay)
	}
	return queue + octets(p.Rate, p.Delay)
}

// segment is the largest piece that arrives at once: what the link passes in half a millisecond, but at least a
// usual packet and at most a read. Without the cut a large read would arrive as a whole at the time of its last octet.
func (p Path) segment() int {
	if p.Rate == 0 {
		return readSize
	}
	return int(min(max(octets(p.Rate, time.Millisecond/2), 1500), readSize))
}

// A link is the bottleneck of one direction, shared by all connections. It keeps when it will be free again.
type link struct {
	path Path

	mu   sync.Mutex
	free time.Time
}

// reserve books the link for n octets that came at the time at, and returns when they arrive at the other end.
func (l *link) reserve(at time.Time, n int) time.Time {
	if l.path.Rate == 0 {
		return at.Add(l.path.Delay)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.free.Before(at) {
		l.free = at
	}
	l.free = l.free.Add(time.Duration(float64(n) * 8 / float64(l.path.Rate) * float64(time.Second)))
	return l.free.Add(l.path.Delay)
}
