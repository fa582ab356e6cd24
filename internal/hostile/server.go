package hostile

import (
	"fmt"
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/stream"
)

// The server keeps the rules, as far as it knows: what the client sent reaches it late.
type server struct {
	streams    map[frame.StreamID]*exchange
	order      []*exchange
	acksDue    int
	acked      int
	ackedOnce  bool      // the client knows that the server knows its first SETTINGS
	pings      [][8]byte // to be answered
	credit     int       // octets of uploads to give back on the connection
	goAwaySent bool
	goAways    int
	goAwayLast frame.StreamID
	initial    uint32 // the window that it announced
	silent     bool   // it answers no PING and acknowledges nothing
	greeted    bool
	gone       bool // the client said GOAWAY with an error
}

// An exchange is one request as the server sees it.
type exchange struct {
	id       frame.StreamID
	method   string
	reqEnded bool
	credit   int // octets of the upload to give back

	status   int
	interims int
	left     int // octets of the body to send
	sent     int
	done     bool // END_STREAM was sent
	reset    bool // by either side
	refused  bool
	tainted  bool // the nemesis has had its hands on it
}

// say encodes items; they wait in down.
func (w *world) say(items ...any) {
	for _, item := range items {
		if s, ok := item.(fmt.Stringer); ok {
			w.note("<", s)
		}
	}
	w.down = w.srv.Encode(w.down, items...)
}

// hear takes what has arrived from the client.
func (s *server) hear(w *world, v fmt.Stringer) {
	switch f := v.(type) {
	case peer.Headers:
		if x := s.streams[f.Stream]; x != nil {
			x.reqEnded = true // trailers
			return
		}
		x := &exchange{id: f.Stream, method: f.Fields[0].Value, reqEnded: f.EndStream}
		if f.Stream > s.goAwayLast {
			return // not processed
		}
		s.streams[f.Stream] = x
		s.order = append(s.order, x)
	case frame.Data:
		s.credit += len(f.Data)
		if x := s.streams[f.Stream]; x != nil {
			x.credit += len(f.Data)
			x.reqEnded = x.reqEnded || f.EndStream
		}
	case frame.RSTStream:
		if x := s.streams[f.Stream]; x != nil {
			if x.reset {
				w.tally.reach("both sides reset a stream")
			}
			x.reset = true
		}
	case frame.Settings:
		if !f.Ack {
			s.acksDue++
		}
	case frame.Ping:
		if !f.Ack {
			s.pings = append(s.pings, f.Data)
		}
	case frame.GoAway:
		s.gone = s.gone || f.Code != frame.NoError
	}
}

