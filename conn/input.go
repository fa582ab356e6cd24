package conn

import (
	"slices"
	"time"

	"example.com/h2flow/frame"
)

// input is the parser's place in the octets that arrive.
//
// Model: p is what the caller has lent and is not parsed yet. A frame other than DATA is parsed whole: in place if it
// lies in p, else gathered in part. DATA is handed on as it arrives (data), and what nobody wants is passed over (skip).
type input struct {
	p    []byte
	part []byte // a header or a payload of which the rest is still to come

	inPayload bool
	hdr       frame.Header
	want      uint32 // octets of the payload to gather; the rest of it is skipped

	skip uint32
	data dataFrame
	run  DataRun // of the last DATA frame that was wanted and has no padding
}

// next takes the next n octets, which are there. Once all are taken, nothing of what was lent is referred to.
func (in *input) next(n int) []byte {
	octets := in.p[:n]
	if in.p = in.p[n:]; len(in.p) == 0 {
		in.p = nil
	}
	return octets
}

// Feed lends the connection the octets p that arrived at now, in any chunking. p must stay unchanged until NextEvent
// has returned None; feeding again before that is a bug of the caller and panics.
func (c *Conn) Feed(now time.Time, p []byte) {
	if len(c.input.p) > 0 {
		panic("h2flow: bug: Feed before NextEvent has returned None")
	}
	c.touch(now)
	if c.life >= closing {
		return // whatever follows a connection error is not processed (9113-5.4.1-4)
	}
	if len(p) > 0 {
		c.lastRecv = c.now
	}
	c.input.p = p
}

// Pending reports whether octets that were fed, or events, wait for NextEvent.
func (c *Conn) Pending() bool { return len(c.input.p) > 0 || c.events.len() > 0 }

// NextEvent parses on until something happened and returns it; None means that everything fed was processed. What
// the event borrows is valid until the next call.
func (c *Conn) NextEvent() Event {
	for {
		if c.events.len() > 0 {
			return c.events.pop()
		}
		if len(c.input.p) == 0 {
			return Event{}
		}
		if ev, ok := c.step(); ok {
			return ev
		}
	}
}

// step parses one piece: a header, a payload, or a stretch of DATA. Events other than DATA go through the queue.
func (c *Conn) step() (Event, bool) {
	in := &c.input
	switch {
	case in.skip > 0:
		n := min(in.skip, uint32(len(in.p)))
		in.skip -= n
		in.next(int(n))
	case in.data.active:
		return c.stepData()
	case in.inPayload:
		if payload, ok := in.take(int(in.want)); ok {
			in.inPayload = false
			in.skip = in.hdr.Length - in.want
			c.framePayload(in.hdr, payload)
		}
	default:
		if octets, ok := in.take(frame.HeaderLen); ok {
			h, _ := frame.ParseHeader(octets)
			c.frameHeader(h)
		}
	}
	return Event{}, false
}

// take returns the next n octets in one piece, or gathers what there is and reports false. The result is valid until
// the next call.
func (in *input) take(n int) ([]byte, bool) {
	if len(in.part) == 0 && len(in.p) >= n {
		return in.next(n), true
	}
	k := min(n-len(in.part), len(in.p))
	in.part = append(in.part, in.next(k)...)
	if len(in.part) < n {
		return nil, false
	}
	octets := in.part
	if cap(in.part) <= maxKeptPart {
		in.part = in.part[:0]
	} else {
		in.part = nil
	}
	return octets, true
}

// maxKeptPart is the size of the gathering buffer that is kept between frames, in octets.
const maxKeptPart = 1 << 10

// frameHeader judges a header and decides how the payload is read.
func (c *Conn) frameHeader(h frame.Header) {
	in := &c.input
	if !c.peer.seen && (h.Type != frame.TypeSettings || h.Flags.Has(frame.FlagAck)) {
		c.failPreface(h)
		return
	}
	// A field block is one uninterrupted run of frames: neither another type nor another stream may come in between,
	// unknown types included. RFC 9113, Sections 4.3, 6.2, 6.10 (9113-6.2-1, 9113-6.10-1, 9113-5.5-2).
	if c.block.active && (h.Type != frame.TypeContinuation || h.Stream != c.block.id) {
		c.fail(frame.ProtocolError, h.Type.String()+" frame within a field block")
		return
	}
	if err := frame.CheckHeader(h, c.cfg.MaxReadFrameSize); err != nil {
		c.headerFault(h, err.(*frame.Error))
		return
	}
	switch h.Type {
	case frame.TypeData:
		c.traceRecv(h, nil)
		c.beginData(h)
		return
	case frame.TypeHeaders, frame.TypeContinuation, frame.TypePushPromise:
		if !c.roomInBlock(h) {
			return
		}
		in.want = h.Length
	case frame.TypeSettings:
		if h.Length > maxSettings*6 {
			c.fail(frame.EnhanceYourCalm, "more than 32 settings in one frame")
			return
		}
		in.want = h.Length
	case frame.TypeGoAway:
		in.want = min(h.Length, 8+maxDebugData)
	case frame.TypePriority, frame.TypeRSTStream, frame.TypePing, frame.TypeWindowUpdate:
		in.want = h.Length
	case frame.TypeAltSvc, frame.TypeOrigin:
		if h.Length > maxExtensionPayload {
			c.skipFrame(h)
			return
		}
		in.want = h.Length
	default:
		// Frames of unknown type are discarded, on any stream in any state. RFC 9113, Section 4.1 (9113-4.1-2).
		c.skipFrame(h)
		return
	}
	in.hdr, in.inPayload = h, true
	if in.want == 0 { // nothing more has to arrive
		in.inPayload = false
		in.skip = h.Length
		c.framePayload(h, nil)
	}
}

