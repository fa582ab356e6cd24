package h2http

import (
	"errors"
	"net/http/httptrace"
	"slices"
	"time"
)

// ErrQueueFull is the error of a request that found 10,000 others waiting for a stream to the same host.
var ErrQueueFull = errors.New("h2http: too many requests wait for a stream")

// maxQueued is how many requests may wait for one host. A server that allows no streams must not make us collect them.
const maxQueued = 10000

// A queue holds the requests that wait for a stream to one host, in order. It is guarded by the pool's mu.
type queue struct {
	waiting []*waiting

	// What happened so far.
	waited    uint64
	waitTotal time.Duration
	waitMax   time.Duration
}

// waiting is one request in the queue. Once it is out of it, done is closed and the rest is set: a connection, an error,
// or look, which means to look again, and to dial.
type waiting struct {
	last  bool // for the last request of its connection
	since time.Time
	done  chan struct{}
	look  bool
	pc    *poolConn
	info  httptrace.GotConnInfo
	err   error
}

func (q *queue) len() int { return len(q.waiting) }

// enqueueLocked puts a request into the queue: at its end, or in front if it has waited before.
func (h *host) enqueueLocked(last, again bool) (*waiting, error) {
	if h.queue.len() >= maxQueued {
		return nil, ErrQueueFull
	}
	w := &waiting{last: last, since: time.Now(), done: make(chan struct{})}
	at := h.queue.len()
	if again {
		at = 0
	}
	h.queue.waiting = slices.Insert(h.queue.waiting, at, w)
	h.queued.Store(int32(h.queue.len()))
	return w, nil
}

// leaveLocked ends the waiting of w, which is in the queue of h.
func (h *host) leaveLocked(w *waiting) {
	q := &h.queue
	i := slices.Index(q.waiting, w)
	q.waiting = slices.Delete(q.waiting, i, i+1)
	h.queued.Store(int32(len(q.waiting)))
	took := time.Since(w.since)
	q.waited++
	q.waitTotal += took
	q.waitMax = max(q.waitMax, took)
	close(w.done)
}

// await waits for the turn of w. Neither a connection nor an error means that x has to look again.
func (p *pool) await(x *exchange, h *host, w *waiting) (*poolConn, httptrace.GotConnInfo, error) {
	p.serve(h) // what came free before the queue could be seen to have somebody in it was told to nobody
	select {
	case <-w.done:
		return w.pc, w.info, w.err
	case <-x.ctx.Done():
	}
	p.mu.Lock()
	if slices.Contains(h.queue.waiting, w) {
		h.leaveLocked(w)
	}
	if w.look {
		h.looking--
	}
	p.forget(h)
	p.mu.Unlock()
	if w.pc != nil { // it came too late
		w.pc.opened()
		w.pc.release()
	}
	p.serve(h) // the next may have waited for what was for w
	return nil, httptrace.GotConnInfo{}, contextFailure(x.ctx)
}

// serve gives room to those who wait for it. It must be called whenever there may be some.
func (p *pool) serve(h *host) {
	p.mu.Lock()
	var dead []*poolConn
	for h.queue.len() > 0 {
		w := h.queue.waiting[0]
		choice, pc, gone := h.choose()
		dead = append(dead, gone...)
		if choice == Wait {
			break
		}
		if pc != nil {
			w.pc, w.info = pc, pc.reserveLocked(w.last)
			h.leaveLocked(w)
			continue
		}
		if h.looking == 0 && (h.dialing == 0 || h.mayDial()) {
			w.look = true
			h.looking++
			h.leaveLocked(w) // it will dial; the others wait for what comes of that
		}
		break
	}
	p.mu.Unlock()
	closeAll(dead)
}

// failAllLocked ends the waiting of everybody with err: the dial that they waited for has failed, and there is nothing else.
func (h *host) failAllLocked(err error) {
	for h.queue.len() > 0 {
		w := h.queue.waiting[0]
		w.err = err
		h.leaveLocked(w)
	}
}
