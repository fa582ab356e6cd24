package conn

import (
	"errors"
	"slices"
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/stream"
)

// The reasons why a caller's wish cannot be met. None of them is an error of the protocol, and nothing was sent.
var (
	// ErrClosed: the connection is over, or takes no new streams; the request may be sent on another one.
	ErrClosed = errors.New("conn: the connection takes no new streams")
	// ErrIDsExhausted: no stream identifiers are left; the request may be sent on another connection. RFC 9113,
	// Section 5.1.1.
	ErrIDsExhausted = errors.New("conn: stream identifiers are exhausted")
	// ErrQueueFull: too many streams wait for a slot already.
	ErrQueueFull = errors.New("conn: too many streams wait for a slot")
	// ErrHeaderListTooLarge: the request head exceeds the peer's SETTINGS_MAX_HEADER_LIST_SIZE.
	ErrHeaderListTooLarge = errors.New("conn: the request head exceeds the peer's SETTINGS_MAX_HEADER_LIST_SIZE")
	// ErrExtendedConnect: the peer has not allowed the :protocol pseudo-header field. RFC 8441, Section 3.
	ErrExtendedConnect = errors.New("conn: the peer has not enabled extended CONNECT")
)

// Open begins a request whose head is fields, the pseudo-header fields first, and returns its stream. The head leaves
// with the next output if there is a slot, else in its turn: then an Opened event comes. end says that no body follows.
//
// fields are lent until the stream is over. The stream has its identifier at once; one that is reset before its head
// left skips it, which closes the identifier for good. See RFC 9113, Section 5.1.1.
func (c *Conn) Open(now time.Time, fields []frame.Field, end bool) (frame.StreamID, error) {
	c.touch(now)
	switch {
	case c.life != alive:
		return 0, ErrClosed
	case c.nextID > frame.MaxStreamID:
		return 0, ErrIDsExhausted
	case c.queue.len() >= c.cfg.MaxQueuedStreams:
		return 0, ErrQueueFull
	}
	head, err := checkRequest(fields)
	switch {
	case err != nil:
		return 0, err
	case head.extendedConnect && !c.peer.extendedConnect:
		return 0, ErrExtendedConnect
	case int64(head.size) > int64(c.peer.maxHeaderList):
		// The limit is advisory; sending more would only waste a round trip. RFC 9113, Section 6.5.2 (9113-6.5.2-11).
		return 0, ErrHeaderListTooLarge
	}
	s := c.newRecord(c.nextID)
	c.nextID += 2
	s.fields, s.endWanted = fields, end
	s.head, s.connect = head.method == "HEAD", head.method == "CONNECT" && !head.extendedConnect
	s.tunnel = false
	c.queue.push(s)
	return s.id, nil
}

// slotFree reports whether the next stream of the queue may leave. The peer's limit is never exceeded; one that was
// lowered closes nothing, and only delays new streams. RFC 9113, Section 5.1.2 (9113-5.1.2-1, 9113-5.1.2-4).
func (c *Conn) slotFree() bool {
	return c.queue.len() > 0 && c.life < closing && uint32(c.openCount) < c.MaxConcurrentStreams()
}

// Reset gives up stream id, with code for the peer. No event of the stream follows; octets of it that were not
// consumed are credited to the connection. A stream whose head has not left just leaves the queue: RST_STREAM may not
// be sent for it. RFC 9113, Section 6.4 (9113-6.4-4).
func (c *Conn) Reset(now time.Time, id frame.StreamID, code frame.ErrCode) {
	c.touch(now)
	c.events.drop(id)
	s := c.streams[id]
	if s == nil || c.life >= closing {
		return
	}
	s.silent = true
	switch {
	case s.state == stream.Idle:
		c.queue.remove(s)
		c.release(s)
	case s.state.Closed():
		c.release(s)
	default:
		c.queueReset(s.id, code)
		c.move(s, stream.SendReset)
		c.release(s)
	}
}

// queueReset queues RST_STREAM. There is one for a stream at most, since the stream is closed by it. RFC 9113,
// Section 5.4.2 (9113-5.4.2-2).
func (c *Conn) queueReset(id frame.StreamID, code frame.ErrCode) {
	c.out.resets = append(c.out.resets, frame.RSTStream{Stream: id, Code: code})
}

// dropReset takes the RST_STREAM for stream id back if it has not been packed.
func (o *output) dropReset(id frame.StreamID) {
	o.resets = slices.DeleteFunc(o.resets, func(r frame.RSTStream) bool { return r.Stream == id })
}