// skipFrame passes over a frame that means nothing here.
func (c *Conn) skipFrame(h frame.Header) {
	c.traceRecv(h, nil)
	c.input.skip = h.Length
	c.glitch(1)
}

// headerFault handles a frame whose nine octets break a rule.
func (c *Conn) headerFault(h frame.Header, e *frame.Error) {
	// A stream may be failed alone only if its frame can be passed over without losing count of anything; an oversized
	// DATA frame still counts against the window, so the connection fails. RFC 9113, Section 5.4.2 allows it.
	if e.Stream == 0 || h.Length > c.cfg.MaxReadFrameSize || h.Type == frame.TypeData {
		c.fail(e.Code, e.Reason)
		return
	}
	c.traceRecv(h, nil)
	c.input.skip = h.Length
	c.streamFrameFault(e)
}

// framePayload dispatches a whole frame.
func (c *Conn) framePayload(h frame.Header, payload []byte) {
	if c.cfg.OnFrame != nil && !isBlockFrame(h.Type) {
		c.traceRecv(h, payload)
	}
	switch h.Type {
	case frame.TypeHeaders:
		c.recvHeaders(h, payload)
	case frame.TypeContinuation:
		c.recvContinuation(h, payload)
	case frame.TypePushPromise:
		c.recvPushPromise(h, payload)
	case frame.TypePriority:
		c.glitch(1) // obsolete: parsed for its length alone (9113-5.3.2-1, 9113-5.1-20)
	case frame.TypeRSTStream:
		c.recvReset(h, payload)
	case frame.TypeSettings:
		c.recvSettings(h, payload)
	case frame.TypePing:
		c.recvPing(h, payload)
	case frame.TypeGoAway:
		c.recvGoAway(h, payload)
	case frame.TypeWindowUpdate:
		c.recvWindowUpdate(h, payload)
	case frame.TypeAltSvc:
		c.recvExtension(AltSvc, h, payload)
	case frame.TypeOrigin:
		c.recvExtension(Origins, h, payload)
	}
}

// recvExtension hands ALTSVC and ORIGIN on; the one is optional (RFC 7838, Section 4), the other means nothing on a
// stream (RFC 8336, Section 2.1).
func (c *Conn) recvExtension(kind EventKind, h frame.Header, payload []byte) {
	if !c.glitch(1) || kind == Origins && h.Stream != 0 {
		return
	}
	c.events.push(Event{Kind: kind, Stream: h.Stream, Data: payload})
}

func isBlockFrame(t frame.Type) bool {
	return t == frame.TypeHeaders || t == frame.TypeContinuation || t == frame.TypePushPromise
}

func (c *Conn) traceRecv(h frame.Header, payload []byte) {
	if c.cfg.OnFrame != nil {
		c.cfg.OnFrame(FrameTrace{Now: c.now, Header: h, Payload: payload})
	}
}

// glitch charges something legal but useless to the connection's budget. It reports false if the connection is over
// with it.
func (c *Conn) glitch(cost float64) bool {
	if c.life < closing && !c.glitches.spend(c.now, cost) {
		c.fail(frame.EnhanceYourCalm, "too many frames that serve no purpose")
	}
	return c.life < closing
}

// eventQueue holds events until NextEvent takes them.
type eventQueue struct {
	list []Event
	head int
}

func (q *eventQueue) len() int { return len(q.list) - q.head }

func (q *eventQueue) push(ev Event) { q.list = append(q.list, ev) }

// drop takes the events of stream id out.
func (q *eventQueue) drop(id frame.StreamID) {
	if q.len() > 0 {
		q.list = append(q.list[:0], slices.DeleteFunc(q.list[q.head:], func(ev Event) bool { return ev.Stream == id })...)
		q.head = 0
	}
}

func (q *eventQueue) pop() Event {
	ev := q.list[q.head]
	q.list[q.head] = Event{}
	q.head++
	if q.head == len(q.list) {
		q.list, q.head = q.list[:0], 0
	}
	return ev
}

// TakeEvent returns the next event that has already happened, without parsing any further; ok is false if there is
// none. It is for callers who stop in the middle of what was fed.
func (c *Conn) TakeEvent() (ev Event, ok bool) {
	if c.events.len() == 0 {
		return Event{}, false
	}
	return c.events.pop(), true
}
