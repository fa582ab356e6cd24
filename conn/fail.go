package conn

import (
	"strconv"
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/stream"
)

// fail ends the connection for an error of the peer's: GOAWAY with code, then the transport is to be closed; every
// open stream fails. RFC 9113, Section 5.4.1 (9113-5.4.1-1, 9113-5.4.1-2).
func (c *Conn) fail(code frame.ErrCode, reason string) {
	c.failWith(&Error{Code: code, Scope: ScopeConnection, Reason: reason})
}

func (c *Conn) failWith(e *Error) {
	if c.life >= closing {
		return // one connection error is reported (9113-5.4-1)
	}
	c.out.goAway, c.out.goAwayCode, c.wroteBye = true, e.Code, false
	c.end(e, e)
}

// failPreface ends a connection whose peer began with something else than SETTINGS. RFC 9113, Section 3.4 (9113-3.4-3,
// 9113-3.4-7).
func (c *Conn) failPreface(h frame.Header) {
	// The letters "HTTP/1.1 " of a server that speaks HTTP/1 read as the header of a frame.
	if octets := frame.AppendHeader(nil, h); string(octets[:5]) == "HTTP/" {
		c.fail(frame.ProtocolError, "the peer speaks HTTP/1, not HTTP/2")
		return
	}
	c.fail(frame.ProtocolError, "the peer's first frame is "+h.Type.String()+" and not SETTINGS")
}

// end ends the connection: why, nil for a graceful end, is its error, and perStream that of the streams.
func (c *Conn) end(why, perStream *Error) {
	c.err = why
	c.life = closing
	if why == nil && !c.wroteBye {
		c.out.goAway, c.out.goAwayCode = true, frame.NoError
	}
	c.out.wishes, c.out.ends = nil, nil
	if why != nil || !c.out.prefaceSent {
		c.out.settingsAcks, c.out.pingAcks, c.out.resets = 0, nil, nil
	}
	if !c.out.prefaceSent {
		c.out.goAway = false // nothing was sent yet, so there is nothing to say goodbye to
	}
	if !c.out.goAway && !c.out.owesReplies() {
		c.life = dead
	}
	if perStream != nil {
		for _, s := range c.sortedStreams() {
			if !s.silent && !s.state.Closed() {
				e := *perStream
				e.Stream = s.id
				c.failedStream(s, &e)
			}
		}
	}
	clear(c.streams)
	c.last, c.queue, c.openCount, c.blocked = nil, streamQueue{}, 0, nil
	c.input, c.block = input{}, fieldBlock{emit: c.block.emit}
	c.timers = timers{}
	c.events.push(Event{Kind: Closed, Err: why})
}

// neverLeft reports whether the peer cannot have seen the head of s and never will. What is packed still leaves, even
// if the stream or the connection is over by then, unless the transport failed.
func (c *Conn) neverLeft(s *streamRecord) bool {
	return s.headersEnd == 0 || c.out.cut && s.headersEnd > c.out.written
}

// failedStream gives the last event of s.
func (c *Conn) failedStream(s *streamRecord, e *Error) {
	if s.silent {
		return
	}
	s.silent = true
	e.Answered = s.answered
	e.NotProcessed = !s.answered && (e.NotProcessed || c.neverLeft(s))
	c.events.push(Event{Kind: StreamError, Stream: s.id, Err: e})
}

// endByPeer ends s because the peer reset it, or will not process it.
func (c *Conn) endByPeer(s *streamRecord, e *Error) {
	switch {
	case s.state == stream.Idle:
		c.queue.remove(s)
		c.dropIdle(s, e)
		return
	case s.state.Closed():
		return // its response is complete, and only not read yet
	}
	c.failedStream(s, e)
	c.move(s, stream.RecvReset)
	c.release(s)
}

// dropIdle ends a stream that has left the queue without its head having been sent.
func (c *Conn) dropIdle(s *streamRecord, e *Error) {
	c.failedStream(s, e)
	c.release(s)
}

// resetStream ends s by an error of this side's finding.
func (c *Conn) resetStream(s *streamRecord, code frame.ErrCode, reason string) {
	c.resetStreamWith(s, &Error{Code: code, Stream: s.id, Reason: reason})
}

func (c *Conn) resetStreamWith(s *streamRecord, e *Error) {
	c.queueReset(s.id, e.Code)
	c.failedStream(s, e)
	c.move(s, stream.SendReset)
	c.release(s)
}

// streamFault ends s for an error of the peer's: RST_STREAM with code; other streams go on. RFC 9113, Section 5.4.2.
func (c *Conn) streamFault(s *streamRecord, code frame.ErrCode, reason string) {
	c.resetStream(s, code, reason)
	if !c.faults.add(c.now) {
		c.fail(frame.EnhanceYourCalm, "too many streams failed by an error of the peer's")
	}
}

// malformed ends s because its response is malformed. RFC 9113, Section 8.1.1 (9113-8.1.1-3).
func (c *Conn) malformed(s *streamRecord, reason string) {
	c.streamFault(s, frame.ProtocolError, "malformed response: "+reason)
}

// frameFault handles an error that the codec found.
func (c *Conn) frameFault(err error) {
	e := err.(*frame.Error)
	if e.Stream == 0 {
		c.fail(e.Code, e.Reason)
		return
	}
	c.streamFrameFault(e)
}

// streamFrameFault handles a stream error of the codec's, which only a stream that lives can have: on an idle stream
// RST_STREAM may not be sent, so that it is an error of the connection (9113-6.3-2), and on a closed one it is late.
func (c *Conn) streamFrameFault(e *frame.Error) {
	s, state := c.lookup(e.Stream)
	switch {
	case state == stream.Idle || s != nil && s.state == stream.Idle:
		c.fail(e.Code, e.Reason)
	case s == nil || state.Closed():
		c.glitch(1)
	default:
		c.streamFault(s, e.Code, e.Reason)
	}
}

// checkReplies bounds what is queued in answer to the peer. RFC 9113, Section 10.5 (9113-10.5-4). Resets are not
// counted: there is one for each stream that was opened at most, and for each of maxPromises.
func (c *Conn) checkReplies() {
	if c.out.settingsAcks+len(c.out.pingAcks) > maxControlReplies {
		c.fail(frame.EnhanceYourCalm, "too many frames to answer, and the peer does not read")
	}
}

func (c *Conn) limitText() string { return strconv.Itoa(c.headerListLimit()) + " octets" }

// faultWindow counts faults in the present period.
type faultWindow struct {
	start time.Time
	n     int
}

func (w *faultWindow) add(now time.Time) bool {
	if now.Sub(w.start) > faultPeriod {
		*w = faultWindow{start: now}
	}
	w.n++
	return w.n <= maxFaults
}
