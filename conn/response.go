package conn

import (
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/stream"
)

// endSection handles a whole field section of stream s: a head or trailers, by the phase of the message.
func (c *Conn) endSection(s *streamRecord) {
	b := &c.block
	switch {
	case b.tooLarge:
		// A section that is too large fails its stream alone; it was decoded to the end. RFC 9113, Section 10.5.1.
		c.resetStream(s, frame.Cancel, "the field section exceeds the limit of "+c.limitText())
	case b.malformed != "":
		c.malformed(s, b.malformed)
	case s.phase == stream.InBody:
		c.recvTrailers(s)
	default:
		c.recvHead(s)
	}
}

// recvTrailers handles the section after the body, which ends the stream and has no pseudo-header fields. RFC 9113,
// Section 8.1 (9113-8.1-4, 9113-8.1-5, 9113-8.1-12).
func (c *Conn) recvTrailers(s *streamRecord) {
	b := &c.block
	part := stream.TrailersWithoutEnd
	if b.endStream {
		part = stream.TrailersWithEnd
	}
	switch _, ok := s.phase.Next(part); {
	case s.tunnel:
		// A tunnel carries DATA alone. RFC 9113, Section 8.5 (9113-8.5-4).
		c.malformed(s, "HEADERS in a CONNECT tunnel")
	case !ok:
		c.malformed(s, "a second response head")
	case b.hasStatus:
		c.malformed(s, "a pseudo-header field in trailers")
	default:
		s.answered = true
		c.endWithout(s, Event{Kind: Trailers, Stream: s.id, Fields: b.fields, End: true})
	}
}

// recvHead handles an interim or final response head.
func (c *Conn) recvHead(s *streamRecord) {
	b := &c.block
	status, ok := parseStatus(b.status)
	if !ok {
		c.malformed(s, "no valid :status") // missing ones too (9113-8.3.2-1)
		return
	}
	if rtt := c.now.Sub(s.asked); s.interim == 0 && rtt > 0 {
		c.tell(nil, flow.Event{Kind: flow.RTTSample, Source: flow.SourcePassive, RTT: rtt})
	}
	if status < 200 {
		c.recvInterim(s, status)
		return
	}
	length := int64(-1)
	if b.hasLength {
		if length, ok = parseContentLength(b.length); !ok {
			c.malformed(s, "invalid content-length")
			return
		}
	}
	s.noContent = s.head || status == 204 || status == 304
	s.tunnel = s.connect && status < 300
	switch {
	case s.tunnel:
		length = -1 // a content-length means nothing here. RFC 9110, Section 9.3.6 (9110-9.3.6-2)
	case !s.noContent:
		s.contentLeft = length
	}
	s.progress = c.now
	ev := Event{Kind: Response, Stream: s.id, Status: status, Fields: b.fields, ContentLength: length, End: b.endStream}
	c.tell(s, flow.Event{Kind: flow.ResponseHead, Stream: uint32(s.id), N: length, End: b.endStream})
	if b.endStream {
		c.endResponse(s, ev)
		return
	}
	s.answered = true
	s.phase, _ = s.phase.Next(stream.FinalHead)
	c.armStall(s)
	c.events.push(ev)
}

// recvInterim handles a 1xx head: any number up to the limit may come, none ends the stream. RFC 9113, Section 8.1
// (9113-8.1-6, 9113-8.1-7).
func (c *Conn) recvInterim(s *streamRecord, status int) {
	b := &c.block
	if b.endStream {
		c.malformed(s, "an interim response that ends the stream")
		return
	}
	s.interim++
	s.interimSize = b.size
	if s.interim > maxInterim {
		c.streamFault(s, frame.EnhanceYourCalm, "too many interim responses")
		return
	}
	s.answered = true
	c.events.push(Event{Kind: Interim, Stream: s.id, Status: status, Fields: b.fields, ContentLength: -1})
}

// endWithout is endResponse for an end that no octets came with.
func (c *Conn) endWithout(s *streamRecord, ev Event) {
	if s.contentLeft <= 0 {
		c.tell(s, flow.Event{Kind: flow.Received, Stream: uint32(s.id), End: true})
	}
	c.endResponse(s, ev)
}

// endResponse ends the peer's side of s, which ev tells; it fails the stream instead if the body is shorter than was
// declared. RFC 9113, Section 8.1.1 (9113-8.1.1-1). The event comes first, since the stream may be the last one of a
// connection that drains.
func (c *Conn) endResponse(s *streamRecord, ev Event) {
	if !c.completeResponse(s) {
		return
	}
	s.answered = true
	c.events.push(ev)
	c.settle(s)
}

// completeResponse is endResponse without the event; the caller settles s.
func (c *Conn) completeResponse(s *streamRecord) bool {
	if s.contentLeft > 0 {
		c.malformed(s, "less content than content-length says")
		return false
	}
	s.phase = stream.Complete
	s.progress = c.now
	c.move(s, stream.RecvEndStream)
	return true
}