// any returns an exchange that is not over for the server, or nil.
func (s *server) any(w *world) *exchange {
	var list []*exchange
	for _, x := range s.order {
		if !x.reset && !(x.done && x.reqEnded) {
			list = append(list, x)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[w.choose.IntN(len(list))]
}

// act says one thing that a correct server might say.
func (s *server) act(w *world) {
	if w.cut || s.gone {
		return
	}
	if !s.greeted {
		s.greet(w)
		return
	}
	x := s.any(w)
	switch k := w.choose.IntN(20); {
	case k < 2:
		s.replies(w)
	case k == 2:
		w.say(frame.Ping{Data: [8]byte{'s', byte(w.choose.IntN(256))}})
	case k == 3:
		s.settings(w)
	case k == 4:
		s.giveBack(w, s.credit)
	case k == 5 && w.oneIn(12):
		s.sayGoAway(w)
	case k == 6:
		w.say(pick[any](w, frame.Priority{Stream: 1 + 2*frame.StreamID(w.choose.IntN(20))},
			frame.Unknown{Header: frame.Header{Type: otherType, Stream: frame.StreamID(w.choose.IntN(20))}, Payload: make([]byte, 20)},
			frame.AltSvc{Stream: frame.StreamID(w.choose.IntN(20)), Value: []byte("clear")}, frame.MakeOrigin("https://b")))
	case x != nil:
		s.serve(w, x)
	}
}

func (s *server) greet(w *world) {
	s.greeted = true
	if w.user.opened > 0 {
		w.tally.reach("requests leave before the server's SETTINGS")
	}
	s.initial = 65535
	var list []frame.Setting
	if w.oneIn(2) {
		s.initial = pick[uint32](w, 0, 100, 65535, 100000)
		list = append(list, frame.Setting{ID: frame.SettingInitialWindowSize, Value: s.initial})
	}
	if w.oneIn(2) {
		list = append(list, frame.Setting{ID: frame.SettingMaxConcurrentStreams, Value: pick[uint32](w, 0, 1, 2, 100)})
	}
	w.say(frame.MakeSettings(list...))
	w.promise(5)
}

// promise makes a promise, one in n times, which is legal only while the client's SETTINGS are not acknowledged.
func (w *world) promise(n int) {
	s := &w.server
	if s.acksDue == 0 || len(s.order) == 0 || !w.oneIn(n) || s.ackedOnce {
		return
	}
	x := s.order[0]
	if x.done || x.reset {
		return
	}
	if w.states[x.id] == stream.ClosedSentReset {
		w.tally.reach("a promise on a stream that was given up")
	}
	w.tally.reach("a promise before push is known to be off")
	w.nemesis.promised += 2
	w.say(peer.PushPromise{Stream: x.id, Promised: w.nemesis.promised, Fields: []frame.Field{{Name: ":method", Value: "GET"}}})
}

// replies acknowledges and answers what there is.
func (s *server) replies(w *world) {
	if s.silent {
		return
	}
	if s.acksDue > 0 {
		s.acksDue--
		s.ackedOnce = true
		w.say(frame.Settings{Ack: true})
		return
	}
	for _, p := range s.pings {
		w.say(frame.Ping{Ack: true, Data: p})
	}
	s.pings = nil
}

// settings changes what binds the client.
func (s *server) settings(w *world) {
	switch w.choose.IntN(5) {
	case 0:
		s.setInitial(w, pick[uint32](w, 0, 10, 1000, 65535, 200000))
	case 1:
		n := pick[uint32](w, 0, 1, 3, 100)
		if int(n) < w.c.OpenStreams() {
			w.tally.reach("the limit falls below the streams that are open")
		}
		if n == 0 {
			w.tally.reach("a limit of 0 streams")
		}
		w.say(frame.MakeSettings(frame.Setting{ID: frame.SettingMaxConcurrentStreams, Value: n}))
	case 2:
		w.say(frame.MakeSettings(frame.Setting{ID: frame.SettingMaxFrameSize, Value: pick[uint32](w, 16384, 20000, 1<<24-1)}))
	case 3:
		if w.hpack {
			w.tally.reach("the server resizes the compression table")
		}
		w.say(frame.MakeSettings(frame.Setting{ID: frame.SettingHeaderTableSize, Value: pick[uint32](w, 0, 50, 4096, 1<<32-1)}))
	case 4:
		w.say(frame.MakeSettings(frame.Setting{ID: frame.SettingMaxHeaderListSize, Value: pick[uint32](w, 1000, 1<<32-1)}))
	}
}

// setInitial changes the window of all streams, unless one of them would overflow.
func (s *server) setInitial(w *world, n uint32) {
	for _, x := range s.order {
		if w.srv.SendWindow(x.id)+int64(n) > 1<<30 {
			return
		}
	}
	s.initial = n
	w.say(frame.MakeSettings(frame.Setting{ID: frame.SettingInitialWindowSize, Value: n}))
}

// giveBack credits n octets on the connection, and what streams are owed.
func (s *server) giveBack(w *world, n int) {
	if n > 0 {
		s.credit -= n
		w.say(frame.WindowUpdate{Increment: uint32(n)})
	}
	for _, x := range s.order {
		if x.credit > 0 && !x.reset && !x.reqEnded {
			w.say(frame.WindowUpdate{Stream: x.id, Increment: uint32(x.credit)})
			x.credit = 0
		}
	}
}

func (s *server) sayGoAway(w *world) {
	last := frame.StreamID(frame.MaxStreamID)
	if s.goAwaySent || w.oneIn(2) {
		last = 0
		for _, x := range s.order {
			if x.status != 0 || w.oneIn(2) {
				last = max(last, x.id)
			}
		}
	}
	last = min(last, s.goAwayLast)
	s.goAwaySent, s.goAwayLast = true, last
	s.goAways++
	for _, x := range s.order {
		if x.id > last {
			x.reset = true
		}
	}
	w.say(frame.GoAway{LastStream: last, Code: pick(w, frame.NoError, frame.InternalError, frame.EnhanceYourCalm),
		Debug: []byte("bye\n")})
}

// serve goes on with one exchange.
func (s *server) serve(w *world, x *exchange) {
	switch {
	case x.done: // it has answered, and the upload goes on
		if w.oneIn(6) {
			x.reset = true
			w.say(frame.RSTStream{Stream: x.id, Code: frame.NoError})
		} else if x.credit > 0 {
			s.giveBack(w, 0)
		}
	case w.oneIn(25):
		x.reset = true
		code := pick(w, frame.RefusedStream, frame.InternalError, frame.Cancel, frame.ErrCode(0xdeadbeef))
		x.refused = code == frame.RefusedStream && x.status == 0
		w.say(frame.RSTStream{Stream: x.id, Code: code})
	case x.status == 0 && w.oneIn(4) && x.interims < 20:
		x.interims++
		if x.interims == 5 {
			w.tally.reach("five interim responses")
		}
		w.say(peer.Headers{Stream: x.id, Fields: []frame.Field{{Name: ":status", Value: "103"}}})
	case x.status == 0:
		s.sayHead(w, x)
	default:
		s.sayBody(w, x)
	}
}

func (s *server) sayHead(w *world, x *exchange) {
	x.status = pick(w, 200, 200, 404, 204, 304, 600)
	x.left = pick(w, 0, 1, 500, 20000, 70000)
	h := peer.Headers{Stream: x.id, Fields: []frame.Field{{Name: ":status", Value: fmt.Sprint(x.status)}},
		Continuations: pick(w, 0, 0, 1, 3, 8)}
	noContent := x.method == "HEAD" || x.status == 204 || x.status == 304
	if w.oneIn(2) && x.status != 204 {
		h.Fields = append(h.Fields, frame.Field{Name: "content-length", Value: fmt.Sprint(x.left)})
	}
	if noContent {
		if x.left > 0 {
			w.tally.reach("a response without content and a length")
		}
		x.left = 0
	}
	if h.Continuations == 8 {
		w.tally.reach("a field block in nine frames")
	}
	h.EndStream = x.left == 0 && w.oneIn(2)
	x.done = h.EndStream
	h.HasPriority = w.oneIn(8)
	w.say(h)
}

func (s *server) sayBody(w *world, x *exchange) {
	room := int(min(w.srv.RecvWindow(0), w.srv.RecvWindow(x.id), 16384))
	f := frame.Data{Stream: x.id}
	if !w.healing && w.oneIn(4) && room > 0 {
		f.Padded, f.PadLength = true, uint8(min(room-1, w.choose.IntN(256)))
		room -= 1 + int(f.PadLength)
		w.tally.reach("DATA with padding")
	}
	n := min(x.left, max(room, 0))
	if !w.healing {
		n = min(n, 1+w.choose.IntN(16384))
	}
	if x.left > 0 && n == 0 && !f.Padded {
		if w.srv.RecvWindow(x.id) < 0 {
			w.tally.reach("the window of a body is below 0")
		}
		return
	}
	if n == 0 && f.Padded {
		w.tally.reach("DATA of padding alone")
	}
	f.Data = make([]byte, n)
	for i := range f.Data {
		f.Data[i] = pattern(x.id, x.sent+i)
	}
	x.sent, x.left = x.sent+n, x.left-n
	if x.left == 0 {
		switch w.choose.IntN(3) {
		case 0:
			f.EndStream, x.done = true, true
		case 1:
			x.done = true
			w.say(f, peer.Headers{Stream: x.id, EndStream: true, Fields: []frame.Field{{Name: "t", Value: "v"}}})
			return
		case 2:
			x.done = true
			w.say(f, frame.Data{Stream: x.id, EndStream: true})
			return
		}
	}
	w.say(f)
}

// finish says all that is missing for everybody to come to an end.
func (s *server) finish(w *world) {
	if w.cut || s.gone {
		return
	}
	if !s.greeted {
		s.greet(w)
	}
	s.silent = false
	for s.acksDue > 0 || len(s.pings) > 0 {
		s.replies(w)
	}
	s.giveBack(w, s.credit)
	for _, x := range s.order {
		if !x.reset && !x.reqEnded && w.srv.SendWindow(x.id) < 1<<16 {
			w.say(frame.WindowUpdate{Stream: x.id, Increment: 1 << 18})
		}
		if x.reset || x.done {
			continue
		}
		if x.status == 0 {
			s.sayHead(w, x)
		}
		for range 12 {
			if !x.done {
				s.sayBody(w, x)
			}
		}
	}
}

// lift removes the limits that hold the client up, once.
func (s *server) lift(w *world) {
	if w.cut || s.gone {
		return
	}
	if !s.greeted {
		s.greet(w)
	}
	w.say(frame.MakeSettings(frame.Setting{ID: frame.SettingMaxConcurrentStreams, Value: 100},
		frame.Setting{ID: frame.SettingMaxHeaderListSize, Value: 1<<32 - 1}))
	s.setInitial(w, 1<<20)
	w.say(frame.WindowUpdate{Increment: 1 << 24})
	w.now = w.now.Add(time.Millisecond)
}
