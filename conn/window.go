package conn

import (
	"slices"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/stream"
)

// recvWindowUpdate handles credit for what this side sends.
func (c *Conn) recvWindowUpdate(h frame.Header, payload []byte) {
	f, err := frame.ParseWindowUpdate(h, payload)
	var s *streamRecord
	if h.Stream != 0 {
		var state stream.State
		s, state = c.lookup(h.Stream)
		if !c.admit(s, state, stream.RecvWindowUpdate, h) {
			return // on a closed stream it is no error, whatever it says (9113-6.9-4)
		}
	}
	if err != nil {
		c.frameFault(err) // an increment of 0 (9113-6.9-2, 9113-6.9-3)
		return
	}
	if c.updates--; c.updates < 0 {
		c.updates = 0
		if !c.glitch(1) {
			return
		}
	}
	if s == nil {
		// A connection window above 2^31-1 is an error of the connection. RFC 9113, Section 6.9.1 (9113-6.9.1-4).
		if !c.send.Update(flow.DefaultWindow, int64(f.Increment)) {
			c.fail(frame.FlowControlError, "WINDOW_UPDATE takes the connection window above 2^31-1")
			return
		}
		c.wakeAll()
		return
	}
	// A stream window above 2^31-1 is an error of the stream. RFC 9113, Section 6.9.1 (9113-6.9.1-3).
	if !c.sendBase.Update(&s.send, int64(f.Increment)) {
		c.streamFault(s, frame.FlowControlError, "WINDOW_UPDATE takes the stream window above 2^31-1")
		return
	}
	if s.blocked && c.quota(s) > 0 {
		c.unblock(s)
		c.events.push(Event{Kind: Sendable, Stream: s.id})
	}
}

// wakeAll tells the streams that waited for credit and have some now, in the order in which they began to wait.
func (c *Conn) wakeAll() {
	if len(c.blocked) == 0 {
		return
	}
	still := c.blocked[:0]
	for _, s := range c.blocked {
		if c.quota(s) == 0 {
			still = append(still, s)
			continue
		}
		s.blocked = false
		c.events.push(Event{Kind: Sendable, Stream: s.id})
	}
	clear(c.blocked[len(still):])
	c.blocked = still
}

func (c *Conn) markBlocked(s *streamRecord) {
	if !s.blocked {
		s.blocked = true
		c.blocked = append(c.blocked, s)
	}
}

func (c *Conn) unblock(s *streamRecord) {
	if s.blocked {
		s.blocked = false
		i := slices.Index(c.blocked, s)
		c.blocked = slices.Delete(c.blocked, i, i+1)
	}
}

// recvReset handles RST_STREAM, which is never answered in kind. RFC 9113, Section 5.4.2 (9113-5.4.2-3).
func (c *Conn) recvReset(h frame.Header, payload []byte) {
	f, err := frame.ParseRSTStream(h, payload)
	if err != nil {
		c.frameFault(err)
		return
	}
	s, state := c.lookup(h.Stream)
	if state == stream.ClosedSentReset {
		// The two resets cross. Once the peer's is known, nothing more is sent (9113-6.4-1, 9113-5.4.2-3).
		c.out.dropReset(h.Stream)
	}
	if !c.admit(s, state, stream.RecvReset, h) {
		return
	}
	if s.phase == stream.Complete {
		// The response is complete: it is not lost, and only the upload stops. RFC 9113, Section 8.1 (9113-8.1-8).
		c.move(s, stream.RecvReset)
		s.silent = true
		c.unblock(s)
		e := &Error{Code: f.Code, Origin: Peer, Stream: s.id, Answered: true}
		c.events.push(Event{Kind: SendStopped, Stream: s.id, Err: e})
		c.settle(s)
		return
	}
	e := &Error{Code: f.Code, Origin: Peer, Stream: s.id, Answered: s.answered}
	// REFUSED_STREAM says that nothing was done. RFC 9113, Section 8.7 (9113-8.7-1).
	e.NotProcessed = f.Code == frame.RefusedStream && !s.answered
	c.endByPeer(s, e)
}
