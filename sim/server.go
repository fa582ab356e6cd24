package sim

import (
	"fmt"
	"slices"
	"strconv"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/plainfields"
)

// server is the server's side of one HTTP/2 connection. It answers every request with as many zeros as the path says,
// "/1048576", within both windows, and takes the streams in turn, a frame at a time.
//
// Model: what it has written to TCP cannot be taken back, so it writes no more than the send buffer holds, and goes on
// as octets are acknowledged.
type server struct {
	e    *endpoint
	opts Server

	in      []byte // octets that are no whole frame yet
	preface int    // octets of the connection preface that are still to come
	decoder plainfields.Decoder
	encoder plainfields.Encoder
	out     []byte

	window  int64 // of the connection
	initial int64 // of a new stream
	frame   int64
	streams []*response // in the order of the requests
	turn    int         // the next of streams
	strikes int         // PINGs since the last HEADERS or DATA
	gone    bool        // GOAWAY was sent
	blocked blocked
	abort   func(error)
}

// response is one response that is not sent completely.
type response struct {
	id     frame.StreamID
	left   int64
	sent   int64 // of the body
	window int64
	ready  bool // its head was sent
}

func newServer(e *endpoint, opts Server, abort func(error)) *server {
	s := &server{
		e: e, opts: opts, abort: abort, preface: len(frame.ClientPreface),
		window: initialWindow, initial: initialWindow, frame: min(opts.FrameBytes, maxFrameBytes),
	}
	s.blocked.clock = e.clock
	e.arrived = s.arrived
	e.writable = s.pump
	return s
}

// initialWindow is the window of either level before anything is said, in octets. See RFC 9113, Section 6.9.2.
const initialWindow = 65535

// arrived parses n more octets.
func (s *server) arrived(n int64) {
	for n > 0 {
		p := s.e.peer.send.content.next(n)
		n -= int64(len(p))
		s.in = append(s.in, p...)
	}
	if s.preface > 0 {
		if len(s.in) < s.preface {
			return
		}
		s.in = s.in[s.preface:]
		s.preface = 0
		s.out = frame.MakeSettings(
			frame.Setting{ID: frame.SettingMaxConcurrentStreams, Value: 100000},
		).AppendTo(s.out)
	}
	rest := s.in
	for h, payload := range frame.All(s.in) {
		if err := s.take(h, payload); err != nil {
			s.abort(err)
			return
		}
		rest = rest[frame.HeaderLen+int(h.Length):]
	}
	s.in = append(s.in[:0], rest...)
	s.flush()
	s.pump()
}

// take acts on one frame of the client's.
func (s *server) take(h frame.Header, payload []byte) error {
	f, err := frame.Parse(h, payload)
	if err != nil {
		return fmt.Errorf("the client sent %v: %w", h, err)
	}
	switch f := f.(type) {
	case frame.Settings:
		if !f.Ack {
			s.settings(f)
		}
	case frame.Ping:
		if !f.Ack {
			s.ping(f)
		}
	case frame.WindowUpdate:
		s.grant(f)
	case frame.Headers:
		return s.request(f)
	case frame.RSTStream:
		s.remove(f.Stream)
	}
	return nil
}

// settings applies the client's SETTINGS; a new initial window moves all streams. See RFC 9113, Section 6.9.2.
func (s *server) settings(f frame.Settings) {
	for x := range f.All() {
		if x.ID == frame.SettingInitialWindowSize {
			for _, r := range s.streams {
				r.window += int64(x.Value) - s.initial
			}
			s.initial = int64(x.Value)
		}
	}
	s.out = frame.AppendSettingsAck(s.out)
}

func (s *server) ping(f frame.Ping) {
	s.out = frame.AppendPing(s.out, true, f.Data)
	s.strikes++
	if s.opts.PingStrikes > 0 && s.strikes > s.opts.PingStrikes && !s.gone {
		s.gone = true
		s.out = frame.AppendGoAway(s.out, 0, frame.EnhanceYourCalm, []byte("too_many_pings"))
	}
}

func (s *server) grant(f frame.WindowUpdate) {
	if f.Stream == 0 {
		s.window += int64(f.Increment)
		return
	}
	for _, r := range s.streams {
		if r.id == f.Stream {
			r.window += int64(f.Increment)
			return
		}
	}
}

