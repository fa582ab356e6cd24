package conn

import (
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/stream"
)

// quota is what may be sent on s in one frame now.
func (c *Conn) quota(s *streamRecord) int {
	// DATA stays within the smaller of both windows, and within the peer's frame size; a window at or below 0 lets
	// nothing pass. RFC 9113, Sections 6.9.1, 6.9.2, 4.2 (9113-6.9.1-1, 9113-6.9.2-4, 9113-4.1-1).
	n := min(s.send.Available(c.sendBase.Initial()), c.send.Available(flow.DefaultWindow), int64(c.peer.maxFrame))
	return int(max(n, 0))
}

// SendQuota is the number of octets that AppendData would take for stream id now. If it is 0 though the stream may
// send, a Sendable event says when to ask again.
func (c *Conn) SendQuota(id frame.StreamID) int {
	s := c.streams[id]
	if s == nil || !s.state.CanSend() || s.endWanted || s.trailersReady || c.life >= closing {
		return 0
	}
	n := c.quota(s)
	if n == 0 {
		c.markBlocked(s)
	}
	return n
}

// AppendData appends to dst what has to leave before, then the header of a DATA frame of n octets on stream id, which
// the caller appends next. n must not exceed SendQuota. end closes this side of the stream.
func (c *Conn) AppendData(now time.Time, dst []byte, id frame.StreamID, n int, end bool) []byte {
	dst = c.AppendOutput(now, dst, 1<<30)
	s := c.streams[id]
	if s == nil || n > c.quota(s) && n > 0 {
		panic("h2flow: bug: AppendData beyond SendQuota")
	}
	c.move(s, stream.SendData)
	s.send.Spend(int64(n))
	c.send.Spend(int64(n))
	dst = c.appendDataHeader(dst, s.id, n, end)
	c.out.total += int64(frame.HeaderLen + n)
	if end {
		c.move(s, stream.SendEndStream)
		c.settle(s)
	}
	return dst
}

func (c *Conn) appendDataHeader(dst []byte, id frame.StreamID, n int, end bool) []byte {
	dst = frame.AppendDataHeader(dst, id, uint32(n), end)
	c.pings.FrameSent()
	c.updates = min(c.updates+updatesPerData+n/octetsPerUpdate, maxUpdates)
	if c.cfg.OnFrame != nil {
		h := frame.Header{Type: frame.TypeData, Length: uint32(n), Stream: id}
		if end {
			h.Flags = frame.FlagEndStream
		}
		c.traceSent(h, nil, nil)
	}
	return dst
}

// What a peer may send of WINDOW_UPDATE without it being a glitch: some for every DATA frame and every stream, and, since a
// frame may be large and be read in small pieces, two for every KiB, one on each level.
const (
	updatesPerData   = 10
	updatesPerStream = 2
	octetsPerUpdate  = 512
	maxUpdates       = 100000
)

// EndStream closes this side of stream id: END_STREAM leaves with the request head if that has not left, else on an
// empty DATA frame, which no window holds back (9113-6.9.1-2).
func (c *Conn) EndStream(now time.Time, id frame.StreamID) {
	c.touch(now)
	s := c.streams[id]
	if s == nil || s.endWanted || s.trailersReady {
		return
	}
	switch {
	case s.state == stream.Idle:
		s.endWanted = true
	case s.state.CanSend():
		s.endWanted = true
		c.out.ends = append(c.out.ends, id)
	}
	c.unblock(s)
}

// SendTrailers closes this side of stream id with a trailer section, lent until the stream is over. It refuses fields
// that may not be trailers, and tunnels, which have none. RFC 9113, Sections 8.1, 8.5 (9113-8.5-3).
func (c *Conn) SendTrailers(now time.Time, id frame.StreamID, fields []frame.Field) error {
	c.touch(now)
	if err := checkTrailers(fields); err != nil {
		return err
	}
	s := c.streams[id]
	if s == nil || s.endWanted || s.trailersReady || s.state != stream.Idle && !s.state.CanSend() {
		return nil
	}
	if s.tunnel {
		return &FieldError{"trailers", "may not follow a CONNECT request"}
	}
	s.trailers, s.trailersReady = fields, true
	if s.state != stream.Idle { // else they follow the head when it leaves
		c.out.ends = append(c.out.ends, id)
	}
	c.unblock(s)
	return nil
}
