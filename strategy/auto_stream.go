package strategy

import (
	"time"

	"example.com/h2flow/flow"
)

// autoStream is the window of one open stream.
//
// Model: size is the window that it should have. It is raised to the path's window while the reader keeps up, by a loan
// at first. It falls when, for a while, more than half of what the stream holds is unread after each read.
type autoStream struct {
	size  int64
	held  int64 // of auto.raised: what size and the octets outstanding are above the start
	loan  int64 // of auto.loans
	ended bool  // nothing more will come

	waits   bool      // the reader waits for octets
	waited  time.Time // when it last began to
	follows bool      // size is the path's window, also when that grows

	behind time.Time // the first of the reads that left more than half unread; zero: the last one did not
	from   int64     // octets consumed by then

	since time.Time // when the present two round trips began
	mark  int64     // octets consumed by then
}

const (
	// leastStream is the window of a stream whose reader takes next to nothing.
	leastStream = 32 << 10
	// patience is how long a reader may be behind, if the round trip is shorter.
	patience = 20 * time.Millisecond
)

// grantStream grants what the window of the event's stream lacks, early if half of what it waits for is enough.
func (a *auto) grantStream(now time.Time, ev flow.Event, early bool, dst []flow.Action) []flow.Action {
	s, ok := a.streams[ev.Stream]
	if !ok {
		return dst
	}
	s.ended = s.ended || ev.End
	if !s.ended {
		switch {
		case ev.Kind == flow.Consumed && s.fellBehind(now, ev, a.path.rtt.least):
		case s.size >= a.path.window:
		case s.follows:
			if keepsUp(ev.StreamWindow) {
				s.size += min(a.path.window-s.size, a.room()*7/8)
			}
		case ev.Kind == flow.StreamOpened, ev.Kind == flow.ResponseHead:
			a.trust(&s, ev)
		case ev.Kind == flow.Consumed, ev.Kind == flow.ReaderWaiting:
			if ev.StreamWindow.Unread() == 0 {
				a.earn(now, &s, ev)
			}
		}
		size := min(s.size, a.path.window)
		hold := max(size/8, min(frame, maxHold(size)))
		if n := ev.StreamWindow.Due(size); n >= hold || early && n >= hold/2 {
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
	a.streams[ev.Stream] = s
	return dst
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
	inRTT := int64(float64(o.Consumed-s.from) * float64(max(rtt, time.Millisecond)) / float64(took))
	s.follows = false
	s.size = min(s.size, max(leastStream, 2*inRTT+2*ev.N))
	s.behind, s.from = now, o.Consumed
	return true
}

// trust raises the window of a stream of which nobody has read anything yet, if it is likely to be large.
func (a *auto) trust(s *autoStream, ev flow.Event) {
	if ev.Kind == flow.StreamOpened && a.large == 0 || ev.Kind == flow.ResponseHead && ev.N <= s.size {
		return
	}
	// Half of what is left, so that something is left for the streams to come.
	lend := a.path.window
	if a.loans > 0 {
		lend = max(0, lend+lend/4-a.loans) / 2
	}
	more := min(a.path.window-s.size, lend, a.room()*7/8)
	if more < s.size/8 {
		return
	}
	s.size += more
	s.loan += more
	a.loans += more
	s.follows = s.size == a.path.window
}

// room is how many octets streams may have more.
func (a *auto) room() int64 { return max(0, a.max*3/4-a.raised) }

// earn raises the window of a stream whose reader waits, if it used half of it within two round trips.
func (a *auto) earn(now time.Time, s *autoStream, ev flow.Event) {
	consumed := ev.StreamWindow.Consumed
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
