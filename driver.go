package h2flow

import (
	"time"

	"example.com/h2flow/conn"
)

// unlock ends a critical section: events that verbs of the core made are handed on, and whatever became due because of
// the section is set going.
func (c *ClientConn) unlock() {
	c.endSection()
	c.flush(false)
	c.mu.Unlock()
}

// endSection is what unlock does before it sends and unlocks.
func (c *ClientConn) endSection() {
	c.takeEvents()
	c.armTimer()
	c.offerRole()
	c.dropMark()
	c.tellState()
}

// takeEvents hands on the events that verbs of the core made.
func (c *ClientConn) takeEvents() {
	for ev, ok := c.core.TakeEvent(); ok; ev, ok = c.core.TakeEvent() {
		c.deliver(ev)
	}
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
	c.writer.buf, c.writer.rest = nil, nil
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

// The bounds of lingering: how long, and for how many octets, the transport is read after GOAWAY and before it is
// closed. A TCP connection that is closed with octets unread is reset, and the reset can overtake the GOAWAY.
const (
	lingerTimeout = 100 * time.Millisecond
	lingerOctets  = 4 << 20
)

// closeTransport closes the transport once the last octet has left. It is called once, with the lock held, by the
// writing goroutine, and releases the lock.
func (c *ClientConn) closeTransport() {
	for _, t := range []*time.Timer{c.timer, c.reader.timer, c.reader.low.timer} {
		if t != nil {
			t.Stop()
		}
	}
	c.takeEvents()
	c.writer.buf, c.writer.rest, c.writer.whole, c.writer.spare = nil, nil, nil, nil
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
