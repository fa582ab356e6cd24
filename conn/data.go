package conn

import (
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/stream"
)

// dataFrame is the DATA frame being received.
type dataFrame struct {
	active  bool
	end     bool // END_STREAM
	padded  bool // the pad length octet is still to come
	length  uint32
	left    uint32 // octets of data to come
	padding uint32 // octets of padding to come, after the data
	id      frame.StreamID
	s       *streamRecord // nil: the octets are discarded
}

// A DataRun says where the parser stands in DATA frames that follow one another.
type DataRun struct {
	// Stream is the stream of the frame that is being received, if it is DATA that somebody wants and has no padding,
	// or of the last frame, if that was. Otherwise it is 0, and so is the rest.
	Stream frame.StreamID
	// Left is how many octets of its payload are still to come.
	Left uint32
	// Length is its whole payload, in octets.
	Length uint32
	// Lengths are the lengths of up to 64 frames of the run, the last of them last. They are borrowed until the next Feed.
	Lengths []uint32
	// Header is how many octets of the next frame's header are still to come, once Left is 0.
	Header int
}

// DataRun returns where the parser stands, once everything that was fed is processed. It serves callers who want to read
// a body to where it is wanted: the next Left octets that are fed belong to it.
func (c *Conn) DataRun() DataRun {
	in := &c.input
	switch d := &in.data; {
	case in.skip > 0 || in.inPayload || len(in.p) > 0:
		return DataRun{}
	case !d.active:
		run := in.run
		run.Header = frame.HeaderLen - len(in.part)
		return run
	case d.s == nil || in.run.Stream != d.id:
		return DataRun{}
	default:
		run := in.run
		run.Left, run.Header = d.left, frame.HeaderLen
		return run
	}
}

// InData returns the stream and Left of DataRun, if octets of a frame are still to come; else a stream of 0.
func (c *Conn) InData() (id frame.StreamID, left uint32) {
	if d := &c.input.data; d.active && d.s != nil && c.input.run.Stream == d.id {
		return d.id, d.left
	}
	return 0, 0
}

// mostLengths is how many lengths of frames a DataRun remembers.
const mostLengths = 64

// extend adds a frame to the run, or begins one anew.
func (r *DataRun) extend(d *dataFrame) {
	if r.Stream != d.id {
		r.Lengths = r.Lengths[:0]
	}
	if len(r.Lengths) == mostLengths {
		r.Lengths = append(r.Lengths[:0], r.Lengths[mostLengths/2:]...)
	}
	r.Stream, r.Length = d.id, d.length
	r.Lengths = append(r.Lengths, d.length)
}

// beginData charges a DATA frame to both windows and decides whether its octets are wanted.
func (c *Conn) beginData(h frame.Header) {
	length := int64(h.Length)
	// Every DATA frame counts against the connection window, whatever its stream. RFC 9113, Section 6.9 (9113-6.9-5).
	// More than was advertised is a flow-control error of the connection (9113-6.9.1-8).
	if !c.recv.Charge(length) {
		c.fail(frame.FlowControlError, "DATA exceeds the connection window")
		return
	}
	c.connChanged = c.now
	c.pings.PeerSpoke()
	s, state := c.lookup(h.Stream)
	c.input.data = dataFrame{
		active: true, end: h.Flags.Has(frame.FlagEndStream), padded: h.Flags.Has(frame.FlagPadded),
		length: h.Length, left: h.Length, id: h.Stream,
	}
	d := &c.input.data
	wanted := c.acceptData(s, state, h)
	if c.life >= closing {
		return
	}
	if wanted {
		d.s = s
		if d.padded {
			c.input.run.Stream = 0
		} else {
			c.input.run.extend(d)
		}
		s.progress = c.now
		c.tell(s, flow.Event{Kind: flow.FrameStart, Stream: uint32(s.id), N: length})
	} else {
		c.input.run.Stream = 0
		c.tell(nil, flow.Event{Kind: flow.FrameStart, N: length})
	}
	if h.Length == 0 {
		c.chargeEmpty()
		c.endEmpty()
	}
}

