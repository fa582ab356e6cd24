package strategy

import (
	"time"

	"example.com/h2flow/flow"
)

// autoStream is the window of one open stream.
//
// Model: size is the window that it should have, and the path's window bounds it. A new stream gets more than it starts
// with as a loan, as far as loans go; then its reader earns more by using up half of what it has within two round trips
// and waiting for the rest. Size falls when, for a while, more than half of what the stream holds is unread after each
// read.
type autoStream struct {
	id    uint32
	size  int64
	held  int64 // of auto.raised: what size, and the octets outstanding, are above the start
	loan  int64 // of auto.loans
	ended bool  // nothing more will come

	follows bool      // size is the path's window, also when that grows
	waits   bool      // the reader waits for octets
	waited  time.Time // when it last began to

	behind time.Time // the first of the reads that left more than half unread; zero: the last one did not
	from   int64     // octets consumed by then

	since time.Time // when the present two round trips began
	mark  int64     // octets consumed by then
}

const (
	// leastStream is the window of a stream whose reader takes next to nothing.
	leastStream = 32 << 10
	// patience is how long a reader may be behind, if two round trips are shorter.
	patience = 20 * time.Millisecond
)

// lookup returns the record of stream id, or nil.
func (a *auto) lookup(id uint32) *autoStream {
	if id == 0 {
		return nil
	}
	if a.last == nil || a.last.id != id {
		s := a.streams[id]
		if s == nil {
			return nil
		}
		a.last = s
	}
	return a.last
}

// opened makes the record of stream id. The reader of its first octets waits for them already.
func (a *auto) opened(id uint32) *autoStream {
	s := new(autoStream)
	if n := len(a.free); n > 0 {
		s, a.free = a.free[n-1], a.free[:n-1]
	}
	*s = autoStream{id: id, size: startSize, waits: true}
	a.waiting++
	a.streams[id] = s
	return s
}

// mostFree is how many records are kept for later streams.
const mostFree = 16

func (a *auto) closed(s *autoStream) {
	if s == nil {
		return
	}
	a.raised -= s.held
	a.loans -= s.loan
	a.wait(s, false)
	a.large <<= 1
	delete(a.streams, s.id)
	a.last = nil
	if len(a.free) < mostFree {
		a.free = append(a.free, s)
	}
}

// noteReader notes whether the reader of s waits after ev.
func (a *auto) noteReader(now time.Time, s *autoStream, ev flow.Event) {
	switch {
	case ev.Kind == flow.ReaderWaiting:
		a.wait(s, true)
		s.waited = now
	case ev.Kind == flow.ReaderAway, ev.Kind == flow.Received, ev.End:
		a.wait(s, false)
	}
}

func (a *auto) wait(s *autoStream, waits bool) {
	if s.waits != waits {
		s.waits = waits
		if waits {
			a.waiting++
		} else {
			a.waiting--
		}
	}
}

// grantStream appends what the window of s lacks, early if half of what it waits for is enough.
func (a *auto) grantStream(now time.Time, s *autoStream, ev flow.Event, early bool, dst []flow.Action) []flow.Action {
	s.ended = s.ended || ev.End
	if !s.ended {
		a.resize(now, s, ev)
		size := min(s.size, a.path.window)
		hold := max(a.path.hold(size), min(frame, maxHold(size)))
		if n := ev.StreamWindow.Due(size); n >= hold || early && n >= hold/2 {
			n = wholeFrames(n)
			dst = append(dst, flow.GrantStream(ev.Stream, n))
			ev.StreamWindow.Granted += n
		}
	}
	held := max(0, ev.StreamWindow.Granted-ev.StreamWindow.Consumed-startSize)
	if !s.ended {
		held = max(held, s.size-startSize)
	}
	a.raised += held - s.held
	s.held = held
	return dst
}

// resize changes the size of s by what ev says of its reader.
func (a *auto) resize(now time.Time, s *autoStream, ev flow.Event) {
	switch {
	case ev.Kind == flow.Consumed && s.fellBehind(now, ev, a.path.rtt.least):
	case s.size >= a.path.window:
	case s.follows:
		if keepsUp(ev.StreamWindow) {
			s.size += min(a.path.window-s.size, a.room()*7/8)
		}
	case ev.Kind == flow.StreamOpened && a.large != 0, ev.Kind == flow.ResponseHead && ev.N > s.size:
		a.lend(s)
	case ev.Kind == flow.Consumed && ev.StreamWindow.Unread() == 0, ev.Kind == flow.ReaderWaiting:
		a.earn(now, s, ev.StreamWindow.Consumed)
	}
}

// fellBehind lowers the window of a stream whose reader does not keep up, and reports whether it is behind.
func (s *autoStream) fellBehind(now time.Time, ev flow.Event, rtt time.Duration) bool {
	o := ev.StreamWindow
	if o.Unread() <= (o.Granted-o.Consumed)/2 {
		s.behind = time.Time{}
		return false
	}
	if s.behind.IsZero() {
		s.behind, s.from = now, o.Consumed
		return true
	}
	took := now.Sub(s.behind)
	if took < max(2*rtt, patience) {
		return true
	}
	inRTT := scale(o.Consumed-s.from, max(rtt, leastSpan), took)
	s.size = min(s.size, max(leastStream, 2*(inRTT+ev.N)))
	s.follows = false
	s.behind, s.from = now, o.Consumed
	return true
}

// room is how many octets streams may have more.
func (a *auto) room() int64 { return max(0, a.max*3/4-a.raised) }

// lend raises the window of a stream that is likely to be large though its reader has not earned it yet. The first one
// may have all of the path's window; those that come beside it share a quarter of that.
func (a *auto) lend(s *autoStream) {
	most := a.path.window
	if a.loans > 0 {
		most = max(0, most+most/4-a.loans) / 2
	}
	more := min(a.path.window-s.size, most, a.room()*7/8)
	if more < s.size/8 {
		return
	}
	s.size += more
	s.loan += more
	a.loans += more
	s.follows = s.size == a.path.window
}

// earn raises the window of a stream whose reader waits and has consumed so many octets, if it used up half of it within
// two round trips.
func (a *auto) earn(now time.Time, s *autoStream, consumed int64) {
	if now.Sub(s.since) > 2*a.path.rate.span {
		s.since, s.mark = now, consumed
	}
	if consumed-s.mark < s.size/2 {
		return
	}
	a.large |= 1
	a.loans -= s.loan
	s.loan = 0
	s.since, s.mark = now, consumed
	s.size += min(a.path.window-s.size, 3*s.size, a.room()*7/8)
	s.follows = s.size == a.path.window
}
