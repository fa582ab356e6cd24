package conn

import (
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/stream"
)

// UpdatePriority tells the peer a new priority of stream id by PRIORITY_UPDATE: value is what a priority field would
// hold, in ASCII. It reports whether it will: not for a stream whose head has not left or that is over, and not to a
// peer whose SETTINGS do not say that it looks at the extensible priorities. See RFC 9218, Section 7.1.
func (c *Conn) UpdatePriority(now time.Time, id frame.StreamID, value string) bool {
	c.touch(now)
	s := c.streams[id]
	switch {
	case c.life >= closing || s == nil || s.state == stream.Idle || !s.state.CanReceive():
		return false
	// Once the first SETTINGS have come without the parameter, or with the value 0, the frames are likely to be ignored
	// and should not be sent. RFC 9218, Section 2.1.1.
	case c.peer.seen && !c.peer.noOldPriorities:
		return false
	// It has to fit into a frame that every peer takes; no priority comes near that.
	case len(value) > frame.MinMaxFrameSize/2:
		return false
	}
	s.priority = value
	if !s.priorityDue {
		s.priorityDue = true
		c.out.wishes = append(c.out.wishes, wish{outPriority, id})
	}
	return true
}

// priorityUpdate appends the frame if the stream still is there to be prioritised.
func (p *packer) priorityUpdate(id frame.StreamID) {
	s := p.c.streams[id]
	if s == nil || !s.priorityDue {
		return
	}
	s.priorityDue = false
	if !s.state.CanReceive() {
		return
	}
	before := len(p.dst)
	p.dst = frame.PriorityUpdate{Prioritized: id, Value: []byte(s.priority)}.AppendTo(p.dst)
	p.c.traceTail(p.dst, len(p.dst)-before-frame.HeaderLen)
}