// acceptData applies the rules of the stream: its state, the order of the message, its window.
func (c *Conn) acceptData(s *streamRecord, state stream.State, h frame.Header) bool {
	if !c.admit(s, state, stream.RecvData, h) {
		return false
	}
	part := stream.Body
	if h.Flags.Has(frame.FlagEndStream) {
		part = stream.BodyWithEnd
	}
	if _, ok := s.phase.Next(part); !ok {
		c.malformed(s, "DATA before the response head")
		return false
	}
	// A frame above the stream's window is a flow-control error of the stream (9113-6.9.1-8); the connection has been
	// charged and goes on.
	if !s.recv.ChargeOver(c.recvBase.Initial(), int64(h.Length)) {
		c.streamFault(s, frame.FlowControlError, "DATA exceeds the stream window")
		return false
	}
	return true
}

// admit asks the life-cycle table about a frame of the peer's and carries out its verdict; it reports whether the
// frame is to be processed.
func (c *Conn) admit(s *streamRecord, state stream.State, in stream.Input, h frame.Header) bool {
	_, v := stream.Next(state, in)
	switch v.Kind {
	case stream.Accept:
		return true
	case stream.Ignore:
		if in != stream.RecvData && in != stream.RecvEndStream || !c.crossed(h.Length) {
			c.glitch(1)
		}
	case stream.StreamFault:
		c.streamFault(s, v.Code, h.Type.String()+" on a stream in state "+state.String())
	default:
		c.fail(v.Code, h.Type.String()+" on a stream in state "+state.String())
	}
	return false
}

// crossed reports whether n octets of late DATA are no more than what the windows of the streams that we reset allowed:
// then the peer may have sent them in good faith, and they count as no glitch. A window of 16 MiB is 2,048 frames of
// nginx, so that a few downloads given up would otherwise end the connection. Tiny frames count all the same.
func (c *Conn) crossed(n uint32) bool {
	if n < minCrossingData || int64(n) > c.crossing {
		return false
	}
	c.crossing -= int64(n)
	return true
}

// stepData moves through the DATA frame being received; there is at least one octet.
func (c *Conn) stepData() (Event, bool) {
	in, d := &c.input, &c.input.data
	switch {
	case d.padded:
		c.padLength()
	case d.left > 0:
		return c.dataOctets()
	case d.padding > 0:
		n := min(d.padding, uint32(len(in.p)))
		d.padding -= n
		in.next(int(n))
	}
	if d.active && !d.padded && d.left == 0 && d.padding == 0 {
		c.endEmpty()
	}
	return Event{}, false
}

// padLength reads the octet that tells the padding, which counts as received and consumed at once: the application
// never sees it, yet it was charged. RFC 9113, Sections 6.1, 6.9.1 (9113-6.1-5).
func (c *Conn) padLength() {
	in, d := &c.input, &c.input.data
	pad := uint32(in.next(1)[0])
	// Padding that leaves no room for itself is a connection error. RFC 9113, Section 6.1 (9113-6.1-4).
	if pad >= d.length {
		c.fail(frame.ProtocolError, "DATA padding is longer than the payload")
		return
	}
	d.padded = false
	d.padding = pad
	d.left = d.length - 1 - pad
	if d.left == 0 && !c.chargeEmpty() {
		return
	}
	n := int64(pad) + 1
	c.recv.Receive(n)
	c.recv.Consume(n)
	if d.s != nil {
		d.s.recv.Receive(n)
		d.s.recv.Consume(n)
		c.tell(d.s, flow.Event{Kind: flow.Padding, Stream: uint32(d.s.id), N: n})
		return
	}
	c.tell(nil, flow.Event{Kind: flow.Discarded, N: n})
}

