package h2flow

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"example.com/h2flow/conn"
)

// readRole decides who reads the transport.
//
// Model: at any time the role is free, or held by one goroutine. Whoever waits for something to arrive (await) takes
// it if it is free, reads, and serves everybody on the way, until its own need is met; else it parks in the list of
// waiters. A holder that leaves while others are parked offers the role to the first of them (offerRole, at the end of
// every critical section): it is woken, and takes the role or, if its need has been met, leaves it to be offered
// again. When nobody has waited for handoverDelay, a goroutine of the connection's own reads in the background, so that
// acknowledgements, PINGs and resets keep flowing; it leaves as soon as somebody is parked. Where a transport's read
// deadline cannot be trusted, the background reader holds the role for good.
//
//	free --await--> held by a waiter --leave--> free        offered: somebody parked was woken to take it
//	free --handover timer--> held by the background --somebody parked--> free
//
// A holder blocked in Read that must give up, because it was cancelled or the connection ends, is woken by a read
// deadline in the past (kick), which it clears before it leaves. Write deadlines are never used like that: they would
// corrupt TLS.
type readRole struct {
	shared    bool // waiters may hold it
	deadlines bool // SetReadDeadline works

	holder  *waiter // nil: free, unless background
	bg      bool    // held by the background
	inRead  bool    // the holder is in Read, or has not locked since
	wanted  bool    // somebody was parked when Read returned
	err     error   // what Read failed with, once what came before is processed
	kicked  bool    // its deadline was set in the past
	offered bool    // a parked waiter was woken to take it
	parked  []*waiter
	freed   time.Time // when it was last left
	armed   bool      // the handover timer runs
	timer   *time.Timer
	gone    *sync.Cond // inRead has become false

	buf   []byte // what Read fills, from the pool; the core may borrow from it
	small []byte // what it fills in the background while little comes
	busy  bool   // the last Read brought as much as small holds, or more
}

// A waiter is one goroutine that waits for something to arrive. It is used again and again by its owner.
type waiter struct {
	ch     chan struct{}
	parked bool // in readRole.parked
	space  bool // in writer.space
	fired  bool // woken since it last began to wait
	offer  bool // woken to take the role
}

// handoverDelay is how long the role may be free before the background takes it.
const handoverDelay = time.Millisecond

// init chooses the mode for nc; mu is the connection's lock.
func (r *readRole) init(nc net.Conn, mode ReaderMode, mu *sync.Mutex) {
	r.gone = sync.NewCond(mu)
	trusted := trustedDeadline(nc)
	r.shared = mode == ReaderShared || mode == ReaderAuto && trusted
	r.deadlines = trusted || r.shared
}

// trustedDeadline reports whether a read deadline in the past is known to wake a Read of nc and to lose nothing.
func trustedDeadline(nc net.Conn) bool {
	switch nc := nc.(type) {
	case *net.TCPConn, *net.UnixConn:
		return true
	case *tls.Conn:
		return trustedDeadline(nc.NetConn())
	}
	return false
}

// await waits until w is woken, and may do some of the reading meanwhile. The lock is held before and after; the caller
// looks whether what it waits for has come, and calls again if not.
func (c *ClientConn) await(w *waiter) {
	r := &c.role
	w.fired = false
	c.takeEvents()
	if w.fired {
		return
	}
	if r.shared && r.holder == nil && !r.bg && !c.over {
		r.holder = w
		c.readTurn(w)
		r.holder = nil
		r.freed = time.Now()
		return
	}
	w.parked = true
	r.parked = append(r.parked, w)
	c.sleep(w)
	if w.offer {
		w.offer, r.offered = false, false
	}
}

// sleep blocks until somebody takes w off its list.
func (c *ClientConn) sleep(w *waiter) {
	if w.ch == nil {
		w.ch = make(chan struct{}, 1)
	}
	ch := w.ch
	c.unlock()
	<-ch
	c.mu.Lock()
}

// wake ends the waiting of w.
func (c *ClientConn) wake(w *waiter) {
	w.fired = true
	switch {
	case w.parked:
		c.role.parked = without(c.role.parked, w)
		w.parked = false
		w.ch <- struct{}{}
	case w.space:
		c.writer.space = without(c.writer.space, w)
		w.space = false
		w.ch <- struct{}{}
	case c.role.holder == w:
		c.role.kick(c.nc)
	}
}

