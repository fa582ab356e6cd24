package conn

import (
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/stream"
)

// timerID names a timer.
type timerID uint8

const (
	timerPreface  timerID = iota // the peer's first SETTINGS are due
	timerSettings                // the acknowledgement of our SETTINGS is due
	timerStrategy                // the strategy wants a Tick
	timerStall                   // some body may have stalled
	timerLiveness                // the peer may have been silent for too long
	timerPong                    // the answer to the PING of liveness is due
	numTimers
)

// timers are all the times that the connection waits for; the zero time means that one is not set.
type timers struct {
	at [numTimers]time.Time
}

// setTimer sets a timer to d from now; a d that is not positive means never.
func (c *Conn) setTimer(id timerID, d time.Duration) { c.setTimerAt(id, c.now, d) }

func (c *Conn) setTimerAt(id timerID, from time.Time, d time.Duration) {
	c.timers.at[id] = time.Time{}
	if d > 0 {
		c.timers.at[id] = from.Add(d)
	}
}

func (c *Conn) clearTimer(id timerID) { c.timers.at[id] = time.Time{} }

// Deadline is when Advance should be called if nothing else happens; the zero time means never.
func (c *Conn) Deadline() time.Time {
	var first time.Time
	for _, at := range c.timers.at {
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// Advance lets the timers that are due at now fire.
func (c *Conn) Advance(now time.Time) {
	c.touch(now)
	for id := range numTimers {
		if at := c.timers.at[id]; !at.IsZero() && !at.After(c.now) && c.life < closing {
			c.clearTimer(id)
			c.fire(id)
		}
	}
}

func (c *Conn) fire(id timerID) {
	switch id {
	case timerPreface:
		c.fail(frame.SettingsTimeout, "the peer sent no SETTINGS within "+c.cfg.PrefaceTimeout.String())
	case timerSettings:
		// RFC 9113, Section 6.5.3 (9113-6.5.3-5).
		c.fail(frame.SettingsTimeout, "the peer did not acknowledge SETTINGS within "+c.cfg.SettingsTimeout.String())
	case timerStrategy:
		c.tell(nil, flow.Event{Kind: flow.Tick})
	case timerStall:
		c.findStalls()
	case timerLiveness:
		c.checkLiveness()
	case timerPong:
		c.checkPong()
	}
}

// armStall sees to it that a body which may stall is looked at in time.
func (c *Conn) armStall(s *streamRecord) {
	if c.timers.at[timerStall].IsZero() && s.phase == stream.InBody && s.state.CanReceive() {
		c.setTimer(timerStall, c.cfg.StallTimeout)
	}
}

// findStalls reports the bodies that make no progress: the stream may still receive, nothing of it is unread, nothing
// came and nothing was granted. With no window left on a level the stream cannot go on and fails; with less than a
// frame left it is only reported, since the peer may be slow or wait for room for a whole frame.
func (c *Conn) findStalls() {
	var next time.Time
	for _, s := range c.sortedStreams() {
		if s.phase != stream.InBody || !s.state.CanReceive() {
			continue
		}
		due := c.checkStall(s)
		if next.IsZero() || due.Before(next) {
			next = due
		}
	}
	if c.life < closing {
		c.timers.at[timerStall] = next
	}
}

// checkStall looks at one body and returns when to look again.
func (c *Conn) checkStall(s *streamRecord) time.Time {
	timeout := c.cfg.StallTimeout
	stall := &flow.Stall{
		Stream: uint32(s.id), Since: s.progress,
		StreamWindow: s.recv.OffsetsOver(c.recvBase.Initial()), ConnWindow: c.recv.Offsets(),
	}
	if stall.StreamWindow.Window() > 0 && c.connChanged.After(stall.Since) {
		stall.Since = c.connChanged // the stream waits for the connection at most, and that moves
	}
	stall.For = c.now.Sub(stall.Since)
	if s.recv.Unread() > 0 || stall.For < timeout {
		return maxTime(stall.Since, c.now.Add(-timeout/2)).Add(timeout)
	}
	left := min(stall.StreamWindow.Window(), stall.ConnWindow.Window())
	switch {
	case left <= 0:
		c.events.push(Event{Kind: Stalled, Stream: s.id, Stall: stall})
		c.resetStreamWith(s, &Error{Code: frame.Cancel, Stream: s.id, Reason: "the body stalled", Err: stall})
	case left < frame.MinMaxFrameSize && !s.stallReported:
		s.stallReported = true
		c.events.push(Event{Kind: Stalled, Stream: s.id, Stall: stall})
	}
	return c.now.Add(timeout)
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