// dataOctets hands on, or discards, the octets of data that there are.
func (c *Conn) dataOctets() (Event, bool) {
	in, d := &c.input, &c.input.data
	n := min(d.left, uint32(len(in.p)))
	s := d.s
	if s != nil && (s.noContent || s.contentLeft == 0) {
		// More content than content-length says, or content where there may be none: malformed. RFC 9113,
		// Section 8.1.1 (9113-8.1.1-1); RFC 9110, Section 6.4.1.
		c.malformed(s, tooMuchContent(s))
		if c.life >= closing {
			return Event{}, false
		}
		s = d.s
	}
	if s == nil {
		d.left -= n
		in.next(int(n))
		c.discard(int64(n))
		if d.left == 0 && d.padding == 0 {
			c.endEmpty()
		}
		return Event{}, false
	}
	if s.contentLeft > 0 {
		n = uint32(min(int64(n), s.contentLeft))
		s.contentLeft -= int64(n)
	}
	octets := in.next(int(n))
	d.left -= n
	ends := d.left == 0 && d.padding == 0
	c.recv.Receive(int64(n))
	s.recv.Receive(int64(n))
	s.progress, s.stallReported, s.answered, s.waiting = c.now, false, true, false
	c.tell(s, flow.Event{Kind: flow.Received, Stream: uint32(s.id), N: int64(n), End: ends && d.end})
	ev := Event{Kind: Data, Stream: d.id, Data: octets}
	if ends {
		// The octets are unread, so that a response that ended well stays until they are read.
		end := d.end
		c.input.data = dataFrame{}
		ev.End = end && c.completeResponse(s)
	}
	return ev, true
}

func tooMuchContent(s *streamRecord) string {
	if s.noContent {
		return "content in a response that has none"
	}
	return "more content than content-length says"
}

// discard counts octets that nobody wants as received and consumed on the connection.
func (c *Conn) discard(n int64) {
	if n == 0 {
		return
	}
	c.recv.Receive(n)
	c.recv.Consume(n)
	c.tell(nil, flow.Event{Kind: flow.Discarded, N: n})
}

// chargeEmpty charges a DATA frame that brings neither data nor the end. Small ones cost nothing: what is in them is
// wanted, and the window bounds it; some servers send every message of a few octets in a frame of its own.
func (c *Conn) chargeEmpty() bool { return c.input.data.end || c.glitch(1) }

// endEmpty ends a DATA frame after whose last data octet padding followed, or that has no data: the end of the
// response needs an event of its own.
func (c *Conn) endEmpty() {
	id, s, end := c.input.data.id, c.input.data.s, c.input.data.end
	c.input.data = dataFrame{}
	if s != nil && end {
		c.endWithout(s, Event{Kind: Data, Stream: id, End: true})
	}
}

// Consumed says that the application took n octets of stream id. It is a no-op once the stream has failed or was
// reset, since its octets were given back then.
func (c *Conn) Consumed(now time.Time, id frame.StreamID, n int) {
	c.touch(now)
	s := c.streams[id]
	if s == nil || n == 0 {
		return
	}
	s.recv.Consume(int64(n))
	c.recv.Consume(int64(n))
	s.progress = c.now
	c.tell(s, flow.Event{Kind: flow.Consumed, Stream: uint32(id), N: int64(n)})
	c.settle(s)
}

// ReaderWaiting says that the application waits for data of stream id with room for n octets.
func (c *Conn) ReaderWaiting(now time.Time, id frame.StreamID, n int) {
	c.touch(now)
	if s := c.streams[id]; s != nil && !s.waiting && s.state.CanReceive() && s.recv.Unread() == 0 {
		s.waiting = true
		c.tell(s, flow.Event{Kind: flow.ReaderWaiting, Stream: uint32(id), N: int64(n)})
	}
}

// ReaderAway says that the application waits no more for data of stream id.
func (c *Conn) ReaderAway(now time.Time, id frame.StreamID) {
	c.touch(now)
	if s := c.streams[id]; s != nil && s.waiting {
		s.waiting = false
		if s.state.CanReceive() {
			c.tell(s, flow.Event{Kind: flow.ReaderAway, Stream: uint32(id)})
		}
	}
}
