package conn

import (
	"slices"
	"strconv"
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/stream"
)

// peerGoAway is what the peer's GOAWAY frames said.
type peerGoAway struct {
	received bool
	frames   int
	last     frame.StreamID
	code     frame.ErrCode
	debug    string
}

// recvGoAway handles GOAWAY: no new stream is opened, those above the last stream were not processed, the others may
// still complete. RFC 9113, Section 6.8 (9113-6.8-1 to 4).
func (c *Conn) recvGoAway(h frame.Header, payload []byte) {
	h.Length = uint32(len(payload)) // long debug data is cut
	f, err := frame.ParseGoAway(h, payload)
	if err != nil {
		c.frameFault(err)
		return
	}
	g := &c.goAway
	if g.frames++; g.frames > maxGoAwayFrames {
		c.fail(frame.EnhanceYourCalm, "too many GOAWAY frames")
		return
	}
	last := f.LastStream
	if g.received && last > g.last {
		last = g.last // a peer must not raise it; the lowest is trusted
		if !c.glitch(1) {
			return
		}
	}
	*g = peerGoAway{received: true, frames: g.frames, last: last, code: f.Code, debug: string(f.Debug)}
	if f.Code == frame.EnhanceYourCalm {
		c.pings.Calm(c.now)
	}
	c.drain()
	e := c.goAwayError()
	c.events.push(Event{Kind: GoAway, Err: e})
	c.tell(nil, flow.Event{Kind: flow.GoAway})
	for _, s := range c.sortedStreams() {
		// What waits for a slot is lost too, whatever its number: no stream is opened any more (9113-6.8-1).
		if s.id > last || s.state == stream.Idle {
			lost := *e
			lost.Stream, lost.Scope, lost.NotProcessed, lost.Answered = s.id, ScopeStream, !s.answered, s.answered
			c.endByPeer(s, &lost)
		}
	}
	c.checkDrained()
}

// goAwayError describes the peer's GOAWAY. The debug data is the peer's and untrusted: it is quoted and short.
func (c *Conn) goAwayError() *Error {
	e := &Error{
		Code: c.goAway.code, Scope: ScopeConnection, Origin: Peer, GoAway: true, LastStream: c.goAway.last,
		Reason: "GOAWAY, last stream " + strconv.FormatUint(uint64(c.goAway.last), 10), Debug: c.goAway.debug,
	}
	if c.goAway.debug != "" {
		e.Reason += ", " + strconv.QuoteToASCII(c.goAway.debug)
	}
	return e
}

// sortedStreams returns all records in order of their ids, so that what happens to all of them has an order that
// does not change from run to run.
func (c *Conn) sortedStreams() []*streamRecord {
	list := make([]*streamRecord, 0, len(c.streams))
	for _, s := range c.streams {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *streamRecord) int { return int(a.id) - int(b.id) })
	return list
}

// Shutdown ends the connection gracefully: GOAWAY leaves, no stream is opened any more, those that are open finish.
func (c *Conn) Shutdown(now time.Time) {
	c.touch(now)
	if c.life >= closing {
		return
	}
	for c.queue.len() > 0 { // they never left, so they are safe to send elsewhere
		s := c.queue.pop()
		c.dropIdle(s, &Error{Stream: s.id, Reason: "the connection shuts down", NotProcessed: true})
	}
	if !c.wroteBye {
		c.out.goAway, c.out.goAwayCode = true, frame.NoError
	}
	c.drain()
	c.checkDrained()
}

// Close ends the connection at once: every stream fails, GOAWAY is the last frame.
func (c *Conn) Close(now time.Time) {
	c.touch(now)
	if c.life >= closing {
		return
	}
	c.end(nil, &Error{Scope: ScopeConnection, Reason: "the connection was closed by this side"})
}

// Fail says that the transport failed with err: every stream fails and nothing more is sent. The caller must not write
// what was packed and does not count as Written either, since a stream whose head is in there is said to be safe to
// send again.
func (c *Conn) Fail(now time.Time, err error) {
	c.touch(now)
	c.out.cut = true
	switch c.life {
	case dead:
		return
	case closing:
		c.life = dead
		return
	}
	e := &Error{Code: frame.InternalError, Scope: ScopeConnection, Reason: "the transport failed", Err: err}
	switch {
	case c.goAway.received:
		e = c.goAwayError()
		e.Err = err
	case !c.peer.seen:
		e.Reason = "the transport failed before the peer's SETTINGS came; perhaps it does not speak HTTP/2 there"
	}
	c.end(e, e)
	c.life = dead
}

func (c *Conn) drain() {
	if c.life == alive {
		c.life = draining
	}
}

// checkDrained ends a connection that takes no new streams when its last one is over. GOAWAY comes first, unless it
// has been sent. RFC 9113, Section 6.8 (9113-6.8-5, 9113-6.8-6).
func (c *Conn) checkDrained() {
	if c.life != draining || c.queue.len() > 0 {
		return
	}
	for _, s := range c.streams {
		if !s.state.Closed() {
			return
		}
	}
	c.end(nil, nil)
}
