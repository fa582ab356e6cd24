package hostile

import (
	"strconv"

	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/stream"
)

// The nemesis breaks one rule at a time, and knows what has to come of it.
type nemesis struct {
	promised frame.StreamID
	lied     bool // about what the server has processed
	done     int
}

// A violation is one rule to break.
type violation struct {
	name string
	// say returns what to say, nil if the rule cannot be broken now. target is a stream that is open for the client and
	// of which the server has not answered yet, or nil.
	say func(w *world, target *exchange) []any
	// scope is 'c' for an error of the connection, 's' for one of the target, '-' for none, and '?' for whatever the
	// laws allow; code is the error's.
	scope byte
	code  frame.ErrCode
}

func raw(typ frame.Type, flags frame.Flags, id frame.StreamID, payload ...byte) frame.Unknown {
	return frame.Unknown{Header: frame.Header{Type: typ, Flags: flags, Stream: id}, Payload: payload}
}

// always makes a say of items that need no target.
func always(items ...any) func(*world, *exchange) []any {
	return func(*world, *exchange) []any { return items }
}

// on makes a say of what f returns for the target.
func on(f func(id frame.StreamID) []any) func(*world, *exchange) []any {
	return func(_ *world, x *exchange) []any {
		if x == nil {
			return nil
		}
		return f(x.id)
	}
}

// headOn makes a say of a response head.
func headOn(end bool, pairs ...string) func(*world, *exchange) []any {
	return on(func(id frame.StreamID) []any { return []any{section(id, end, pairs...)} })
}

func section(id frame.StreamID, end bool, pairs ...string) peer.Headers {
	h := peer.Headers{Stream: id, EndStream: end}
	for i := 0; i < len(pairs); i += 2 {
		h.Fields = append(h.Fields, frame.Field{Name: pairs[i], Value: pairs[i+1]})
	}
	return h
}

func set(id frame.SettingID, v uint32) frame.Settings {
	return frame.MakeSettings(frame.Setting{ID: id, Value: v})
}

const end = frame.FlagEndHeaders

