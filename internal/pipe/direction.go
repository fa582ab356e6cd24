package pipe

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// A segment is a run of octets that arrive together.
type segment struct {
	data    []byte    // what is left to read
	sent    time.Time // when its last octet has left the queue
	arrival time.Time // when its last octet is there
}

// A direction carries octets from one writer's end to one reader's end.
//
// Model: four counters since the start, written >= left >= arrived >= read. What lies between the first two waits in
// the queue, between the next two it travels, between the last two it waits for the reader. left and arrived are as
// of the last call of catchUp. All of it is guarded by mu, which is never held while waiting.
type direction struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced when something happens that a waiting call may look for
	waiting int           // calls that wait

	delay    time.Duration
	rate     int64 // bits per second; 0: unlimited
	queue    int64 // octets
	perWrite int   // octets of a segment at most

	segments            []segment // not fully read, in order
	leftSegs, thereSegs int       // how many of segments have left, have arrived
	written, left       int64     // octets
	arrived, read       int64     // octets
	lineFree            time.Time // when the last segment has left the queue

	writing                     bool // a Write is under way; others wait for it
	held                        hold
	readDeadline, writeDeadline time.Time
	writeErr                    error     // why no more can be written, once the writer's end is closed
	end                         time.Time // when the reader learns that; zero: not yet closed
	readErr                     error     // net.ErrClosed once the reader's end is closed
	gone                        time.Time // when the writer learns that
	reset                       time.Time // when the far side of an abort learns of it: the reader or the writer
	resetReader                 bool
}

// hold says who keeps octets from being read.
type hold uint8

const (
	holdReads hold = 1 << iota
	holdWrites
)

func newDirection(l Link) *direction {
	d := &direction{changed: make(chan struct{}), delay: l.RTT / 2, rate: l.Rate, queue: int64(l.Queue)}
	if d.queue <= 0 {
		d.queue = DefaultQueue
	}
	// About a millisecond's worth, but no less than an Ethernet frame carries and no more than is worth a timer.
	d.perWrite = maxSegment
	if d.rate > 0 {
		d.perWrite = int(max(minSegment, min(maxSegment, d.rate/8/1000)))
	}
	return d
}

// The limits of a segment, in octets.
const (
	minSegment = 1460
	maxSegment = 16 << 10
)

func (d *direction) write(p []byte) (n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.writing {
		if err := d.writeError(time.Now()); err != nil {
			return 0, err
		}
		d.wait(d.writeDeadline, d.reset, d.gone)
	}
	d.writing = true
	defer func() {
		d.writing = false
		d.broadcast()
	}()
	for {
		now := time.Now()
		if err := d.writeError(now); err != nil {
			return n, err
		}
		d.catchUp(now)
		room := d.queue - d.occupied()
		if k := min(room, int64(len(p)), int64(d.perWrite)); k > 0 {
			d.push(now, p[:k])
			n, p = n+int(k), p[k:]
		}
		switch {
		case len(p) == 0:
			return n, nil
		case room > 0:
			continue
		case d.leftSegs < len(d.segments):
			d.wait(d.writeDeadline, d.reset, d.gone, d.segments[d.leftSegs].sent)
		default:
			d.wait(d.writeDeadline, d.reset, d.gone)
		}
	}
}

// writeError is why a Write cannot go on.
func (d *direction) writeError(now time.Time) error {
	switch {
	case d.writeErr != nil:
		return d.writeErr
	case passed(d.writeDeadline, now):
		return os.ErrDeadlineExceeded
	case !d.resetReader && passed(d.reset, now):
		return syscall.ECONNRESET
	case passed(d.gone, now):
		return syscall.EPIPE
	}
	return nil
}

// occupied is how many octets count against the queue: those that wait at either end and, since nothing else would
// bound them without a rate, then also those that travel.
func (d *direction) occupied() int64 {
	if d.rate == 0 {
		return d.written - d.read
	}
	return d.written - d.left + d.arrived - d.read
}