// without takes w, which is in it, out of list.
func without(list []*waiter, w *waiter) []*waiter {
	i := slices.Index(list, w)
	return slices.Delete(list, i, i+1)
}

// kick makes a blocked holder return from Read.
func (r *readRole) kick(nc net.Conn) {
	if r.inRead && !r.kicked && r.deadlines {
		r.kicked = true
		nc.SetReadDeadline(time.Unix(1, 0))
	}
}

// offerRole wakes a parked waiter to take a free role, or sees to it that the background will.
func (c *ClientConn) offerRole() {
	r := &c.role
	if c.over || r.holder != nil || r.bg || r.offered {
		return
	}
	switch {
	case !r.shared:
		r.bg = true
		go c.readInBackground()
	case len(r.parked) > 0:
		w := r.parked[0]
		r.parked = without(r.parked, w)
		r.offered, w.offer, w.parked = true, true, false
		w.ch <- struct{}{}
	case !r.armed:
		r.armed = true
		if r.timer == nil {
			r.timer = time.AfterFunc(handoverDelay, c.handover)
		} else {
			r.timer.Reset(handoverDelay)
		}
	}
}

// handover is the timer's function: it becomes the background reader if the role has been free for long enough.
func (c *ClientConn) handover() {
	c.mu.Lock()
	r := &c.role
	r.armed = false
	if c.over || r.holder != nil || r.bg || r.offered || len(r.parked) > 0 {
		c.unlock()
		return
	}
	if idle := time.Since(r.freed); idle < handoverDelay && idle >= 0 {
		r.armed = true
		r.timer.Reset(handoverDelay - idle)
		c.unlock()
		return
	}
	r.bg = true
	c.unlock()
	c.readInBackground()
}

// readInBackground reads while nobody else wants to.
func (c *ClientConn) readInBackground() {
	var nobody waiter
	c.mu.Lock()
	r := &c.role
	for !c.over {
		c.readTurn(&nobody)
		if r.shared && (r.wanted || len(r.parked) > 0) {
			break // whoever waited is likely to wait again, and then reads itself
		}
	}
	r.bg = false
	r.freed = time.Now()
	c.unlock()
}

// readTurn processes what was read before, or reads once and processes that, until w is woken or nothing is left.
func (c *ClientConn) readTurn(w *waiter) {
	r := &c.role
	if !c.core.Pending() && r.err == nil {
		c.readOnce()
	}
	for !w.fired {
		ev := c.core.NextEvent()
		if ev.Kind == conn.None {
			break
		}
		c.deliver(ev)
	}
	if c.core.Pending() {
		return
	}
	if r.err != nil && !c.over {
		c.core.Fail(time.Now(), r.err)
		c.takeEvents()
	}
}

// readOnce reads from the transport, without the lock, and feeds the core. What it gets belongs to everybody.
func (c *ClientConn) readOnce() {
	r := &c.role
	buf := r.buffer(c.cfg.ReadBufferSize)
	r.inRead = true
	c.startWriter()
	c.armTimer()
	c.mu.Unlock()
	n, err := c.nc.Read(buf)
	now := time.Now()
	c.mu.Lock()
	r.inRead, r.wanted = false, len(r.parked) > 0
	if r.kicked {
		r.kicked = false
		c.nc.SetReadDeadline(time.Time{})
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil
		}
	}
	if c.over {
		r.gone.Broadcast()
		return
	}
	c.core.Feed(now, buf[:n])
	r.err = err
	r.busy = n >= smallBuffer
}

// smallBuffer is the size of the buffer with which an idle connection waits for what comes next, in octets.
const smallBuffer = 1 << 10

// buffer returns the buffer for the next Read: an idle connection, which is read in the background, holds a small one.
func (r *readRole) buffer(size int) []byte {
	if r.bg && !r.busy {
		putReadBuffer(r.buf)
		r.buf = nil
		if r.small == nil {
			r.small = make([]byte, smallBuffer)
		}
		return r.small
	}
	if r.buf == nil {
		r.buf = getReadBuffer(size)
	}
	return r.buf
}

// readBuffers holds read buffers of one size each.
var readBuffers sync.Pool // of *[]byte

func getReadBuffer(size int) []byte {
	if p, ok := readBuffers.Get().(*[]byte); ok && len(*p) == size {
		return *p
	}
	return make([]byte, size)
}

func putReadBuffer(buf []byte) {
	if buf != nil {
		readBuffers.Put(&buf)
	}
}
