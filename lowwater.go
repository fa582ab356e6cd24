package h2flow

import "time"

// lowWater keeps the low-water mark of a TCP socket: how many octets have to be there before a reader is woken. On a
// path that brings a packet every few microseconds, to be woken for each costs more than everything else.
//
// A mark that is not reached makes octets wait that are there, so it is 1 unless all of this holds: one stream alone is
// open, and its goroutine reads; nobody else waits, and no answer is awaited; the octets are sure to come by the declared
// length, with lowWaterTail more behind them, and need no more than half of what either window still allows; at the
// present rate they take a millisecond at most. Should the peer pause nevertheless, a timer ends the waiting.
type lowWater struct {
	mark   int // in force; 0 and 1 mean none
	octets int // that came since
	since  time.Time
	perMs  int // octets in a millisecond, of late

	timer   *time.Timer
	running bool
	until   time.Time // no mark before, since a peer paused
}

const (
	lowWaterLeast = 32 << 10  // a lower mark does not pay
	lowWaterMost  = 128 << 10 // a higher one makes the kernel's buffer the bottleneck
	lowWaterTail  = 256 << 10 // of a body is read without a mark
	lowWaterPause = 5 * time.Millisecond
	lowWaterRest  = 200 * time.Millisecond
	lowWaterSpan  = 4 * time.Millisecond // that rates are measured over
)

// count tells the rate that n octets came at now.
func (l *lowWater) count(now time.Time, n int) {
	l.octets += n
	switch span := now.Sub(l.since); {
	case span > 8*lowWaterSpan: // there was a pause
		l.perMs = 0
	case span >= lowWaterSpan:
		l.perMs = int(int64(l.octets) * int64(time.Millisecond) / int64(span))
	default:
		return
	}
	l.octets, l.since = 0, now
}

// want is the mark for the next Read, if certain octets are sure to come.
func (l *lowWater) want(now time.Time, certain int64) int {
	mark := min(lowWaterMost, l.perMs, int(min(certain-lowWaterTail, certain/2)))
	if mark < lowWaterLeast || now.Before(l.until) {
		return 1
	}
	return mark
}

// setMark sees to the mark before a Read. The lock is held.
func (c *ClientConn) setMark() {
	r := &c.reader
	l := &r.low
	if l.perMs < lowWaterLeast && l.mark <= 1 || !c.socket.hasMark() {
		return
	}
	want := 1
	if s := r.body; s != nil && len(r.role.parked) == 0 {
		want = l.want(r.last, c.core.Certain(s.id))
	}
	if want > l.mark && want < 2*l.mark || want == l.mark {
		return // not worth a system call
	}
	c.mark(want)
	if want > 1 && !l.running {
		l.running = true
		if l.timer == nil {
			l.timer = time.AfterFunc(lowWaterPause, c.checkMark)
		} else {
			l.timer.Reset(lowWaterPause)
		}
	}
}

func (c *ClientConn) mark(n int) {
	c.reader.low.mark = n
	c.socket.setMark(n)
}

// dropMark ends the mark that a blocked Read waits for once somebody else may have to be served. The system ends the Read
// if something is there. The lock is held.
func (c *ClientConn) dropMark() {
	if r := &c.reader; r.low.mark > 1 && r.role.inRead && (len(r.role.parked) > 0 || c.core.Certain(r.body.id) == 0) {
		c.mark(1)
	}
}

// checkMark is the timer's function: it ends a mark that nothing has reached for a while.
func (c *ClientConn) checkMark() {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &c.reader
	l := &r.low
	l.running = false
	if c.over || l.mark <= 1 {
		return
	}
	now := time.Now()
	if now.Sub(r.last) >= lowWaterPause {
		c.mark(1)
		l.until = now.Add(lowWaterRest)
		return
	}
	l.running = true
	l.timer.Reset(lowWaterPause)
}
