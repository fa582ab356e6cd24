package h2http

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync"

	"example.com/h2flow"
)

// A ClientConn is one connection that its holder, not the pool, chooses for each request. It has the methods of
// net/http.ClientConn, for those who bring a pool of their own.
type ClientConn struct {
	pc       *poolConn
	reserved int // places taken by Reserve; guarded by the pool's mu

	hook stateHook
}

var _ http.RoundTripper = (*ClientConn)(nil)

// ErrNoSlot is the error of Reserve when the connection is at its limit of concurrent streams.
var ErrNoSlot = errors.New("h2http: the connection is at its limit of concurrent streams")

// NewClientConn makes a connection to address, "host:port", for URLs of scheme, "https" or "http". It is not shared
// with RoundTrip, no proxy is used, and the caller must close it.
func (t *Transport) NewClientConn(ctx context.Context, scheme, address string) (*ClientConn, error) {
	if scheme != "https" && !(scheme == "http" && t.AllowHTTP) {
		return nil, &RequestError{"unsupported scheme " + scheme}
	}
	c := &ClientConn{}
	h := &host{t: t, key: hostKey{scheme: scheme, addr: address}, single: true}
	pc, err := t.dialConn(ctx, h, c.hook.changed)
	if err != nil {
		return nil, err
	}
	c.pc = pc
	h.conns = []*poolConn{pc}
	c.hook.ready(c)
	return c, nil
}

// RoundTrip is as Transport.RoundTrip, on this connection, whatever the host in the URL. It takes a place that Reserve
// has taken, if there is one; else, at the limit of concurrent streams, it waits in order for a stream to end.
func (c *ClientConn) RoundTrip(req *http.Request) (*http.Response, error) {
	x, err := c.pc.t.newExchange(req)
	if err != nil {
		c.Release()
		return nil, err
	}
	x.single = c
	return x.run()
}

// Conn is the connection below, for PING, Shutdown, and its state.
func (c *ClientConn) Conn() *h2flow.ClientConn { return c.pc.cc }

// Err is why the connection cannot be used for further requests; nil while it can.
func (c *ClientConn) Err() error {
	if err := c.pc.cc.Err(); err != nil {
		return err
	}
	switch state := c.pc.cc.State(); {
	case state.Available:
		return nil
	case state.GoAway != nil:
		return state.GoAway
	}
	return h2flow.ErrConnClosed
}

// Close closes the connection. Requests in progress fail.
func (c *ClientConn) Close() error { return c.pc.cc.Close() }

// Available is the number of requests that can be sent without waiting; 0 once the connection takes none.
func (c *ClientConn) Available() int {
	state := c.pc.cc.State()
	if !state.Available {
		return 0
	}
	_, room := c.pc.room(state)
	return max(room, 0)
}

// InFlight is the number of requests in progress, with the places that Reserve has taken; 0 once the connection is
// over.
func (c *ClientConn) InFlight() int {
	select {
	case <-c.pc.cc.Done():
		return 0
	default:
	}
	inFlight, _ := c.pc.room(c.pc.cc.State())
	return inFlight
}

// Reserve takes a place for one request: the next RoundTrip does not wait. The place counts as a request in flight, and
// is given back by that RoundTrip or by Release. The error is that of the connection, or ErrNoSlot.
func (c *ClientConn) Reserve() error {
	p := &c.pc.t.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	state := c.pc.cc.State()
	if !state.Available {
		return errors.Join(h2flow.ErrConnClosed, state.GoAway)
	}
	if _, room := c.pc.room(state); room <= 0 {
		return ErrNoSlot
	}
	c.pc.opening.Add(1)
	c.reserved++
	return nil
}

// Release gives a place back that Reserve has taken. Without one it does nothing.
func (c *ClientConn) Release() {
	if c.takeReserved() {
		c.pc.opened()
		c.hook.changed()
	}
}

func (c *ClientConn) takeReserved() bool {
	p := &c.pc.t.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.reserved == 0 {
		return false
	}
	c.reserved--
	return true
}

// get takes a place for x: one that is reserved, or one that is free, or it waits.
func (c *ClientConn) get(x *exchange) (*poolConn, httptrace.GotConnInfo, error) {
	p, h := &c.pc.t.pool, c.pc.host
	for waited := false; ; waited = true {
		p.mu.Lock()
		if c.reserved > 0 {
			c.reserved--
			info := c.pc.reserveLocked(false)
			c.pc.opening.Add(-1) // it was counted already
			p.mu.Unlock()
			return c.pc, info, nil
		}
		if waited || h.queue.len() == 0 {
			if _, pc, _ := h.chooseSingle(); pc != nil {
				info := pc.reserveLocked(false)
				p.mu.Unlock()
				return pc, info, nil
			}
		}
		w, err := h.enqueueLocked(false, waited)
		p.mu.Unlock()
		if err != nil {
			return nil, httptrace.GotConnInfo{}, err
		}
		if pc, info, err := p.await(x, h, w); pc != nil || err != nil {
			return pc, info, err
		}
	}
}

// chooseSingle is choose for a ClientConn. A connection that is over is chosen too: to use it gives its error.
func (h *host) chooseSingle() (Choice, *poolConn, []*poolConn) {
	pc := h.conns[0]
	state := pc.cc.State()
	if _, room := pc.room(state); room <= 0 && state.Available {
		return Wait, nil, nil
	}
	return 0, pc, nil
}

// SetStateHook sets a function that is called when the state of the connection has changed: Available has grown,
// InFlight has shrunk, or Err is no longer nil. It is called in a goroutine of its own, one call at a time, and may come
// once for several changes. If the state has changed before, it is called soon. A new hook takes the place of the old
// one, which is not called any more once SetStateHook has returned; nil means none. A hook must not call SetStateHook.
func (c *ClientConn) SetStateHook(f func(*ClientConn)) { c.hook.set(f) }

// A stateHook calls a function some time after changed was called.
//
// Model: dirty says that something has changed since the last call began, running that a goroutine is there to call. The
// goroutine holds calling during each call, so that set can wait for its end.
type stateHook struct {
	calling sync.Mutex // before mu

	mu      sync.Mutex
	conn    *ClientConn // nil until it can be used
	f       func(*ClientConn)
	dirty   bool
	running bool
}

// ready lets the hook be called, with c.
func (h *stateHook) ready(c *ClientConn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conn = c
	h.startLocked()
}

func (h *stateHook) set(f func(*ClientConn)) {
	h.calling.Lock()
	defer h.calling.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.f = f
	h.startLocked()
}

// changed may be called with any lock held but the hook's own.
func (h *stateHook) changed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dirty = true
	h.startLocked()
}

func (h *stateHook) startLocked() {
	if h.dirty && h.f != nil && h.conn != nil && !h.running {
		h.running = true
		go h.run()
	}
}

func (h *stateHook) run() {
	for h.call() {
	}
}

// call calls the function if something has changed.
func (h *stateHook) call() bool {
	h.calling.Lock()
	defer h.calling.Unlock()
	h.mu.Lock()
	f, conn := h.f, h.conn
	if !h.dirty || f == nil {
		h.running = false
		h.mu.Unlock()
		return false
	}
	h.dirty = false
	h.mu.Unlock()
	f(conn)
	return true
}