// request begins a response, once the server has thought.
func (s *server) request(f frame.Headers) error {
	size := int64(-1)
	err := s.decoder.Decode(f.Fragment, func(field frame.Field) bool {
		if field.Name == ":path" && len(field.Value) > 1 {
			if n, err := strconv.ParseInt(field.Value[1:], 10, 64); err == nil {
				size = n
			}
		}
		return true
	})
	if err == nil {
		err = s.decoder.EndBlock()
	}
	if err != nil || size < 0 {
		return fmt.Errorf("the client sent a request without a size (%d, %w)", size, err)
	}
	r := &response{id: f.Stream, left: size, window: s.initial}
	s.streams = append(s.streams, r)
	if s.opts.ThinkMs == 0 {
		r.ready = true
		s.head(r)
		return nil
	}
	s.e.clock.at(s.e.clock.now+int64(milliseconds(s.opts.ThinkMs)), func() {
		r.ready = true
		s.head(r)
		s.flush()
		s.pump()
		s.e.send.push()
	})
	return nil
}

// head sends the head of r.
func (s *server) head(r *response) {
	block := s.encoder.AppendField(nil, frame.Field{Name: ":status", Value: "200"})
	block = s.encoder.AppendField(block, frame.Field{Name: "content-length", Value: strconv.FormatInt(r.left, 10)})
	end := r.left == 0
	s.out = frame.Headers{Stream: r.id, EndHeaders: true, EndStream: end, Fragment: block}.AppendTo(s.out)
	s.strikes = 0
	if end {
		s.remove(r.id)
	}
}

// remove forgets the response of stream id.
func (s *server) remove(id frame.StreamID) {
	i := slices.IndexFunc(s.streams, func(r *response) bool { return r.id == id })
	if i < 0 {
		return
	}
	s.streams = slices.Delete(s.streams, i, i+1)
	if s.turn > i {
		s.turn--
	}
}

// flush gives TCP the frames that need no window.
func (s *server) flush() {
	s.e.write(s.out)
	s.out = s.out[:0]
}

// pump writes DATA while there are octets, windows and room in the send buffer.
func (s *server) pump() {
	var written int64
	for s.room() {
		r := s.nextReady()
		if r == nil {
			break
		}
		n := min(r.left, r.window, s.window, s.frame)
		if c := s.opts.ChunkBytes; c > 0 {
			n = min(n, c-r.sent%c)
		}
		r.sent += n
		r.left -= n
		r.window -= n
		s.window -= n
		s.out = frame.AppendDataHeader(s.out, r.id, uint32(n), r.left == 0)
		s.flush()
		s.e.writeZeros(n)
		s.strikes = 0
		if written += n; written >= s.opts.WriteBytes {
			written = 0
			s.e.send.push()
		}
		if r.left == 0 {
			s.remove(r.id)
		}
	}
	s.e.send.push()
	s.blocked.note(s.obstacle())
}

// room reports whether the send buffer takes another frame.
func (s *server) room() bool {
	t := &s.e.send
	buffer := s.opts.SendBufferBytes
	if buffer == 0 {
		buffer = max(2*t.cwnd*mss, leastSendBuffer)
	}
	return t.written-t.una < buffer
}

// leastSendBuffer is the least that a send buffer holds, in octets.
const leastSendBuffer = 64 << 10

// nextReady is the next stream whose turn it is and that may send; nil if there is none.
func (s *server) nextReady() *response {
	if s.window <= 0 {
		return nil
	}
	for range s.streams {
		if s.turn >= len(s.streams) {
			s.turn = 0
		}
		r := s.streams[s.turn]
		s.turn++
		if r.ready && r.window > 0 {
			return r
		}
	}
	return nil
}

// obstacle says which windows keep octets back that TCP could send at once.
func (s *server) obstacle() (stream, conn bool) {
	t := &s.e.send
	if t.written > t.next || t.inFlight+mss > t.cwnd*mss {
		return false, false
	}
	waiting, open := false, false
	for _, r := range s.streams {
		if r.ready {
			waiting = true
			open = open || r.window > 0
		}
	}
	return waiting && !open, waiting && s.window <= 0
}

// blocked adds up the time in which windows were in the way.
type blocked struct {
	clock        *clock
	since        int64
	byStream     bool
	byConn       bool
	stream, conn int64 // ns
}

// note says what is in the way from now on.
func (b *blocked) note(byStream, byConn bool) {
	took := b.clock.now - b.since
	if b.byStream {
		b.stream += took
	}
	if b.byConn {
		b.conn += took
	}
	b.since, b.byStream, b.byConn = b.clock.now, byStream, byConn
}

// restart begins a new measurement.
func (b *blocked) restart() {
	b.note(b.byStream, b.byConn)
	b.stream, b.conn = 0, 0
}