// push puts a segment on the line.
func (d *direction) push(now time.Time, p []byte) {
	d.written += int64(len(p))
	if d.readErr != nil { // nobody will ever read it
		d.discard()
		return
	}
	if d.lineFree.Before(now) {
		d.lineFree = now
	}
	if d.rate > 0 {
		d.lineFree = d.lineFree.Add(time.Duration(int64(len(p)) * 8 * int64(time.Second) / d.rate))
	}
	d.segments = append(d.segments, segment{append([]byte(nil), p...), d.lineFree, d.lineFree.Add(d.delay)})
	d.broadcast()
}

func (d *direction) receive(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		now := time.Now()
		d.catchUp(now)
		switch {
		case d.readErr != nil:
			return 0, d.readErr
		case passed(d.readDeadline, now):
			return 0, os.ErrDeadlineExceeded
		case d.resetReader && passed(d.reset, now):
			return 0, syscall.ECONNRESET
		case d.held != 0:
			d.wait(d.readDeadline, d.reset)
			continue
		}
		if len(p) == 0 {
			return 0, nil
		}
		if n := d.take(p); n > 0 {
			d.broadcast()
			return n, nil
		}
		switch {
		case len(d.segments) > 0:
			d.wait(d.readDeadline, d.reset, d.segments[0].arrival)
		case passed(d.end, now):
			return 0, io.EOF
		default:
			d.wait(d.readDeadline, d.reset, d.end)
		}
	}
}

// take moves what has arrived to p.
func (d *direction) take(p []byte) (n int) {
	for d.thereSegs > 0 && n < len(p) {
		s := &d.segments[0]
		k := copy(p[n:], s.data)
		n += k
		if s.data = s.data[k:]; len(s.data) == 0 {
			d.segments = d.segments[1:]
			d.leftSegs--
			d.thereSegs--
		}
	}
	d.read += int64(n)
	return n
}

// catchUp moves left and arrived up to now.
func (d *direction) catchUp(now time.Time) {
	for d.leftSegs < len(d.segments) && passed(d.segments[d.leftSegs].sent, now) {
		d.left += int64(len(d.segments[d.leftSegs].data))
		d.leftSegs++
	}
	for d.thereSegs < d.leftSegs && passed(d.segments[d.thereSegs].arrival, now) {
		d.arrived += int64(len(d.segments[d.thereSegs].data))
		d.thereSegs++
	}
}

// discard drops everything that is not read.
func (d *direction) discard() {
	d.segments, d.leftSegs, d.thereSegs = nil, 0, 0
	d.left, d.arrived, d.read = d.written, d.written, d.written
}

// closeWriter ends the octets; why is what a Write is told from now on. The reader gets what is on its way first.
func (d *direction) closeWriter(why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.writeErr == nil {
		now := time.Now()
		if d.end = d.lineFree; d.end.Before(now) {
			d.end = now
		}
		d.end = d.end.Add(d.delay)
	}
	d.writeErr = why
	d.broadcast()
}

// closeReader drops what is not read; the writer learns of it after the delay.
func (d *direction) closeReader() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.readErr == nil {
		d.readErr = net.ErrClosed
		d.gone = time.Now().Add(d.delay)
		d.discard()
	}
	d.broadcast()
}

// abort makes the far side, reader or writer, fail with ECONNRESET after the delay.
func (d *direction) abort(reader bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reset.IsZero() {
		d.reset, d.resetReader = time.Now().Add(d.delay), reader
	}
	d.broadcast()
}

// update changes something that a waiting call looks at.
func (d *direction) update(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
	d.broadcast()
}

// wait waits until something changes or the first of the given times has come; zero times are none. mu is held before
// and after.
func (d *direction) wait(times ...time.Time) {
	var first time.Time
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	changed := d.changed
	d.waiting++
	d.mu.Unlock()
	if first.IsZero() {
		<-changed
	} else {
		timer := time.NewTimer(time.Until(first))
		select {
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
	d.mu.Lock()
	d.waiting--
}

func (d *direction) broadcast() {
	if d.waiting > 0 {
		close(d.changed)
		d.changed = make(chan struct{})
	}
}

// passed reports whether t is set and has come.
func passed(t, now time.Time) bool { return !t.IsZero() && !now.Before(t) }
