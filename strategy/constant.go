package strategy

import (
	"time"

	"example.com/h2flow/flow"
)

// constant keeps both windows at a constant size, giving back what was consumed once enough of it is due.
//
// Model: for each level, size is the window and hold the octets that must be due before they are granted, at least 1.
// A window plus what is unread never exceeds size, so a grant of what is due cannot overflow. open holds the streams
// that may still receive; a grant on any other would be a frame for nothing.
type constant struct {
	stream, conn level
	open         map[uint32]struct{}
}

// level is one constant window.
type level struct {
	size, hold int64
}

// due is what should be granted now, or 0.
func (l level) due(o flow.Offsets) int64 {
	if n := o.Due(l.size); n >= l.hold {
		return n
	}
	return 0
}

var _ flow.Strategy = (*constant)(nil)

func newConstant(stream, conn level) *constant {
	return &constant{stream: stream, conn: conn, open: make(map[uint32]struct{})}
}

// Open returns the two sizes.
func (c *constant) Open(time.Time) flow.Windows {
	return flow.Windows{Stream: c.stream.size, Conn: c.conn.size}
}

// Decide grants what is due on the stream that the event is about and on the connection.
func (c *constant) Decide(_ time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	switch ev.Kind {
	case flow.StreamOpened:
		c.open[ev.Stream] = struct{}{}
	case flow.StreamClosed:
		delete(c.open, ev.Stream)
	case flow.ResponseHead, flow.Received:
		if ev.End {
			delete(c.open, ev.Stream)
		}
	case flow.ActionRefused:
		// What is due stays due; answering a refusal with the same grant would be refused again.
		return dst
	}
	if n := c.stream.due(ev.StreamWindow); n > 0 && ev.Stream != 0 {
		if _, ok := c.open[ev.Stream]; ok {
			dst = append(dst, flow.GrantStream(ev.Stream, n))
		}
	}
	if n := c.conn.due(ev.ConnWindow); n > 0 {
		dst = append(dst, flow.GrantConn(n))
	}
	return dst
}

// Deadline is never: nothing becomes due by the passing of time.
func (c *constant) Deadline() time.Time { return time.Time{} }
