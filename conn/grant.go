package conn

import (
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/stream"
)

// tell gives the strategy one event and carries out what it asks for. s is the stream whose window the event shows,
// nil for events of the connection.
func (c *Conn) tell(s *streamRecord, ev flow.Event) {
	if c.life >= closing {
		return
	}
	c.fill(s, &ev)
	c.actions = c.cfg.Strategy.Decide(c.now, ev, c.actions[:0])
	for _, a := range c.actions {
		if why := c.act(a); why != 0 {
			c.refused = append(c.refused, flow.Event{Kind: flow.ActionRefused, Action: a, Refusal: why, Stream: a.Stream})
		}
	}
	if len(c.refused) > 0 {
		c.tellRefused()
	}
	at := c.cfg.Strategy.Deadline()
	if ev.Kind == flow.Tick && !at.IsZero() && !at.After(c.now) {
		at = c.now.Add(minTick) // a deadline that a Tick does not move would be due again and again
	}
	c.timers.at[timerStrategy] = at
}

// minTick is the least time between two Ticks of a strategy.
const minTick = time.Millisecond

// tellRefused tells the strategy which of its actions were refused. What it asks for in return is carried out, but no
// refusal of that is told, so that it cannot go on for ever.
func (c *Conn) tellRefused() {
	for _, ev := range c.refused {
		s, _ := c.lookup(frame.StreamID(ev.Stream))
		c.fill(s, &ev)
		c.actions = c.cfg.Strategy.Decide(c.now, ev, c.actions[:0])
		for _, a := range c.actions {
			c.act(a)
		}
	}
	c.refused = c.refused[:0]
}

// fill puts the state of both windows into ev.
func (c *Conn) fill(s *streamRecord, ev *flow.Event) {
	if s != nil {
		ev.StreamWindow = s.recv.OffsetsOver(c.recvBase.Initial())
	}
	ev.ConnWindow = c.recv.Offsets()
	ev.InitialWindow = c.recvTarget
	ev.OpenStreams = c.openCount
	ev.Pings = c.pings.SinceFrame()
}

// act checks an action of the strategy and carries it out: the frame is packed with the next output.
func (c *Conn) act(a flow.Action) flow.Refusal {
	switch a.Kind {
	case flow.ActGrantConn:
		return c.grantConn(a.N)
	case flow.ActGrantStream:
		return c.grantStream(frame.StreamID(a.Stream), a.N)
	case flow.ActSetInitialWindow:
		return c.setInitialWindow(a.N)
	case flow.ActPing:
		return c.probe()
	}
	return 0
}

func (c *Conn) grantConn(n int64) flow.Refusal {
	if why := c.recv.CheckGrant(n); why != 0 {
		return why
	}
	c.recv.Grant(n)
	c.connChanged = c.now
	if c.connGrant == 0 {
		c.out.add(outGrantConn)
	}
	c.connGrant += n
	return 0
}

func (c *Conn) grantStream(id frame.StreamID, n int64) flow.Refusal {
	s, state := c.lookup(id)
	switch {
	case state == stream.Idle:
		return flow.RefusedStream // the peer would see an update for a stream that does not exist
	case s == nil || !state.CanReceive():
		return 0 // it has just ended: nothing to say any more
	}
	if why := s.recv.CheckGrantOver(c.recvBase.Initial(), n); why != 0 {
		return why
	}
	s.recv.Grant(n)
	c.recvBase.Note(s.recv.Relative())
	s.progress, s.stallReported = c.now, false
	if s.pendingGrant == 0 {
		c.out.wishes = append(c.out.wishes, wish{outGrantStream, id})
	}
	s.pendingGrant += n
	return 0
}

// setInitialWindow changes the windows of all open streams, and of those to come, by SETTINGS. A raise holds from when
// it is sent, a lowered window only from the acknowledgement: what was sent before is no error of the peer's. RFC 9113,
// Section 6.9.3 (9113-6.9.3-1).
func (c *Conn) setInitialWindow(n int64) flow.Refusal {
	if n < 0 || n > flow.MaxWindow || len(c.ownSettings) > 0 {
		return flow.RefusedInitialWindow
	}
	s := sentSettings{
		lowersTo: -1, tableSize: -1,
		settings: []frame.Setting{{ID: frame.SettingInitialWindowSize, Value: uint32(n)}},
	}
	switch {
	case n == c.recvTarget:
		return 0
	case n < c.recvBase.Initial():
		s.lowersTo = n
	case !c.raiseBase(n):
		return flow.RefusedOverflow
	}
	c.recvTarget = n
	c.ownSettings = append(c.ownSettings, s)
	c.out.add(outSettings)
	return 0
}

func (c *Conn) raiseBase(n int64) bool {
	if c.recvBase.Set(n) {
		return true
	}
	var highest int64
	for _, s := range c.streams {
		if s.state.Counts() { // the peer may look at any window, also at that of a stream which it has ended
			highest = max(highest, s.recv.Relative())
		}
	}
	c.recvBase.Tighten(highest)
	return c.recvBase.Set(n)
}

// probe queues a PING that the strategy asked for, within the budget that it shares with liveness.
func (c *Conn) probe() flow.Refusal {
	for _, p := range c.outstanding {
		if p.purpose.budgeted() {
			return flow.RefusedPingOutstanding
		}
	}
	if why := c.pings.Allow(c.now, flow.Probing); why != 0 {
		return why
	}
	c.queuePing(c.ownPing(pingProbe))
	return 0
}
