package conn

import (
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/stream"
)

// output is what is to be sent. AppendOutput packs it in this order: acknowledgements of SETTINGS, answers to PING,
// resets; what strategies and liveness asked for, in the order in which they did; request heads, by their turn; ends of
// streams; GOAWAY. DATA comes after all of it.
type output struct {
	prefaceSent  bool
	goAway       bool
	goAwayCode   frame.ErrCode
	settingsAcks int
	pingAcks     [][8]byte
	resets       []frame.RSTStream
	wishes       []wish
	ends         []frame.StreamID // streams to end by an empty DATA frame or by trailers

	total     int64 // octets packed so far
	written   int64 // octets that left the process
	cut       bool  // the transport failed: octets that did not leave never will
	pingCount uint64
	block     []byte // scratch for field blocks that need CONTINUATION
}

// A wish is one frame that somebody asked for; what it says is kept where it belongs.
type wish struct {
	kind   outKind
	stream frame.StreamID
}

type outKind uint8

const (
	outSettings    outKind = iota // the first of Conn.ownSettings that was not packed
	outPing                       // the first of Conn.outstanding that was not packed
	outGrantConn                  // Conn.connGrant
	outGrantStream                // streamRecord.pendingGrant
	outPriority                   // streamRecord.priority
)

func (o *output) add(kind outKind) { o.wishes = append(o.wishes, wish{kind: kind}) }

// HasOutput reports whether AppendOutput has something to pack.
func (c *Conn) HasOutput() bool {
	o := &c.out
	if c.life >= closing {
		return c.life == closing
	}
	return o.owesReplies() || len(o.wishes) > 0 || len(o.ends) > 0 || o.goAway || c.slotFree()
}

// owesReplies reports whether acknowledgements or resets are still to be packed.
func (o *output) owesReplies() bool {
	return o.settingsAcks > 0 || len(o.pingAcks) > 0 || len(o.resets) > 0
}

// Written says that total octets, counted from the beginning, have left the process. A stream whose head had not left
// when the transport fails is safe to send again.
func (c *Conn) Written(total int64) { c.out.written = total }

// Packed is the number of octets that were packed for sending so far, DATA included.
func (c *Conn) Packed() int64 { return c.out.total }

// AppendOutput appends to dst what is to be sent and returns the extended slice. It stops at the frame with which it
// has appended max octets or more; HasOutput then says that there is more.
func (c *Conn) AppendOutput(now time.Time, dst []byte, max int) []byte {
	c.touch(now)
	if c.life == dead {
		return dst
	}
	p := packer{c: c, dst: dst, start: len(dst), max: max}
	p.pack()
	c.out.total += int64(len(p.dst) - p.start)
	return p.dst
}

// A packer is one run of AppendOutput.
type packer struct {
	c     *Conn
	dst   []byte
	start int
	max   int
}

func (p *packer) full() bool { return len(p.dst)-p.start >= p.max }

func (p *packer) pack() {
	c := p.c
	if c.life == closing && c.err == nil {
		p.replies() // what was owed when the last stream ended
	}
	if c.life < closing {
		p.preface()
		p.replies()
		p.wishes()
		p.streams()
	}
	if c.out.goAway && !p.full() {
		p.goAway()
	}
	if c.life == closing && !c.out.goAway && !c.out.owesReplies() {
		c.life = dead
	}
}

// preface appends the connection preface: the magic and our first SETTINGS, before anything else. RFC 9113,
// Section 3.4 (9113-3.4-1, 9113-3.4-2).
func (p *packer) preface() {
	o := &p.c.out
	if o.prefaceSent {
		return
	}
	o.prefaceSent = true
	p.dst = append(p.dst, frame.ClientPreface...)
	p.settings()
	o.wishes = append(o.wishes[:0], o.wishes[1:]...) // the first wish was those SETTINGS
}

