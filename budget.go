package h2flow

import (
	"sync/atomic"
	"time"

	"example.com/h2flow/flow"
)

// A Budget bounds the memory that a group of connections may promise to their peers, all together: what is unread and
// what the peers may still send. Set it in the Config of each connection of the group. It may be shared by any number
// of connections and goroutines.
//
// Each connection has 65,535 octets for itself, which HTTP/2 grants before anybody can object; all above that comes out
// of the budget. While it is used up, grants are withheld, not lost: connections go on with what they have and get more
// as others read what came, or end. So the bound for n connections is n x 65,535 octets and Max.
type Budget struct {
	max  int64
	used atomic.Int64
}

// NewBudget returns a budget of max octets.
func NewBudget(max int64) *Budget { return &Budget{max: max} }

// Max is the budget in octets, Used what of it is promised at present.
func (b *Budget) Max() int64  { return b.max }
func (b *Budget) Used() int64 { return b.used.Load() }

// take takes up to n octets.
func (b *Budget) take(n int64) int64 {
	for {
		used := b.used.Load()
		got := min(n, b.max-used)
		if got <= 0 {
			return 0
		}
		if b.used.CompareAndSwap(used, used+got) {
			return got
		}
	}
}

func (b *Budget) give(n int64) { b.used.Add(-n) }

// budgetRetry is how long a connection whose grants are withheld waits before it asks again.
const budgetRetry = 20 * time.Millisecond

// shareOfRest is the part of what is left that a new connection may take for its first window: one of so many.
const shareOfRest = 8

// budgeted is a Strategy whose grants on the connection come out of a Budget. It leaves the streams alone: what they
// may send, the connection has to allow too.
//
// Invariant: taken is at least what the connection holds, unread or granted, above flow.DefaultWindow. debt is what the
// inner strategy granted and the budget had no room for.
type budgeted struct {
	flow.Strategy
	budget *Budget
	taken  int64
	debt   int64
	retry  time.Time
}

// LiftsPingBudget is true if it is for the inner strategy.
func (s *budgeted) LiftsPingBudget() bool { return flow.LiftsPingBudget(s.Strategy) }

// Open takes at most a share of what is left, so that many idle connections leave something for others.
func (s *budgeted) Open(now time.Time) flow.Windows {
	w := s.Strategy.Open(now)
	if extra := w.Conn - flow.DefaultWindow; extra > 0 {
		s.taken = s.budget.take(min(extra, max(0, s.budget.max-s.budget.Used())/shareOfRest))
		s.debt = extra - s.taken
		w.Conn = flow.DefaultWindow + s.taken
		s.schedule(now)
	}
	return w
}

func (s *budgeted) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	if ev.Kind == flow.ActionRefused && ev.Action.Kind == flow.ActGrantConn {
		return s.Strategy.Decide(now, ev, dst) // the octets come back with the next event
	}
	// The inner strategy is to see what it granted, not what was withheld, or it would grant that again.
	shown := ev
	shown.ConnWindow.Granted += s.debt
	before := len(dst)
	if ev.Kind != flow.Tick || s.innerTick(now) {
		dst = s.Strategy.Decide(now, shown, dst)
	}
	kept := dst[:before]
	for _, a := range dst[before:] {
		if a.Kind == flow.ActGrantConn && a.N > 0 {
			s.debt += a.N
			continue
		}
		kept = append(kept, a)
	}
	return s.settle(now, ev.ConnWindow, kept)
}

// settle gives back what the connection no longer holds and pays as much of the debt as the budget has room for.
func (s *budgeted) settle(now time.Time, conn flow.Offsets, dst []flow.Action) []flow.Action {
	held := conn.Granted - conn.Consumed - flow.DefaultWindow
	if spare := s.taken - max(0, held+s.debt); spare > 0 {
		s.budget.give(spare)
		s.taken -= spare
	}
	if s.debt > 0 {
		if short := held + s.debt - s.taken; short > 0 {
			s.taken += s.budget.take(short)
		}
		if n := min(s.debt, s.taken-held); n > 0 {
			s.debt -= n
			dst = append(dst, flow.GrantConn(n))
		}
	}
	s.schedule(now)
	return dst
}

// innerTick reports whether a Tick is the inner strategy's.
func (s *budgeted) innerTick(now time.Time) bool {
	d := s.Strategy.Deadline()
	return !d.IsZero() && !d.After(now)
}

func (s *budgeted) schedule(now time.Time) {
	s.retry = time.Time{}
	if s.debt > 0 {
		s.retry = now.Add(budgetRetry)
	}
}

func (s *budgeted) Deadline() time.Time {
	d := s.Strategy.Deadline()
	if d.IsZero() || !s.retry.IsZero() && s.retry.Before(d) {
		return s.retry
	}
	return d
}

// close gives everything back when the connection is over.
func (s *budgeted) close() {
	s.budget.give(s.taken)
	s.taken, s.debt = 0, 0
}
