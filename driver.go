package h2flow

import (
	"crypto/tls"
	"errors"
	"io"
	"os"
	"time"

	"example.com/h2flow/conn"
)

// unlock ends a critical section: events that verbs of the core made are handed on, and whatever became due because of
// the section is set going.
func (c *ClientConn) unlock() {
	for ev, ok := c.core.TakeEvent(); ok; ev, ok = c.core.TakeEvent() {
		c.deliver(ev)
	}
	c.startWriter()
	c.armTimer()
	c.offerRole()
	c.tellState()
	c.mu.Unlock()
}

// deliver hands one event of the core to whom it concerns.
func (c *ClientConn) deliver(ev conn.Event) {
	if c.events != nil {
		c.events.core(ev)
	}
	switch ev.Kind {
	case conn.Settings:
		c.settingsCame()
		return
	case conn.SettingsAcked, conn.AltSvc, conn.Origins, conn.Stalled:
		return
	case conn.Pong:
		if w := c.pings[ev.PingData]; w != nil {
			w.answered, w.rtt = true, ev.RTT
			c.wake(&w.waiter)
		}
		return
	case conn.GoAway:
		c.goAway = connError(ev.Err)
		c.lastOpen = stateChanged
		return
	case conn.Closed:
		c.end(ev.Err)
		return
	}
	if s := c.streams[ev.Stream]; s != nil {
		s.deliver(ev)
	}
}

// end wakes everybody who waits for a connection that is over.
func (c *ClientConn) end(e *conn.Error) {
	c.over = true
	c.err = connError(e)
	for _, s := range c.streams {
		s.fail(c.closedError())
	}
	for _, w := range c.pings {
		c.wake(&w.waiter)
	}
	c.settingsCame()
	c.wakeSpace()
	c.reader.release()
	c.strategyOver()
	c.kick()
}

// transportFailed ends the connection because reading or writing failed. What was packed is dropped: streams whose
// heads are in there are told that they are safe to send again.
func (c *ClientConn) transportFailed(err error) {
	c.writer.buf = nil
	c.core.Fail(time.Now(), err)
	c.takeEvents()
}

// closedError is what a stream fails with that the core gave no error of its own.
func (c *ClientConn) closedError() error {
	if err := c.endError(); err != nil {
		return err
	}
	return ErrConnClosed
}

// armTimer sees to it that the core is called at its deadline. A timer that would fire too early is left alone: it
// looks at the deadline again when it does.
func (c *ClientConn) armTimer() {
	d := c.core.Deadline()
	if d.IsZero() || !c.timerAt.IsZero() && !d.Before(c.timerAt) {
		return
	}
	c.timerAt = d
	if c.timer == nil {
		c.timer = time.AfterFunc(time.Until(d), c.tick)
		return
	}
	c.timer.Reset(time.Until(d))
}

func (c *ClientConn) tick() {
	c.mu.Lock()
	c.timerAt = time.Time{}
	c.core.Advance(time.Now())
	c.unlock()
}

// writer is the sending side: what was packed and waits for its turn.
//
// Model: buf is filled by whoever has something to send, up to Config.WriteBufferSize; one goroutine at a time, which
// exists while there is something, takes it, packs what else is pending, and writes. So nobody who asks for something
// to be sent waits for the transport, and what many ask for leaves in one write.
type writer struct {
	active bool
	failed bool
	buf    []byte // packed, to be written next
	spare  []byte // the other buffer, while it is not being written
	space  []*waiter
}

// startWriter starts the writing goroutine if there is something to send and none is running.
func (c *ClientConn) startWriter() {
	w := &c.writer
	if w.active || w.failed || len(w.buf) == 0 && !c.core.HasOutput() && !c.core.Done() {
		return
	}
	w.active = true
	go c.write()
}

// awaitSpace waits until the buffer was taken, or w is woken for another reason.
func (c *ClientConn) awaitSpace(w *waiter) {
	w.fired, w.space = false, true
	c.writer.space = append(c.writer.space, w)
	c.sleep(w)
}

// wakeSpace wakes everybody who waits for room in the buffer.
func (c *ClientConn) wakeSpace() {
	for len(c.writer.space) > 0 {
		c.wake(c.writer.space[0])
	}
}