// replies appends the acknowledgements and resets. An acknowledgement of SETTINGS leaves at once, before anything that
// depends on the new values (9113-6.5.3-3); answers to PING come before other frames (9113-6.7-3).
func (p *packer) replies() {
	c, o := p.c, &p.c.out
	for ; o.settingsAcks > 0 && !p.full(); o.settingsAcks-- {
		p.dst = frame.AppendSettingsAck(p.dst)
		c.traceSent(frame.Header{Type: frame.TypeSettings, Flags: frame.FlagAck}, nil, nil)
	}
	n := 0
	for ; n < len(o.pingAcks) && !p.full(); n++ {
		p.dst = frame.AppendPing(p.dst, true, o.pingAcks[n])
		c.traceSent(frame.Header{Type: frame.TypePing, Flags: frame.FlagAck, Length: 8}, o.pingAcks[n][:], nil)
	}
	o.pingAcks = append(o.pingAcks[:0], o.pingAcks[n:]...)
	n = 0
	for ; n < len(o.resets) && !p.full(); n++ {
		r := o.resets[n]
		p.dst = frame.AppendRSTStream(p.dst, r.Stream, r.Code)
		c.traceTail(p.dst, 4)
	}
	o.resets = append(o.resets[:0], o.resets[n:]...)
}

// wishes appends SETTINGS, PING and WINDOW_UPDATE in the order in which they were asked for.
func (p *packer) wishes() {
	c, o := p.c, &p.c.out
	n := 0
	for ; n < len(o.wishes) && !p.full(); n++ {
		switch w := o.wishes[n]; w.kind {
		case outSettings:
			p.settings()
		case outPing:
			p.ping()
		case outGrantConn:
			p.windowUpdate(0, c.connGrant)
			c.connGrant = 0
		case outPriority:
			p.priorityUpdate(w.stream)
		case outGrantStream:
			if s := c.streams[w.stream]; s != nil && s.pendingGrant > 0 {
				// Nothing but PRIORITY is sent on a closed stream. RFC 9113, Section 5.1 (9113-5.1-11).
				if s.state.CanReceive() {
					p.windowUpdate(w.stream, s.pendingGrant)
				}
				s.pendingGrant = 0
			}
		}
	}
	o.wishes = append(o.wishes[:0], o.wishes[n:]...)
}

// windowUpdate is the only place that makes a WINDOW_UPDATE frame, from grants of the strategy that Conn.act accepted.
func (p *packer) windowUpdate(id frame.StreamID, n int64) {
	for n > 0 { // accepted grants may add up to more than one frame can say
		inc := min(n, flow.MaxWindow)
		p.dst = frame.AppendWindowUpdate(p.dst, id, uint32(inc))
		p.c.traceTail(p.dst, 4)
		n -= inc
	}
	p.c.pings.FrameSent()
}

func (p *packer) settings() {
	c := p.c
	for i := range c.ownSettings {
		s := &c.ownSettings[i]
		if !s.at.IsZero() {
			continue
		}
		s.at = c.now
		if i == 0 {
			c.setTimer(timerSettings, c.cfg.SettingsTimeout)
		}
		if s.question {
			c.expectSign()
		}
		before := len(p.dst)
		p.dst = frame.MakeSettings(s.settings...).AppendTo(p.dst)
		c.traceTail(p.dst, len(p.dst)-before-frame.HeaderLen)
		return
	}
}

func (p *packer) ping() {
	c := p.c
	for i := range c.outstanding {
		ping := &c.outstanding[i]
		if !ping.at.IsZero() {
			continue
		}
		ping.at = c.now
		p.dst = frame.AppendPing(p.dst, false, ping.data)
		c.traceTail(p.dst, 8)
		if ping.purpose.budgeted() {
			c.pings.Sent(c.now)
		}
		switch ping.purpose {
		case pingProbe:
			c.tell(nil, flow.Event{Kind: flow.PingSent})
		case pingLiveness:
			c.expectSign()
		}
		return
	}
}

// streams appends heads and ends, and what both bring: a stream that ends frees a slot, and the strategy may grant.
func (p *packer) streams() {
	for {
		p.heads()
		p.wishes()
		p.ends()
		if p.full() || !p.c.slotFree() && len(p.c.out.wishes) == 0 {
			return
		}
	}
}

// heads appends request heads while there are slots.
func (p *packer) heads() {
	for p.c.slotFree() && !p.full() {
		s := p.c.queue.pop()
		p.head(s)
	}
}

