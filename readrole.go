package h2flow

import (
	"slices"
	"time"
)

// readRole decides who reads the transport. It is the state and the transitions alone; reader.go carries them out.
//
// Model: at any time the role is free or held by one goroutine. Whoever waits for something to arrive takes it if it is
// free, reads, and serves everybody on the way, until its own need is met; else it parks. When a critical section ends
// with the role free, offer says what has to be done: wake the first that is parked, who takes the role or, if its need
// has been met, leaves it to be offered again; or, if nobody is parked, let a timer run, after which a goroutine of the
// connection's own reads in the background, so that acknowledgements, PINGs and resets keep flowing. The background
// leaves when somebody waited for what it read, since that one is likely to wait again and then reads itself. Where
// waiters must not read, because the transport's read deadline cannot be trusted, the background holds the role for
// good.
//
//	free --take--> waiter --leave--> free --offer--> somebody parked is woken, and takes it
//	free --offer, nobody is parked: timer--> free for handoverDelay --timerFired--> background --leave--> free
//
// A holder blocked in Read that must give up, because it was cancelled or the connection ends, is woken by a read
// deadline in the past (kick), which it clears when it returns. Write deadlines are never used like that: they would
// corrupt TLS.
//
// What must hold, and is checked by running through every order of events in readrole_test.go: never two readers; no
// wake-up is lost; when nothing moves any more, somebody is in Read.
type readRole struct {
	shared bool // waiters may hold the role

	holder  *waiter // the waiter that holds it
	bg      bool    // the background holds it
	inRead  bool    // the holder is in Read, or has not got the lock back since
	kicked  bool    // the read deadline lies in the past
	wanted  bool    // somebody was parked when Read returned
	offered bool    // a waiter was woken to take it and has not run since
	armed   bool    // the timer runs
	parked  []*waiter
	freed   time.Time // when it was last left
}

// A waiter is one goroutine that waits for something to arrive. It is used again and again by its owner.
type waiter struct {
	ch     chan struct{}
	parked bool // in readRole.parked
	space  bool // in writer.space
	fired  bool // woken since it last began to wait
	offer  bool // woken to take the role
}

// handoverDelay is how long the role is free before the background takes it.
const handoverDelay = time.Millisecond

// free reports whether nobody holds the role.
func (r *readRole) free() bool { return r.holder == nil && !r.bg }

// take gives the role to w if it can have it.
func (r *readRole) take(w *waiter) bool {
	if !r.shared || !r.free() {
		return false
	}
	r.holder = w
	return true
}

// leave ends the holding of the role, by whoever holds it.
func (r *readRole) leave(now time.Time) {
	r.holder, r.bg = nil, false
	r.freed = now
}

// park puts w into the list of those who wait without reading.
func (r *readRole) park(w *waiter) {
	w.parked = true
	r.parked = append(r.parked, w)
}

// unpark takes w out of the list.
func (r *readRole) unpark(w *waiter) {
	w.parked = false
	r.parked = without(r.parked, w)
}

// resumed is called by a waiter that was parked when it runs again.
func (r *readRole) resumed(w *waiter) {
	if w.offer {
		w.offer, r.offered = false, false
	}
}

// returned is called when a Read has returned and the lock is held again; it reports whether the deadline has to be
// cleared.
func (r *readRole) returned() (clear bool) {
	clear = r.kicked
	r.inRead, r.kicked, r.wanted = false, false, len(r.parked) > 0
	return clear
}

// kick reports whether a holder has to be woken by a deadline in the past.
func (r *readRole) kick() bool {
	if !r.inRead || r.kicked {
		return false
	}
	r.kicked = true
	return true
}

// backgroundStays reports, after the background has served what it read, whether it goes on.
func (r *readRole) backgroundStays() bool {
	return !r.shared || !r.wanted && len(r.parked) == 0
}

// An offer is what has to be done with a free role.
type offer uint8

const (
	offerNothing offer = iota
	offerWake          // wake the waiter
	offerTimer         // start the timer
	offerStart         // start the background
)

// offer says what has to be done at the end of a critical section.
func (r *readRole) offer() (offer, *waiter) {
	switch {
	case !r.free() || r.offered:
		return offerNothing, nil
	case !r.shared:
		r.bg = true
		return offerStart, nil
	case len(r.parked) > 0:
		w := r.parked[0]
		r.unpark(w)
		r.offered, w.offer = true, true
		return offerWake, w
	case !r.armed:
		r.armed = true
		return offerTimer, nil
	}
	return offerNothing, nil
}

// timerFired is called when the timer has. It reports whether the caller is the background reader now; else, if again
// is positive, the timer has to run for so long again.
func (r *readRole) timerFired(now time.Time) (background bool, again time.Duration) {
	r.armed = false
	if !r.free() || r.offered || len(r.parked) > 0 {
		return false, 0
	}
	if idle := now.Sub(r.freed); idle < handoverDelay && idle >= 0 {
		r.armed = true
		return false, handoverDelay - idle
	}
	r.bg = true
	return true, 0
}

// without takes w, which is in it, out of list.
func without(list []*waiter, w *waiter) []*waiter {
	i := slices.Index(list, w)
	return slices.Delete(list, i, i+1)
}
