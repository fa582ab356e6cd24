package relay

import (
	"sync"
	"time"
)

// A queue holds the octets of one connection and direction, in order, each with the time at which it arrives. One
// goroutine fills it and one empties it.
//
// Offsets are absolute: head octets have left, tail octets have come, octet i lies at ring[i%len(ring)]. The filler
// alone writes to [tail, head+len(ring)) and alone replaces the ring; the emptier alone reads [head, tail). So both
// work on their own part of the ring without the lock, which guards the counters and the segments.
type queue struct {
	limit int64

	mu         sync.Mutex
	cond       sync.Cond // something in the fields below changed
	ring       []byte
	head, tail int64
	segments   []segment // in order; all of [head, tail) is covered
	ended      bool      // nothing will be added
	broken     bool      // nothing will be taken
}

// A segment is a run of octets that arrive together: all before the offset end that belong to no earlier segment.
type segment struct {
	end int64
	due time.Time
}

func newQueue(limit int64) *queue {
	q := &queue{limit: max(limit, 1), ring: make([]byte, min(max(limit, 1), 4*readSize))}
	q.cond.L = &q.mu
	return q
}

// space waits until the queue takes octets and returns where the next ones go; nil once nothing will be taken.
func (q *queue) space() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.tail-q.head >= q.limit && !q.broken {
		q.cond.Wait()
	}
	if q.broken {
		return nil
	}
	if size := int64(len(q.ring)); q.tail-q.head == size {
		q.grow(min(2*size, q.limit))
	}
	size := int64(len(q.ring))
	start := q.tail % size
	return q.ring[start:min(start+size-(q.tail-q.head), size, start+readSize)]
}

// grow replaces the ring by one of size octets. Slices of the old ring that the emptier holds stay valid.
func (q *queue) grow(size int64) {
	ring, old := make([]byte, size), int64(len(q.ring))
	for i := q.head; i < q.tail; {
		n := copy(ring[i%size:], q.ring[i%old:min(i%old+q.tail-i, old)])
		i += int64(n)
	}
	q.ring = ring
}

// add says that n octets were put into the space, which arrive at the time due.
func (q *queue) add(n int, due time.Time) {
	q.mu.Lock()
	q.tail += int64(n)
	q.segments = append(q.segments, segment{end: q.tail, due: due})
	q.mu.Unlock()
	q.cond.Broadcast()
}

// end says that nothing will be added; what is there still leaves, and the end itself arrives at the time due.
func (q *queue) end(due time.Time) {
	q.mu.Lock()
	q.ended = true
	q.segments = append(q.segments, segment{end: q.tail, due: due})
	q.mu.Unlock()
	q.cond.Broadcast()
}

// fail says that nothing will be taken, so that a waiting filler and a waiting emptier give up.
func (q *queue) fail() {
	q.mu.Lock()
	q.broken = true
	q.mu.Unlock()
	q.cond.Broadcast()
}

// next waits for the first segment and returns when it is due; ok is false once nothing will be taken.
func (q *queue) next() (due time.Time, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.segments) == 0 && !q.broken {
		q.cond.Wait()
	}
	if q.broken {
		return time.Time{}, false
	}
	return q.segments[0].due, true
}

// ready returns the octets due at now, up to the end of the ring; last says that the end itself is due and nothing is
// left.
func (q *queue) ready(now time.Time) (p []byte, last bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	end, size := q.head, int64(len(q.ring))
	due := 0
	for due < len(q.segments) && !q.segments[due].due.After(now) {
		end = q.segments[due].end
		due++
	}
	last = end == q.head && due > 0 && due == len(q.segments) && q.ended
	start := q.head % size
	return q.ring[start:min(start+end-q.head, size)], last
}

// took says that the first n octets have left.
func (q *queue) took(n int) {
	q.mu.Lock()
	q.head += int64(n)
	gone := 0
	for gone < len(q.segments) && q.segments[gone].end <= q.head && !(q.ended && gone == len(q.segments)-1) {
		gone++
	}
	q.segments = append(q.segments[:0], q.segments[gone:]...)
	q.mu.Unlock()
	q.cond.Broadcast()
}

// moved returns how many octets have come and how many have left.
func (q *queue) moved() (in, out int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.tail, q.head
}
