package conn

import (
	"fmt"

	"example.com/h2flow/stream"
)

// CheckInvariants reports the first law of the connection's own that does not hold, for tests, simulation and fuzzing.
// It walks everything and belongs in no hot path.
func (c *Conn) CheckInvariants() error {
	var unread int64
	open, idle, blocked := 0, 0, 0
	for id, s := range c.streams {
		if s.id != id {
			return fmt.Errorf("stream %d is filed under %d", s.id, id)
		}
		if err := c.checkRecord(s); err != nil {
			return fmt.Errorf("stream %d: %w", id, err)
		}
		unread += s.recv.Unread()
		if s.state.Counts() {
			open++
		}
		if s.state == stream.Idle {
			idle++
		}
		if s.blocked {
			blocked++
		}
	}
	o := c.recv.Offsets()
	switch {
	case c.life < closing && unread != o.Unread():
		// Credit conservation: what the connection counts as unread is what its streams hold, and nothing else.
		return fmt.Errorf("the connection has %d octets unread, its streams %d", o.Unread(), unread)
	case o.Consumed > o.Received || o.Received > o.Charged || o.Charged > o.Granted:
		return fmt.Errorf("connection offsets out of order: %v", o)
	case open != c.openCount:
		return fmt.Errorf("%d streams are open, counted %d", open, c.openCount)
	case idle != c.queue.len():
		return fmt.Errorf("%d streams are idle, queued %d", idle, c.queue.len())
	case blocked != len(c.blocked):
		return fmt.Errorf("%d streams are blocked, listed %d", blocked, len(c.blocked))
	case c.out.written > c.out.total:
		return fmt.Errorf("%d octets written of %d packed", c.out.written, c.out.total)
	case c.life == dead && c.HasOutput():
		return fmt.Errorf("output after the end")
	}
	if d := c.Deadline(); c.life >= closing && !d.IsZero() {
		return fmt.Errorf("a deadline after the end: %v", d)
	}
	return nil
}

func (c *Conn) checkRecord(s *streamRecord) error {
	o := s.recv.OffsetsOver(c.recvBase.Initial())
	switch {
	case o.Consumed > o.Received || o.Received > o.Charged:
		return fmt.Errorf("offsets out of order: %v", o)
	case s.state.Counts() && o.Window() > 1<<31-1:
		return fmt.Errorf("window above 2^31-1: %v", o)
	case s.state.Closed() && o.Unread() == 0:
		return fmt.Errorf("kept in state %v with nothing unread", s.state)
	case s.phase == stream.Complete && s.state.CanReceive():
		return fmt.Errorf("the response is complete in state %v", s.state)
	case s.state == stream.Idle && (o.Charged > 0 || s.headersEnd > 0):
		return fmt.Errorf("idle with octets or a head")
	}
	return nil
}