// packNow packs pending output into the buffer at once if there is room, so that what was asked for has its place in
// the order.
func (c *ClientConn) packNow(now time.Time) {
	w := &c.writer
	if room := c.cfg.WriteBufferSize - len(w.buf); room > 0 && !w.failed {
		w.buf = c.core.AppendOutput(now, c.writeBuf(), room)
		c.takeEvents()
	}
}

// writeBuf is the buffer to pack into.
func (c *ClientConn) writeBuf() []byte {
	if c.writer.buf == nil {
		c.writer.buf = c.writer.spare
		c.writer.spare = nil
	}
	return c.writer.buf
}

func (c *ClientConn) takeEvents() {
	for ev, ok := c.core.TakeEvent(); ok; ev, ok = c.core.TakeEvent() {
		c.deliver(ev)
	}
}

// write is the writing goroutine.
func (c *ClientConn) write() {
	timeout := timeoutOr(c.cfg.WriteTimeout, defaultWriteTimeout)
	c.mu.Lock()
	for {
		c.packNow(time.Now())
		w := &c.writer
		buf := w.buf
		if len(buf) == 0 {
			break
		}
		w.buf = nil
		packed := c.core.Packed()
		c.core.Written(packed) // from here on the peer may see any of it
		c.wakeSpace()
		c.unlock()

		n, err := c.send(buf, timeout)

		c.mu.Lock()
		c.core.Written(packed - int64(len(buf)-n))
		if w.spare == nil && cap(buf) <= 2*c.cfg.WriteBufferSize {
			w.spare = buf[:0]
		}
		if err != nil {
			w.failed = true
			c.transportFailed(err)
			break
		}
	}
	c.writer.active = false
	if c.core.Done() || c.writer.failed {
		c.writer.failed = true // nothing is written any more
		c.closeTransport()
		return
	}
	c.writer.spare = nil // an idle connection holds no buffer
	c.unlock()
}

// maxTLSRecord is what one TLS record carries at most, in octets. See RFC 8446, Section 5.1.
const maxTLSRecord = 16 << 10

// send writes p, as long as something of it leaves within each timeout. It returns how much did, and an error unless
// that is all.
func (c *ClientConn) send(p []byte, timeout time.Duration) (total int, err error) {
	piece := len(p)
	if _, ok := c.nc.(*tls.Conn); ok {
		piece = maxTLSRecord // a record that a deadline cuts ends the connection
	}
	for total < len(p) {
		if timeout > 0 {
			c.nc.SetWriteDeadline(time.Now().Add(timeout)) // a transport that refuses deadlines has none
		}
		rest := p[total:min(total+piece, len(p))]
		n, err := c.nc.Write(rest)
		total += n
		switch {
		case err == nil && n < len(rest):
			return total, io.ErrShortWrite
		case err != nil && !(n > 0 && errors.Is(err, os.ErrDeadlineExceeded)):
			return total, err
		}
	}
	return total, nil
}

// The bounds of lingering: how long, and for how many octets, the transport is read after GOAWAY and before it is
// closed. A TCP connection that is closed with octets unread is reset, and the reset can overtake the GOAWAY.
const (
	lingerTimeout = 100 * time.Millisecond
	lingerOctets  = 4 << 20
)

// closeTransport closes the transport once the last octet has left. It is called once, with the lock held, by the
// writing goroutine, and releases the lock.
func (c *ClientConn) closeTransport() {
	for _, t := range []*time.Timer{c.timer, c.reader.timer} {
		if t != nil {
			t.Stop()
		}
	}
	c.takeEvents()
	c.writer.buf, c.writer.spare = nil, nil
	linger := c.err != nil && c.reader.deadlines
	for linger && c.reader.role.inRead { // it was kicked
		c.reader.gone.Wait()
	}
	c.mu.Unlock()
	if half, ok := c.nc.(interface{ CloseWrite() error }); ok && linger && half.CloseWrite() == nil {
		c.linger()
	}
	c.nc.Close()
	close(c.done)
}

// linger reads and drops what still arrives.
func (c *ClientConn) linger() {
	c.nc.SetReadDeadline(time.Now().Add(lingerTimeout))
	buf := make([]byte, 16<<10)
	for total := 0; total < lingerOctets; {
		n, err := c.nc.Read(buf)
		if total += n; err != nil {
			return
		}
	}
}