func (p *packer) head(s *streamRecord) {
	c := p.c
	// The initial send window of the stream is the peer's; the receive window is ours in force.
	c.maxOpened = s.id
	p.fieldBlock(s.id, s.fields, s.endWanted)
	s.fields = nil
	s.headersEnd = c.out.total + int64(len(p.dst)-p.start)
	s.progress, s.asked = c.now, c.now
	c.updates = min(c.updates+updatesPerStream, maxUpdates)
	c.move(s, stream.SendHeaders)
	if s.endWanted {
		c.move(s, stream.SendEndStream)
	}
	if s.trailersReady {
		c.out.ends = append(c.out.ends, s.id)
	}
	c.pings.FrameSent()
	c.events.push(Event{Kind: Opened, Stream: s.id})
	c.tell(s, flow.Event{Kind: flow.StreamOpened, Stream: uint32(s.id)})
}

// fieldBlock appends HEADERS, and CONTINUATION as needed, in one uninterrupted run. RFC 9113, Section 4.3
// (9113-4.3-1, 9113-6.2-2).
func (p *packer) fieldBlock(id frame.StreamID, fields []frame.Field, end bool) {
	c := p.c
	flags := frame.FlagEndHeaders
	if end {
		flags |= frame.FlagEndStream
	}
	at := len(p.dst)
	h := frame.Header{Type: frame.TypeHeaders, Flags: flags, Stream: id}
	p.dst = frame.AppendHeader(p.dst, h)
	for _, f := range fields {
		p.dst = c.cfg.Encoder.AppendField(p.dst, f)
	}
	h.Length = uint32(len(p.dst) - at - frame.HeaderLen)
	if h.Length <= c.peer.maxFrame {
		frame.AppendHeader(p.dst[:at], h)
		c.traceSent(h, nil, fields)
		return
	}
	p.splitBlock(at, h, fields)
}

// splitBlock rewrites a block that is longer than a frame may be.
func (p *packer) splitBlock(at int, h frame.Header, fields []frame.Field) {
	c := p.c
	c.out.block = append(c.out.block[:0], p.dst[at+frame.HeaderLen:]...)
	rest := c.out.block
	p.dst = p.dst[:at]
	h.Flags &^= frame.FlagEndHeaders
	for len(rest) > 0 {
		h.Length = min(uint32(len(rest)), c.peer.maxFrame)
		if int(h.Length) == len(rest) {
			h.Flags |= frame.FlagEndHeaders
		}
		p.dst = append(frame.AppendHeader(p.dst, h), rest[:h.Length]...)
		c.traceSent(h, nil, fields)
		rest = rest[h.Length:]
		h.Type, h.Flags, fields = frame.TypeContinuation, 0, nil
	}
	if cap(c.out.block) > 64<<10 {
		c.out.block = nil
	}
}

// ends appends the ends of streams: an empty DATA frame, which needs no window, or trailers.
func (p *packer) ends() {
	c, o := p.c, &p.c.out
	var later []frame.StreamID
	for _, id := range o.ends {
		s := c.streams[id]
		switch {
		case s == nil || s.state.Closed() || s.state == stream.HalfClosedLocal:
		case p.full():
			later = append(later, id)
		case s.trailersReady:
			p.fieldBlock(id, s.trailers, true)
			s.trailers = nil
			c.pings.FrameSent()
			c.move(s, stream.SendHeaders)
			c.move(s, stream.SendEndStream)
			c.settle(s)
		default:
			p.dst = c.appendDataHeader(p.dst, id, 0, true)
			c.move(s, stream.SendData)
			c.move(s, stream.SendEndStream)
			c.settle(s)
		}
	}
	o.ends = append(o.ends[:0], later...)
}

// goAway appends GOAWAY. Its last stream speaks of the streams that the peer opened, of which none was accepted:
// always 0. RFC 9113, Section 6.8 (9113-6.8-8, 9113-6.8-9).
func (p *packer) goAway() {
	c := p.c
	c.out.goAway, c.wroteBye = false, true
	p.dst = frame.AppendGoAway(p.dst, 0, c.out.goAwayCode, nil)
	c.traceTail(p.dst, 8)
}

func (c *Conn) traceSent(h frame.Header, payload []byte, fields []frame.Field) {
	if c.cfg.OnFrame != nil {
		c.cfg.OnFrame(FrameTrace{Now: c.now, Sent: true, Header: h, Payload: payload, Fields: fields})
	}
}

// traceTail traces the frame with n octets of payload at the end of dst.
func (c *Conn) traceTail(dst []byte, n int) {
	if c.cfg.OnFrame != nil {
		payload := dst[len(dst)-n:]
		h, _ := frame.ParseHeader(dst[len(dst)-n-frame.HeaderLen:])
		c.traceSent(h, payload, nil)
	}
}