// connViolations are errors of the connection whatever the state of its streams.
var connViolations = []violation{
	{"DATA on stream 0", always(raw(frame.TypeData, 0, 0, 1)), 'c', frame.ProtocolError},
	{"HEADERS on stream 0", always(raw(frame.TypeHeaders, end, 0)), 'c', frame.ProtocolError},
	{"PRIORITY on stream 0", always(raw(frame.TypePriority, 0, 0, 0, 0, 0, 0, 0)), 'c', frame.ProtocolError},
	{"RST_STREAM on stream 0", always(raw(frame.TypeRSTStream, 0, 0, 0, 0, 0, 0)), 'c', frame.ProtocolError},
	{"SETTINGS on a stream", always(raw(frame.TypeSettings, 0, 1)), 'c', frame.ProtocolError},
	{"PUSH_PROMISE on stream 0", always(raw(frame.TypePushPromise, end, 0, 0, 0, 0, 2)), 'c', frame.ProtocolError},
	{"PING on a stream", always(raw(frame.TypePing, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)), 'c', frame.ProtocolError},
	{"GOAWAY on a stream", always(raw(frame.TypeGoAway, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)), 'c', frame.ProtocolError},
	{"CONTINUATION on stream 0", always(raw(frame.TypeContinuation, end, 0)), 'c', frame.ProtocolError},
	{"CONTINUATION of nothing", always(raw(frame.TypeContinuation, end, 1)), 'c', frame.ProtocolError},
	{"a frame above the limit", always(raw(otherType, 0, 1, make([]byte, 20001)...)), 'c', frame.FrameSizeError},
	{"RST_STREAM of 3 octets", always(raw(frame.TypeRSTStream, 0, 1, 0, 0, 0)), 'c', frame.FrameSizeError},
	{"SETTINGS of 5 octets", always(raw(frame.TypeSettings, 0, 0, 0, 0, 0, 0, 0)), 'c', frame.FrameSizeError},
	{"an acknowledgement with a setting", always(raw(frame.TypeSettings, frame.FlagAck, 0, 0, 0, 0, 0, 0, 0)), 'c', frame.FrameSizeError},
	{"PING of 7 octets", always(raw(frame.TypePing, 0, 0, 0, 0, 0, 0, 0, 0, 0)), 'c', frame.FrameSizeError},
	{"GOAWAY of 7 octets", always(raw(frame.TypeGoAway, 0, 0, 0, 0, 0, 0, 0, 0, 0)), 'c', frame.FrameSizeError},
	{"WINDOW_UPDATE of 5 octets", always(raw(frame.TypeWindowUpdate, 0, 0, 0, 0, 0, 0, 1)), 'c', frame.FrameSizeError},
	{"PADDED DATA of no octets", always(raw(frame.TypeData, frame.FlagPadded, 1)), 'c', frame.FrameSizeError},
	{"an increment of 0", always(frame.WindowUpdate{}), 'c', frame.ProtocolError},
	{"a connection window above 2^31-1", always(frame.WindowUpdate{Increment: 1<<31 - 1},
		frame.WindowUpdate{Increment: 1<<31 - 1}), 'c', frame.FlowControlError},
	{"ENABLE_PUSH=1", always(set(frame.SettingEnablePush, 1)), 'c', frame.ProtocolError},
	{"ENABLE_PUSH=2", always(set(frame.SettingEnablePush, 2)), 'c', frame.ProtocolError},
	{"INITIAL_WINDOW_SIZE=2^31", always(set(frame.SettingInitialWindowSize, 1<<31)), 'c', frame.FlowControlError},
	{"MAX_FRAME_SIZE=0", always(set(frame.SettingMaxFrameSize, 0)), 'c', frame.ProtocolError},
	{"MAX_FRAME_SIZE=2^24", always(set(frame.SettingMaxFrameSize, 1<<24)), 'c', frame.ProtocolError},
	{"ENABLE_CONNECT_PROTOCOL=2", always(set(frame.SettingEnableConnectProtocol, 2)), 'c', frame.ProtocolError},
	{"33 settings", always(frame.Settings{Raw: make([]byte, 33*6)}), 'c', frame.EnhanceYourCalm},
	{"HEADERS on an even stream", always(raw(frame.TypeHeaders, end, 1000)), 'c', frame.ProtocolError},
	{"a promise of an odd stream", always(raw(frame.TypePushPromise, end, 1, 0, 0, 0, 3)), 'c', frame.ProtocolError},
	{"eleven GOAWAYs", always(repeat(11, frame.GoAway{LastStream: frame.MaxStreamID})...), '?', 0},
	{"DATA beyond the connection's window", func(w *world, _ *exchange) []any {
		var items []any
		for n := w.c.RecvWindow().Window() + 1; n > 0; n -= 16384 {
			items = append(items, frame.Data{Stream: 1, Data: make([]byte, min(n, 16384))})
		}
		return items
	}, '?', 0},
	{"a flood of frames that serve no purpose", func(w *world, _ *exchange) []any {
		if !w.oneIn(6) {
			return nil
		}
		return []any{peer.Raw(repeated(10100, raw(frame.TypePriority, 0, 1, 0, 0, 0, 0, 0).AppendTo(nil)))}
	}, 'c', frame.EnhanceYourCalm},
	{"PINGs that nobody takes the answers of", func(w *world, _ *exchange) []any {
		if !w.stuck {
			return nil
		}
		return []any{peer.Raw(repeated(1100, frame.Ping{}.AppendTo(nil)))}
	}, 'c', frame.EnhanceYourCalm},
}

