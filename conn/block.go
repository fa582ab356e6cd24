package conn

import (
	"strconv"
	"strings"

	"example.com/h2flow/frame"
	"example.com/h2flow/stream"
)

// fieldBlock is the field block being received: HEADERS or PUSH_PROMISE and the CONTINUATION frames that follow.
//
// Model: every block is decoded to its end, whoever it is for, or the compression tables would part ways. RFC 9113,
// Section 4.3 (9113-4.3-2). Once the section is too large or malformed its fields are no longer kept. The first thing
// found wrong is the one reported.
type fieldBlock struct {
	active    bool
	id        frame.StreamID // of the frames
	promised  frame.StreamID // PUSH_PROMISE: the stream to refuse
	s         *streamRecord  // nil: decoded for the table alone
	endStream bool
	hdr       frame.Header // of the first frame, for the trace

	frames int
	empty  int
	octets int // of the frames' payloads

	emit   func(frame.Field) bool // Conn.emitField, made once
	fields []frame.Field          // regular fields; the array is used again
	size   int                    // octets of the section so far
	count  int                    // field lines so far

	status    string
	hasStatus bool
	length    string // of content-length
	hasLength bool
	malformed string // why the section is malformed
	tooLarge  bool
}

// roomInBlock checks the limits of a field block when the header of one of its frames has been read.
func (c *Conn) roomInBlock(h frame.Header) bool {
	b := &c.block
	frames, octets, empty := 1, int(h.Length), 0
	if b.active {
		frames, octets, empty = b.frames+1, b.octets+int(h.Length), b.empty
	}
	if h.Length == 0 {
		empty++
	}
	limit := c.headerListLimit()
	switch {
	case frames > maxBlockFramesBase+(limit+16383)/16384:
		c.fail(frame.EnhanceYourCalm, "a field block of more than "+strconv.Itoa(frames-1)+" frames")
	case empty > maxEmptyBlockFrames:
		c.fail(frame.EnhanceYourCalm, "a field block with too many empty frames")
	case octets > blockFactor*limit+blockSlack:
		c.fail(frame.EnhanceYourCalm, "a field block far longer than its section may be")
	default:
		b.frames, b.octets, b.empty = frames, octets, empty
		return true
	}
	return false
}

// beginBlock starts a block for s, or for nobody.
func (c *Conn) beginBlock(h frame.Header, s *streamRecord) {
	b := &c.block
	*b = fieldBlock{
		active: true, id: h.Stream, s: s, hdr: h, endStream: h.Flags.Has(frame.FlagEndStream),
		frames: b.frames, octets: b.octets, empty: b.empty, emit: b.emit, fields: b.fields[:0],
	}
	if s != nil && s.phase == stream.AwaitingHead {
		b.size = s.interimSize
	}
}

// recvHeaders handles a HEADERS frame.
func (c *Conn) recvHeaders(h frame.Header, payload []byte) {
	f, err := frame.ParseHeaders(h, payload)
	if err != nil {
		c.frameFault(err)
		return
	}
	c.pings.PeerSpoke()
	s, state := c.lookup(h.Stream)
	if !c.admit(s, state, stream.RecvHeaders, h) {
		if c.life >= closing {
			return
		}
		s = nil
	}
	c.beginBlock(h, s)
	c.decode(f.Fragment, f.EndHeaders)
}

// recvContinuation handles a CONTINUATION frame.
func (c *Conn) recvContinuation(h frame.Header, payload []byte) {
	f, err := frame.ParseContinuation(h, payload)
	if err != nil {
		c.frameFault(err)
		return
	}
	// CONTINUATION continues an open block and nothing else. RFC 9113, Section 6.10 (9113-6.10-3).
	if !c.block.active {
		c.fail(frame.ProtocolError, "CONTINUATION without a field block to continue")
		return
	}
	c.decode(f.Fragment, f.EndHeaders)
}

// decode takes the next fragment of the block.
func (c *Conn) decode(fragment []byte, last bool) {
	b := &c.block
	err := c.cfg.Decoder.Decode(fragment, b.emit)
	if err == nil && last {
		err = c.cfg.Decoder.EndBlock()
	}
	if err != nil {
		// RFC 9113, Section 4.3 (9113-4.3-3): whatever the stream, it is an error of the connection.
		c.failWith(&Error{Code: frame.CompressionError, Scope: ScopeConnection, Reason: "field block does not decode", Err: err})
		return
	}
	if !last {
		return
	}
	b.active = false
	if c.cfg.OnFrame != nil {
		c.cfg.OnFrame(FrameTrace{Now: c.now, Header: b.hdr, Fields: b.traceFields()})
	}
	switch {
	case b.promised != 0:
		c.refusePromise(b.promised)
	case b.s != nil:
		c.endSection(b.s)
	}
	b.s = nil
}

func (b *fieldBlock) traceFields() []frame.Field {
	if !b.hasStatus {
		return b.fields
	}
	return append([]frame.Field{{Name: ":status", Value: b.status}}, b.fields...)
}

// emitField takes one decoded field line; false ends the keeping of fields for this block.
func (c *Conn) emitField(f frame.Field) bool {
	b := &c.block
	if b.s == nil {
		return c.cfg.OnFrame != nil && b.keep(f, c.headerListLimit())
	}
	if !b.keep(f, c.headerListLimit()) {
		b.tooLarge = true
		return false
	}
	if b.malformed == "" {
		b.malformed = b.check(f)
	}
	return b.malformed == ""
}

// keep counts f against the limits, before anything of it is stored.
func (b *fieldBlock) keep(f frame.Field, limit int) bool {
	b.size += fieldSize(f)
	b.count++
	if b.size > limit || b.count > maxFields {
		return false
	}
	if !strings.HasPrefix(f.Name, ":") {
		b.fields = append(b.fields, f)
	}
	return true
}

// check applies the rules for one received field line and says what is wrong with it. Any violation makes the message
// malformed. RFC 9113, Section 8.1.1.
func (b *fieldBlock) check(f frame.Field) string {
	if strings.HasPrefix(f.Name, ":") {
		return b.checkPseudo(f)
	}
	switch {
	case !allIn(f.Name, &nameChars):
		return "invalid field name " + strconv.Quote(f.Name)
	case !validValue(f.Value):
		return "invalid value of field " + f.Name
	// No connection-specific field, and TE in requests alone. RFC 9113, Section 8.2.2 (9113-8.2.2-2, 9113-8.2.2-4).
	case connectionSpecific(f.Name), f.Name == "te":
		return "connection-specific field " + f.Name
	case f.Name == "content-length":
		if b.hasLength {
			return "content-length twice"
		}
		b.length, b.hasLength = f.Value, true
	}
	return ""
}

// checkPseudo knows one pseudo-header field, :status, which comes before all regular fields and once. RFC 9113,
// Sections 8.3, 8.3.2 (9113-8.3-2, 9113-8.3-3, 9113-8.3-5, 9113-8.3-6).
func (b *fieldBlock) checkPseudo(f frame.Field) string {
	switch {
	case f.Name != ":status":
		return "pseudo-header field " + strconv.Quote(f.Name) + " in a response"
	case b.hasStatus:
		return ":status twice"
	case len(b.fields) > 0:
		return ":status after a regular field"
	}
	b.status, b.hasStatus = f.Value, true
	return ""
}
