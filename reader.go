package h2flow

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"example.com/h2flow/conn"
)

// reader is the receiving side of a connection: the role of reading and what belongs to it.
type reader struct {
	role      readRole
	deadlines bool // SetReadDeadline works
	timer     *time.Timer
	gone      *sync.Cond // role.inRead has become false
	err       error      // what Read failed with, once what came before it is processed

	buf     []byte        // what Read fills, from the pool; the core may borrow from it
	small   []byte        // what it fills in the background while little comes
	busy    bool          // the last Read brought as much as small holds, or more
	last    time.Time     // when the last Read returned
	body    *ClientStream // the stream whose body the holder of the role waits for, if it does
	scatter *scatter      // while a read into that stream's slice is under way
	low     lowWater
	spill   []byte // what such a read brought and was moved; the core may borrow from it
}

// init chooses the mode for nc; mu is the connection's lock.
func (r *reader) init(nc net.Conn, mode ReaderMode, mu *sync.Mutex) {
	r.gone = sync.NewCond(mu)
	trusted := trustedDeadline(nc)
	r.role.shared = mode == ReaderShared || mode == ReaderAuto && trusted
	r.deadlines = trusted || r.role.shared
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
// looks whether what it waits for has come, and calls again if not. body is the stream whose body it waits for, with a
// slice for it, or nil.
func (c *ClientConn) await(w *waiter, body *ClientStream) {
	role := &c.reader.role
	w.fired = false
	c.takeEvents()
	if w.fired {
		return
	}
	if !c.over && role.take(w) {
		c.reader.body = body
		c.readTurn(w)
		c.reader.body = nil
		role.leave(c.reader.last)
		return
	}
	role.park(w)
	c.sleep(w)
	role.resumed(w)
}

// sleep blocks until somebody takes w off its list. Whoever is off all lists has been sent to exactly once, so that the
// channel is empty again and serves the next.
func (c *ClientConn) sleep(w *waiter) {
	if n := len(c.wakes); n > 0 {
		w.ch, c.wakes = c.wakes[n-1], c.wakes[:n-1]
	} else {
		w.ch = make(chan struct{}, 1)
	}
	ch := w.ch
	c.unlock()
	<-ch
	c.mu.Lock()
	if len(c.wakes) < maxWakes {
		c.wakes = append(c.wakes, ch)
	}
}

// maxWakes is how many channels a connection keeps for waiters to come.
const maxWakes = 32

// wake ends the waiting of w.
func (c *ClientConn) wake(w *waiter) {
	w.fired = true
	switch {
	case w.parked:
		c.reader.role.unpark(w)
		w.ch <- struct{}{}
	case w.space:
		c.writer.space = without(c.writer.space, w)
		w.space = false
		w.ch <- struct{}{}
	case c.reader.role.holder == w:
		c.kick()
	}
}

// kick makes a holder of the role that is blocked in Read return.
func (c *ClientConn) kick() {
	if c.reader.deadlines && c.reader.role.kick() {
		c.nc.SetReadDeadline(time.Unix(1, 0))
	}
}

// offerRole carries out what has to be done with a free role.
func (c *ClientConn) offerRole() {
	if c.over {
		return
	}
	switch what, w := c.reader.role.offer(); what {
	case offerWake:
		w.ch <- struct{}{}
	case offerStart:
		go c.readInBackground()
	case offerTimer:
		c.startHandover(handoverDelay)
	}
}

func (c *ClientConn) startHandover(d time.Duration) {
	if c.reader.timer == nil {
		c.reader.timer = time.AfterFunc(d, c.handover)
		return
	}
	c.reader.timer.Reset(d)
}

// handover is the timer's function: it becomes the background reader if the role has been free for long enough.
func (c *ClientConn) handover() {
	c.mu.Lock()
	if c.over {
		c.unlock()
		return
	}
	background, again := c.reader.role.timerFired(time.Now())
	if again > 0 {
		c.startHandover(again)
	}
	c.unlock()
	if background {
		c.readInBackground()
	}
}

// readInBackground reads while nobody else wants to.
func (c *ClientConn) readInBackground() {
	var nobody waiter
	c.mu.Lock()
	c.reader.busy = false // it has been quiet, and may stay so
	for !c.over {
		c.readTurn(&nobody)
		if !c.reader.role.backgroundStays() {
			break
		}
	}
	c.reader.role.leave(time.Now())
	c.unlock()
}

// readTurn processes what was read before, or reads once and processes that, until w is woken or nothing is left.
func (c *ClientConn) readTurn(w *waiter) {
	r := &c.reader
	if !c.core.Pending() && r.err == nil {
		c.readOnce(w)
	}
	for !w.fired {
		ev := c.core.NextEvent()
		if ev.Kind == conn.None {
			break
		}
		c.deliver(ev)
	}
	if r.spill != nil && !c.core.Pending() {
		readBuffers.put(r.spill)
		r.spill = nil
	}
	if r.err != nil && !c.over && !c.core.Pending() {
		c.transportFailed(r.err)
		if c.writer.pen {
			go c.nc.Close() // the write in progress has no sense any more
		}
	}
}

// readOnce sends what is to be sent, reads from the transport, both without the lock, and feeds the core. What it gets
// belongs to everybody. It does not read if w was woken, or if there is something to process.
func (c *ClientConn) readOnce(w *waiter) {
	r := &c.reader
	c.flush(false)
	if w.fired || c.over || c.core.Pending() {
		return
	}
	run, scattered := c.planBody()
	var buf []byte
	if !scattered {
		buf = r.buffer(c.cfg.ReadBufferSize)
	}
	c.setMark()
	r.role.inRead = true
	c.armTimer()
	c.mu.Unlock()
	var n int
	var err error
	if scattered {
		n, err = c.readBody()
	} else {
		n, err = c.nc.Read(buf)
	}
	now := c.clock()
	c.mu.Lock()
	if r.role.returned() {
		c.nc.SetReadDeadline(time.Time{})
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil
		}
	}
	if c.over {
		r.release()
		r.gone.Broadcast()
		return
	}
	r.last, r.err = now, err
	r.busy = n >= smallBuffer
	r.low.count(now, n)
	if scattered {
		c.feedBody(run, n)
		return
	}
	c.core.Feed(now, buf[:n])
}

// smallBuffer is the size of the buffer with which an idle connection waits for what comes next, in octets.
const smallBuffer = 1 << 10

// buffer returns the buffer for the next Read: an idle connection, which is read in the background, holds a small one.
func (r *reader) buffer(size int) []byte {
	if r.role.bg && !r.busy {
		readBuffers.put(r.buf)
		r.buf = nil
		if r.small == nil {
			r.small = make([]byte, smallBuffer)
		}
		return r.small
	}
	if r.buf == nil {
		r.buf = readBuffers.get(size)
	}
	return r.buf
}

// release gives the buffers back once the connection is over, unless somebody is still in Read.
func (r *reader) release() {
	if !r.role.inRead {
		readBuffers.put(r.buf)
		r.buf, r.small = nil, nil
	}
}