// streamViolations need a stream of which the head has not come.
var streamViolations = []violation{
	{"no :status", headOn(false, "a", "b"), 's', frame.ProtocolError},
	{"two :status", headOn(false, ":status", "200", ":status", "200"), 's', frame.ProtocolError},
	{":status of four digits", headOn(false, ":status", "2000"), 's', frame.ProtocolError},
	{"101", headOn(false, ":status", "101"), 's', frame.ProtocolError},
	{":path in a response", headOn(false, ":status", "200", ":path", "/"), 's', frame.ProtocolError},
	{":status after a field", headOn(false, "a", "b", ":status", "200"), 's', frame.ProtocolError},
	{"a name in upper case", headOn(true, ":status", "200", "A", "b"), 's', frame.ProtocolError},
	{"a value with a line end", headOn(true, ":status", "200", "a", "b\r\nc"), 's', frame.ProtocolError},
	{"a value with a space at its end", headOn(true, ":status", "200", "a", "b "), 's', frame.ProtocolError},
	{"a connection field", headOn(false, ":status", "200", "connection", "close"), 's', frame.ProtocolError},
	{"transfer-encoding", headOn(false, ":status", "200", "transfer-encoding", "chunked"), 's', frame.ProtocolError},
	{"two lengths", headOn(false, ":status", "200", "content-length", "5", "content-length", "6"), 's', frame.ProtocolError},
	{"a length that is no number", headOn(false, ":status", "200", "content-length", "+5"), 's', frame.ProtocolError},
	{"an interim head that ends", headOn(true, ":status", "103"), 's', frame.ProtocolError},
	{"a head above the limit", headOn(true, ":status", "200", "a", string(fill('v', 5000))), 's', frame.Cancel},
	{"21 interim heads", on(func(id frame.StreamID) []any {
		return repeat(21, section(id, false, ":status", "103"))
	}), 's', frame.EnhanceYourCalm},
	{"DATA before the head", on(func(id frame.StreamID) []any { return []any{frame.Data{Stream: id}} }), 's', frame.ProtocolError},
	{"two heads", on(func(id frame.StreamID) []any {
		return []any{section(id, false, ":status", "200"), section(id, false, ":status", "200")}
	}), 's', frame.ProtocolError},
	{"trailers with :status", on(func(id frame.StreamID) []any {
		return []any{section(id, false, ":status", "200"), section(id, true, ":status", "200")}
	}), 's', frame.ProtocolError},
	{"less than the length", on(func(id frame.StreamID) []any {
		return []any{section(id, false, ":status", "200", "content-length", "5"), frame.Data{Stream: id, EndStream: true}}
	}), '?', 0},
	{"content in a 204", on(func(id frame.StreamID) []any {
		return []any{section(id, false, ":status", "204"), frame.Data{Stream: id, Data: []byte("x"), EndStream: true}}
	}), '?', 0},
	{"an increment of 0 on a stream", on(func(id frame.StreamID) []any { return []any{frame.WindowUpdate{Stream: id}} }), 's', frame.ProtocolError},
	{"a stream window above 2^31-1", on(func(id frame.StreamID) []any {
		return []any{frame.WindowUpdate{Stream: id, Increment: 1<<31 - 1}, frame.WindowUpdate{Stream: id, Increment: 1<<31 - 1}}
	}), 's', frame.FlowControlError},
	{"PRIORITY of 4 octets", on(func(id frame.StreamID) []any { return []any{raw(frame.TypePriority, 0, id, 0, 0, 0, 0)} }), 's', frame.FrameSizeError},
	{"a broken field block", on(func(id frame.StreamID) []any {
		return []any{raw(frame.TypeHeaders, end, id, 0x40, 0x7f, 0xff)}
	}), 'c', frame.CompressionError},
	{"a frame within a field block", on(func(id frame.StreamID) []any {
		return []any{raw(frame.TypeHeaders, 0, id), frame.Ping{}}
	}), 'c', frame.ProtocolError},
	{"an unknown frame within a field block", on(func(id frame.StreamID) []any {
		return []any{raw(frame.TypeHeaders, 0, id), raw(otherType, 0, id)}
	}), 'c', frame.ProtocolError},
	{"endless CONTINUATION", on(func(id frame.StreamID) []any {
		return append([]any{raw(frame.TypeHeaders, 0, id)}, repeat(20, raw(frame.TypeContinuation, 0, id))...)
	}), 'c', frame.EnhanceYourCalm},
	{"padding of the whole payload", on(func(id frame.StreamID) []any {
		return []any{section(id, false, ":status", "200"), raw(frame.TypeData, frame.FlagPadded, id, 1)}
	}), '?', 0},
	{"DATA beyond the stream's window", func(w *world, x *exchange) []any {
		if x == nil {
			return nil
		}
		items := []any{section(x.id, false, ":status", "200")}
		for n := max(w.shadow.RecvWindow(x.id), 0) + 1; n > 0; n -= 16384 {
			items = append(items, frame.Data{Stream: x.id, Data: make([]byte, min(n, 16384))})
		}
		return items
	}, '?', 0},
	{"DATA after the end", on(func(id frame.StreamID) []any {
		return []any{section(id, true, ":status", "200"), frame.Data{Stream: id, Data: []byte("x")}}
	}), '?', 0},
}

