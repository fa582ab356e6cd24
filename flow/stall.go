package flow

import (
	"fmt"
	"time"
)

// A Stall is a body that makes no progress for want of window: the stream may still receive, nothing of it is unread,
// and for a while nothing came and nothing was granted. It is an error value.
type Stall struct {
	// Stream is the stream that stalled.
	Stream uint32
	// Since is when it last made progress.
	Since time.Time
	// For is how long that was ago when the stall was found.
	For time.Duration
	// StreamWindow and ConnWindow are the windows of both levels at that time.
	StreamWindow Offsets
	ConnWindow   Offsets
	// Strategy describes the strategy, as its Config does, if that is known.
	Strategy string
}

// Blocked reports whether the peer can send nothing at all: one of the windows is used up.
func (s *Stall) Blocked() bool { return s.StreamWindow.Window() <= 0 || s.ConnWindow.Window() <= 0 }

// Error is String.
func (s *Stall) Error() string { return s.String() }

// String describes the stall in one line: which window has no octets left, and all offsets of both.
func (s *Stall) String() string {
	who := "the strategy"
	if s.Strategy != "" {
		who += " " + s.Strategy
	}
	stream, conn := s.StreamWindow.Window(), s.ConnWindow.Window()
	var what string
	switch {
	case stream <= 0 && conn <= 0:
		what = "no window left on the stream or the connection"
	case stream <= 0:
		what = "no window left on the stream"
	case conn <= 0:
		what = "no window left on the connection"
	default:
		what = "the peer may still send"
	}
	return fmt.Sprintf("%s granted nothing for %s: stream %d: %s: stream window %s, connection window %s",
		who, s.For, s.Stream, what, s.StreamWindow, s.ConnWindow)
}

// String tells the window and the offsets it comes from.
func (o Offsets) String() string {
	return fmt.Sprintf("%d (consumed %d, received %d, charged %d, granted %d)",
		o.Window(), o.Consumed, o.Received, o.Charged, o.Granted)
}
