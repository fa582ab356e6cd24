package h2http

import (
	"errors"
	"math/rand/v2"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
)

// A poolConn is one connection and what uses it.
type poolConn struct {
	cc      *h2flow.ClientConn
	tls     *tlsState
	t       *Transport
	host    *host
	created time.Time
	changed func() // if not nil, called with the connection locked when its state has changed

	// opening counts the places that are taken and have no stream yet. It goes up under the pool's mu, and down once the
	// stream counts in the connection's own state: in between a place counts twice, and never not at all.
	opening atomic.Int32

	// Guarded by the pool's mu.
	active    int    // exchanges in progress
	requests  uint64 // exchanges that there were
	retired   bool   // takes no new request
	idleSince time.Time
	idleTimer *time.Timer
	idleArmed bool
	ageTimer  *time.Timer
	doubt     doubt
}

// room is the number of requests whose stream is open, or about to be, and how many more the connection takes at once.
func (pc *poolConn) room(state h2flow.ConnState) (inFlight, room int) {
	limit := state.MaxConcurrent
	if !state.SettingsReceived {
		limit = min(limit, streamsBeforeSettings)
	}
	inFlight = state.Open + state.Queued + int(pc.opening.Load())
	return inFlight, int(min(int64(limit)-int64(inFlight), 1<<30))
}

// reserveLocked takes a place on the connection for one exchange; last says that it is the connection's last.
func (pc *poolConn) reserveLocked(last bool) httptrace.GotConnInfo {
	info := httptrace.GotConnInfo{Reused: pc.requests > 0, WasIdle: pc.requests > 0 && pc.active == 0}
	if info.WasIdle && !pc.idleSince.IsZero() {
		info.IdleTime = time.Since(pc.idleSince)
	}
	pc.requests++
	pc.active++
	pc.opening.Add(1)
	if last {
		pc.retireLocked()
	}
	return info
}

// opened is told that the stream of one exchange counts now, or that there will be none.
func (pc *poolConn) opened() {
	pc.opening.Add(-1)
	if pc.host.queued.Load() > 0 {
		pc.t.pool.serve(pc.host)
	}
}

// stateChanged is called by the connection, which is locked.
func (pc *poolConn) stateChanged() {
	if pc.changed != nil {
		pc.changed()
	}
	if pc.host.queued.Load() > 0 {
		go pc.t.pool.serve(pc.host)
	}
}

// retireLocked takes the connection out of the pool; what it serves goes on.
func (pc *poolConn) retireLocked() {
	if pc.retired || pc.host.single {
		return
	}
	pc.retired = true
	if i := slices.Index(pc.host.conns, pc); i >= 0 {
		pc.host.conns = slices.Delete(pc.host.conns, i, i+1)
	}
}

// release gives back the place of one exchange. A connection that takes no other is closed with its last.
func (pc *poolConn) release() {
	p := &pc.t.pool
	p.mu.Lock()
	pc.active--
	idle := pc.active == 0 && !pc.host.single
	if idle && !pc.retired && !pc.cc.State().Available {
		pc.retireLocked()
	}
	closing := idle && pc.retired
	var surplus *poolConn
	if idle && !closing {
		pc.armIdleTimer()
		surplus = p.surplusLocked(pc.t.MaxIdleConns)
	}
	p.mu.Unlock()
	if closing {
		pc.close()
	}
	if surplus != nil {
		surplus.close()
	}
}

// surplusLocked takes out the connection that has been idle longest if there are more than max.
func (p *pool) surplusLocked(max int) *poolConn {
	if max <= 0 {
		return nil
	}
	idle := 0
	var longest *poolConn
	for _, h := range p.hosts {
		for _, pc := range h.conns {
			if pc.active > 0 {
				continue
			}
			idle++
			if longest == nil || pc.idleSince.Before(longest.idleSince) {
				longest = pc
			}
		}
	}
	if idle <= max {
		return nil
	}
	longest.retireLocked()
	return longest
}

// close ends the connection in the background: GOAWAY leaves if the server takes it in time, which nobody waits for.
func (pc *poolConn) close() { go pc.cc.Close() }

// armIdleTimer notes that the connection is idle from now on. The timer is left running while requests come and go,
// and looks at the time stamp when it fires, so that a request costs no change of a timer.
func (pc *poolConn) armIdleTimer() {
	limit := timeout(pc.t.IdleConnTimeout, defaultIdleConnTimeout)
	pc.idleSince = time.Now()
	switch {
	case limit == 0 || pc.idleArmed:
		return
	case pc.idleTimer == nil:
		pc.idleTimer = time.AfterFunc(limit, pc.idleCheck)
	default:
		pc.idleTimer.Reset(limit)
	}
	pc.idleArmed = true
}

func (pc *poolConn) idleCheck() {
	limit := timeout(pc.t.IdleConnTimeout, defaultIdleConnTimeout)
	p := &pc.t.pool
	p.mu.Lock()
	pc.idleArmed = false
	closing := false
	if pc.active == 0 && !pc.retired {
		rest := limit - time.Since(pc.idleSince)
		switch {
		case rest <= 0 && len(pc.host.conns) > pc.t.MinConnsPerHost:
			pc.retireLocked()
			closing = true
		case rest <= 0:
			rest = limit // the host is to keep so many
			fallthrough
		default:
			pc.idleTimer.Reset(rest)
			pc.idleArmed = true
		}
	}
	p.mu.Unlock()
	if closing {
		pc.close()
	}
}

// ageJitter is the part of MaxConnAge, one of so many, by which connections may be younger when they retire, at random:
// what was opened together shall not be opened anew together.
const ageJitter = 5

// armAgeTimer sets when the connection retires.
func (pc *poolConn) armAgeTimer() {
	if age := pc.t.MaxConnAge; age > 0 {
		pc.ageTimer = time.AfterFunc(age-rand.N(age/ageJitter+1), pc.aged)
	}
}

// aged retires the connection. What it serves goes on, and the last of that closes it.
func (pc *poolConn) aged() {
	p := &pc.t.pool
	p.mu.Lock()
	pc.retireLocked()
	closing := pc.active == 0
	p.forget(pc.host)
	p.mu.Unlock()
	if closing {
		pc.close()
	}
	p.serve(pc.host)
}

// watch takes the connection out of the pool when it ends, so that one that nobody uses is not kept in memory.
func (pc *poolConn) watch() {
	<-pc.cc.Done()
	p := &pc.t.pool
	p.mu.Lock()
	pc.retireLocked()
	var goAway *h2flow.GoAwayError
	if errors.As(pc.cc.State().GoAway, &goAway) && goAway.ErrCode == frame.EnhanceYourCalm {
		p.calmLocked(pc.host.key)
	}
	p.forget(pc.host)
	for _, t := range []*time.Timer{pc.idleTimer, pc.ageTimer} {
		if t != nil {
			t.Stop()
		}
	}
	p.mu.Unlock()
	p.serve(pc.host)
}