// harmless is what looks wrong and is not.
var harmless = []violation{
	{"an answer to no PING", always(frame.Ping{Ack: true, Data: [8]byte{0xff}}), '-', 0},
	{"the reserved bit", always(peer.Raw{0, 0, 8, 6, 0, 0x80, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}), '-', 0},
	{"flags that mean nothing", always(raw(frame.TypePing, 0xfe, 0, 1, 2, 3, 4, 5, 6, 7, 8)), '-', 0},
	{"an unknown setting", always(frame.MakeSettings(frame.Setting{ID: 0xaaaa, Value: 1<<32 - 1})), '-', 0},
	{"one setting twice", always(frame.MakeSettings(frame.Setting{ID: frame.SettingMaxFrameSize, Value: 20000},
		frame.Setting{ID: frame.SettingMaxFrameSize, Value: 16384})), '-', 0},
	{"PRIORITY on an idle stream", always(frame.Priority{Stream: 999}), '-', 0},
	{"debug data without end", always(raw(frame.TypeAltSvc, 0, 0, make([]byte, 16000)...)), '-', 0},
	{"PRIORITY_UPDATE from a server", always(frame.PriorityUpdate{Prioritized: 1}), '-', 0},
}

func repeat(n int, item any) []any {
	items := make([]any, n)
	for i := range items {
		items[i] = item
	}
	return items
}

func repeated(n int, octets []byte) []byte {
	var all []byte
	for range n {
		all = append(all, octets...)
	}
	return all
}

// strike breaks a rule, if there is one that can be broken now.
func (n *nemesis) strike(w *world) {
	if w.cut || w.closed || w.server.gone {
		return
	}
	w.arrive(len(w.up))
	w.deliver(len(w.down))
	if w.closed || w.err != nil {
		return
	}
	if !w.server.greeted {
		n.spoilPreface(w)
		return
	}
	switch target := n.target(w); w.choose.IntN(12) {
	case 0:
		n.play(w, connViolations[w.choose.IntN(len(connViolations))], nil)
	case 1, 2, 3, 4:
		n.play(w, streamViolations[w.choose.IntN(len(streamViolations))], target)
	case 5, 6:
		n.play(w, harmless[w.choose.IntN(len(harmless))], nil)
	default:
		n.misplace(w)
	}
}

// spoilPreface begins with something else than SETTINGS.
func (n *nemesis) spoilPreface(w *world) {
	n.play(w, violation{"the first frame is not SETTINGS", always(pick[any](w, frame.Ping{}, frame.GoAway{},
		frame.Settings{Ack: true}, raw(otherType, 0, 0), peer.Raw("HTTP/1.1 400 Bad Request\r\n\r\n"))),
		'c', frame.ProtocolError}, nil)
}

// target is an exchange that has not been answered and whose request the client still wants.
func (n *nemesis) target(w *world) *exchange {
	for _, x := range w.server.order {
		if r := w.user.requests[x.id]; x.status == 0 && !x.reset && r != nil && !r.over() && r.status == 0 {
			return x
		}
	}
	return nil
}

// play says what breaks the rule and looks at what comes of it.
func (n *nemesis) play(w *world, v violation, target *exchange) {
	items := v.say(w, target)
	if items == nil {
		return
	}
	if target != nil {
		target.tainted, target.reset = true, true // the correct server leaves it alone from here on
	}
	for _, x := range w.server.order {
		if x.id == 1 {
			x.tainted = true // what needs no target often names stream 1
		}
	}
	n.done++
	w.note("<", "nemesis: "+v.name)
	w.say(items...)
	w.deliver(len(w.down))
	if w.err == nil {
		n.judge(w, v, target)
	}
}

func (n *nemesis) judge(w *world, v violation, target *exchange) {
	e := w.c.Err()
	ended := w.closed && e != nil && e.Origin == conn.Local
	switch v.scope {
	case 'c':
		if w.closed && !ended || w.cut {
			return // it ended well before that, or the transport broke
		}
		if !ended || e.Code != v.code {
			w.fatal("%s: want the connection to fail with %v, it is %v", v.name, v.code, e)
		}
		w.tally.reach("nemesis: an error of the connection")
	case 's':
		if w.closed {
			return
		}
		r := w.user.requests[target.id]
		if r.gaveUp {
			return
		}
		if r.failed == nil || r.failed.Code != v.code || r.failed.Origin != conn.Local {
			w.fatal("%s: want stream %d to fail with %v, it is %+v", v.name, target.id, v.code, r.failed)
		}
		w.tally.reach("nemesis: an error of a stream")
	case '-':
		if ended {
			w.fatal("%s: the connection fails with %v", v.name, e)
		}
		w.tally.reach("nemesis: what looks wrong and is not")
	}
}

// misplace says a frame of any type on any stream in any state.
func (n *nemesis) misplace(w *world) {
	typ := pick(w, receivedTypes...)
	id := frame.StreamID(1 + 2*w.choose.IntN(1+int(min(w.highest/2+2, 60))))
	if n := len(w.user.order); n > 0 && w.oneIn(2) {
		id = w.user.order[w.choose.IntN(n)].id
	}
	if w.oneIn(8) {
		id = w.highest + 2
	}
	if x := w.server.streams[id]; x != nil {
		x.tainted, x.reset = true, true
	}
	n.lied = true
	state := w.state(id)
	w.tally.received[cell{state, typ}]++
	w.tally.reach("nemesis: a frame in state " + state.String())
	w.note("<", "nemesis: "+typ.String()+" on stream "+strconv.Itoa(int(id))+" in state "+state.String())
	switch typ {
	case frame.TypeData:
		w.say(frame.Data{Stream: id, Data: make([]byte, w.choose.IntN(300)), EndStream: w.oneIn(2)})
	case frame.TypeHeaders:
		w.say(section(id, w.oneIn(2), ":status", "200"))
	case frame.TypePriority:
		w.say(frame.Priority{Stream: id})
	case frame.TypeRSTStream:
		w.say(frame.RSTStream{Stream: id, Code: frame.Cancel})
	case frame.TypePushPromise:
		n.promised += 2
		w.say(peer.PushPromise{Stream: id, Promised: n.promised, Fields: []frame.Field{{Name: ":method", Value: "GET"}}})
	case frame.TypeWindowUpdate:
		w.say(frame.WindowUpdate{Stream: id, Increment: 1})
	case frame.TypeContinuation:
		w.say(frame.Continuation{Stream: id, EndHeaders: true})
	case frame.TypeAltSvc:
		w.say(frame.AltSvc{Stream: id, Value: []byte("clear")})
	default:
		w.say(raw(typ, 0, id, 1, 2, 3))
	}
	w.deliver(len(w.down))
	n.done++
}

// state is where stream id is for the client, which knows of its own resets before they are packed.
func (w *world) state(id frame.StreamID) stream.State {
	s, ok := w.states[id]
	if r := w.user.requests[id]; ok && r != nil && !s.Closed() && (r.gaveUp || r.failed != nil) {
		return stream.ClosedSentReset
	}
	if ok {
		return s
	}
	if id > w.highest {
		return stream.Idle
	}
	return stream.ClosedForgotten
}

// onFrame follows the states of streams by what is sent and received.
func (w *world) onFrame(f conn.FrameTrace) {
	h := f.Header
	if h.Stream == 0 || h.Stream%2 == 0 {
		return
	}
	state := w.state(h.Stream)
	if f.Sent {
		state = w.states[h.Stream] // idle, if it is not there
	}
	var in stream.Input
	switch {
	case h.Type == frame.TypeData && f.Sent:
		in = stream.SendData
	case h.Type == frame.TypeData:
		in = stream.RecvData
	case h.Type == frame.TypeHeaders && f.Sent:
		in = stream.SendHeaders
		w.highest = max(w.highest, h.Stream)
	case h.Type == frame.TypeHeaders:
		in = stream.RecvHeaders
	case h.Type == frame.TypeRSTStream && f.Sent:
		in = stream.SendReset
	case h.Type == frame.TypeRSTStream:
		in = stream.RecvReset
	case h.Type == frame.TypeWindowUpdate && f.Sent:
		in = stream.SendWindowUpdate
	default:
		w.tally.received[cell{state, h.Type}]++
		return
	}
	if f.Sent {
		w.tally.sent[cell{state, h.Type}]++
	} else {
		w.tally.received[cell{state, h.Type}]++
		w.noteLate(h, state)
	}
	next, v := stream.Next(state, in)
	if v.Kind != stream.Accept {
		return
	}
	w.states[h.Stream] = next
	// What the server ends has ended when the client says so: a DATA frame is traced before its octets have come.
	if f.Sent && h.Flags.Has(frame.FlagEndStream) {
		w.states[h.Stream], _ = stream.Next(next, stream.SendEndStream)
	}
}

func (w *world) noteLate(h frame.Header, state stream.State) {
	if state == stream.ClosedSentReset {
		switch h.Type {
		case frame.TypeData:
			w.tally.reach("DATA that crossed our reset")
		case frame.TypeHeaders:
			w.tally.reach("HEADERS that crossed our reset")
		case frame.TypeRSTStream:
			w.tally.reach("RST_STREAM that crossed our reset")
		}
	}
}
