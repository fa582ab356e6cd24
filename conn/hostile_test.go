package conn_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
)

// PUSH_PROMISE is legal until the server has acknowledged that push is off: then the block is decoded and the promised
// stream refused.
func TestB47PushPromise(t *testing.T) {
	rows.Cover(t, "9113-5.1-4", "9113-5.1-17", "9113-6.5.2-2")
	promise := func(stream, promised frame.StreamID) peer.PushPromise {
		return peer.PushPromise{Stream: stream, Promised: promised, Fields: get("/pushed")}
	}
	tests := []struct {
		id, name string
		acked    bool
		before   func(tc *testConn)
		item     any
		code     frame.ErrCode // of the connection error
		refused  frame.StreamID
	}{
		{"9113-6.6-2", "before the acknowledgement", false, nil, promise(1, 2), 0, 2},
		{"9113-6.6-1", "after it", true, nil, promise(1, 2), frame.ProtocolError, 0},
		{"9113-6.6-3", "on stream 0", false, nil, promise(0, 2), frame.ProtocolError, 0},
		{"9113-6.6-7", "promised 0", false, nil, promise(1, 0), frame.ProtocolError, 0},
		{"9113-6.6-7", "promised odd", false, nil, promise(1, 3), frame.ProtocolError, 0},
		{"9113-6.6-7", "promised our own", false, nil, promise(1, 1), frame.ProtocolError, 0},
		{"9113-6.6-7", "promised twice", false, func(tc *testConn) { tc.write(promise(1, 2)) }, promise(1, 2),
			frame.ProtocolError, 0},
		{"9113-5.1.1-3", "promised below the last", false, func(tc *testConn) { tc.write(promise(1, 4)) }, promise(1, 2),
			frame.ProtocolError, 0},
		{"9113-6.6-5", "on a stream that the server has ended", false, func(tc *testConn) {
			tc.write(wholeResponse(1, "200"))
		}, promise(1, 2), frame.ProtocolError, 0},
		{"9113-6.6-5", "on a stream that both have ended", false, func(tc *testConn) {
			tc.write(wholeResponse(1, "200"))
			tc.endStream(1)
		}, promise(1, 2), frame.ProtocolError, 0},
		{"9113-6.6-6", "on a stream that we have reset", false, func(tc *testConn) { tc.reset(1, frame.Cancel) },
			promise(1, 2), 0, 2},
		{"9113-5.1-1", "on an idle stream", false, nil, promise(3, 2), frame.ProtocolError, 0},
		{"9113-6.6-5", "on a promised stream", false, func(tc *testConn) { tc.write(promise(1, 2)) }, promise(2, 4),
			frame.ProtocolError, 0},
		{"9113-6.6-8", "padding as long as the payload", false, nil, frame.Unknown{Header: frame.Header{
			Type: frame.TypePushPromise, Flags: frame.FlagPadded | frame.FlagEndHeaders, Stream: 1},
			Payload: []byte{5, 0, 0, 0, 2}}, frame.ProtocolError, 0},
		{"9113-4.2-3", "no room for the promised stream", false, nil, frame.Unknown{Header: frame.Header{
			Type: frame.TypePushPromise, Flags: frame.FlagEndHeaders, Stream: 1}, Payload: []byte{0, 0, 2}},
			frame.FrameSizeError, 0},
		{"9113-6.5.2-4", "ENABLE_PUSH=1 from a server", true, nil,
			frame.MakeSettings(setting(frame.SettingEnablePush, 1)), frame.ProtocolError, 0},
	}
	for _, tt := range tests {
		t.Run(tt.id+" "+tt.name, func(t *testing.T) {
			rows.Cover(t, tt.id)
			tc := newTestConn(t)
			tc.write(frame.MakeSettings())
			if tt.acked {
				tc.write(frame.Settings{Ack: true})
			}
			tc.upload(post())
			if tt.before != nil {
				tt.before(tc)
			}
			tc.forget()
			tc.write(tt.item)
			if tt.refused == 0 {
				tc.wantClosed("an error of the connection", tt.code)
				return
			}
			tc.want("the promise is refused", frame.RSTStream{Stream: tt.refused, Code: frame.Cancel})
			// What crosses the refusal is dropped.
			tc.write(head(tt.refused, "200"), data(tt.refused, 10), frame.Priority{Stream: tt.refused},
				frame.RSTStream{Stream: tt.refused}, frame.WindowUpdate{Stream: tt.refused, Increment: 1})
			tc.want("given back", frame.WindowUpdate{Increment: 10})
			tc.wantEvents("nobody hears of it")
			tc.write(frame.Settings{Ack: true})
			tc.wantEvents("the connection lives", "settings-acked")
		})
	}
}

// repeated is n times the same item.
func repeated(n int, item any) []any {
	items := make([]any, n)
	for i := range items {
		items[i] = item
	}
	return items
}

// Every kind of frame that is legal and serves nothing comes out of one budget, which time refills.
func TestB48FloodsOfUselessFrames(t *testing.T) {
	rows.Cover(t, "9113-10.5-2", "9113-10.5-3")
	unknown := func(typ frame.Type, stream frame.StreamID) frame.Unknown {
		return frame.Unknown{Header: frame.Header{Type: typ, Stream: stream}}
	}
	tests := []struct {
		name string
		item any
		free int // how many are no glitch
	}{
		{"empty DATA", data(1, 0), 0},
		{"DATA with nothing but padding", frame.Data{Stream: 1, Padded: true}, 0},
		{"PRIORITY", frame.Priority{Stream: 1}, 0},
		{"PRIORITY on an idle stream", frame.Priority{Stream: 99}, 0},
		{"unknown frames", unknown(0x42, 0), 0},
		{"unknown frames on a stream", unknown(0xff, 1), 0},
		{"PRIORITY_UPDATE", frame.PriorityUpdate{Prioritized: 1}, 0},
		{"ALTSVC", frame.AltSvc{Stream: 1, Value: []byte("x")}, 0},
		{"ORIGIN", frame.Origin{}, 0},
		{"ORIGIN on a stream", unknown(frame.TypeOrigin, 1), 0},
		{"PING that answers nothing", frame.Ping{Ack: true}, 0},
		{"SETTINGS acknowledgement of nothing", frame.Settings{Ack: true}, 0},
		{"WINDOW_UPDATE beyond need", frame.WindowUpdate{Increment: 1}, 5 + 3*2},
		{"WINDOW_UPDATE on a closed stream", frame.WindowUpdate{Stream: 3, Increment: 1}, 0},
		{"RST_STREAM on a closed stream", frame.RSTStream{Stream: 3}, 0},
		{"DATA on a closed stream", frame.Data{Stream: 3, Data: []byte{1}}, 0},
		{"HEADERS on a closed stream", frame.Headers{Stream: 3, EndHeaders: true}, 0},
		{"PRIORITY of the wrong size on a closed stream", frame.Unknown{
			Header: frame.Header{Type: frame.TypePriority, Stream: 3}, Payload: make([]byte, 4)}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := func() *testConn {
				tc := newTestConn(t)
				tc.greet()
				for range 3 {
					tc.open(get("/"))
				}
				tc.write(head(1, "200"))
				tc.reset(3, frame.Cancel)
				tc.reading = true
				return tc
			}
			tc := start()
			tc.write(repeated(10000+tt.free, tt.item)...)
			if err := tc.c.Err(); err != nil {
				t.Fatalf("10,000 of them: %v", err)
			}
			tc.forget()
			tc.advance(time.Second) // 330 more
			tc.write(repeated(330, tt.item)...)
			if err := tc.c.Err(); err != nil {
				t.Fatalf("330 more a second later: %v", err)
			}
			tc.forget()
			tc.write(tt.item)
			tc.wantClosed("one more", frame.EnhanceYourCalm)
			if tt.name == "empty DATA" {
				tc.wantDead()
			}
		})
	}
}

// The same number of useful frames is no flood.
func TestB48OrdinaryTrafficIsNoFlood(t *testing.T) {
	tc := newTestConn(t)
	tc.greet()
	tc.reading = true
	tc.ignore(frame.TypeWindowUpdate, frame.TypePing, frame.TypeSettings)
	tc.open(get("/"))
	tc.write(head(1, "200"))
	for range 12 {
		tc.write(repeated(1000, frame.Data{Stream: 1, Data: []byte{1}})...)
		tc.write(repeated(1000, frame.Ping{})...) // answered as fast as they come
		tc.forget()
	}
	if err := tc.c.Err(); err != nil {
		t.Fatal(err)
	}
	// An hour of one empty DATA, one PING and one SETTINGS a second.
	for range 3600 {
		tc.advance(time.Second)
		tc.write(data(1, 0), frame.Ping{}, frame.MakeSettings())
		tc.forget()
	}
	// An upload whose server gives credit for every frame.
	id := tc.upload(post())
	for range 2000 {
		tc.send(id, 100)
		tc.write(frame.WindowUpdate{Increment: 50}, frame.WindowUpdate{Increment: 50}, frame.WindowUpdate{Stream: id, Increment: 100})
		tc.forget()
	}
	if err := tc.c.Err(); err != nil {
		t.Fatal(err)
	}
}

// A server that takes large frames and reads them in small pieces gives credit for each piece, on both levels.
func TestB48CreditForPiecesOfLargeFramesIsNoFlood(t *testing.T) {
	tc := newTestConn(t)
	tc.greet(setting(frame.SettingMaxFrameSize, 1<<20), setting(frame.SettingInitialWindowSize, 1<<20))
	tc.write(frame.WindowUpdate{Increment: 1 << 20})
	id := tc.upload(post())
	const piece, size = 1 << 10, 64 << 10
	for range 300 { // 19,200 pieces, and a budget of 10,000 for what serves no purpose
		if n := tc.send(id, size); n != size {
			t.Fatalf("%d octets were sent, want %d", n, size)
		}
		tc.write(repeated(size/piece, frame.WindowUpdate{Increment: piece})...)
		tc.write(repeated(size/piece, frame.WindowUpdate{Stream: id, Increment: piece})...)
		tc.forget()
	}
	if err := tc.c.Err(); err != nil {
		t.Fatal(err)
	}
}

// A server that does not read gets no more than 1,000 answers to hold; resets that the application made are not its
// doing.
func TestB48ServerThatDoesNotRead(t *testing.T) {
	rows.Cover(t, "9113-10.5-4")
	for _, item := range []any{frame.Ping{}, frame.MakeSettings()} {
		tc := newTestConn(t)
		tc.greet()
		tc.open(get("/"))
		tc.forget()
		tc.pause()
		tc.write(repeated(1000, item)...)
		if err := tc.c.Err(); err != nil {
			t.Fatal(err)
		}
		tc.write(item)
		if err := tc.c.Err(); err == nil || err.Code != frame.EnhanceYourCalm {
			t.Fatalf("%v: %v", item, err)
		}
		tc.resume()
		tc.forget()
	}
	tc := newTestConn(t)
	tc.greet()
	for range 2000 {
		tc.open(get("/"))
	}
	tc.pause()
	for id := frame.StreamID(1); id < 4000; id += 2 {
		for i := range tc.sides { // the invariants walk everything, so not after each
			tc.sides[i].c.Reset(tc.now, id, frame.Cancel)
		}
	}
	tc.write(frame.Ping{})
	tc.resume()
	if err := tc.c.Err(); err != nil {
		t.Errorf("after 2,000 cancelled requests and one PING: %v", err)
	}
}

// Limits on what one frame, or one connection, may bring; the number is the last that is accepted.
func TestB48Limits(t *testing.T) {
	rows.Cover(t, "9110-2.3-1", "9113-10.5-1", "9113-10.5-2", "9113-10.5-3")
	settings := func(n int) frame.Settings {
		list := make([]frame.Setting, n)
		for i := range list {
			list[i] = setting(0x4242, 1)
		}
		return frame.MakeSettings(list...)
	}
	t.Run("32 settings in a frame", func(t *testing.T) {
		tc := newTestConn(t)
		tc.greet()
		tc.write(settings(32))
		tc.want("fine", ack)
		tc.forget()
		tc.write(settings(33))
		tc.wantClosed("33", frame.EnhanceYourCalm)
	})
	t.Run("10 GOAWAY frames", func(t *testing.T) {
		tc := newTestConn(t)
		tc.greet()
		tc.open(get("/"))
		tc.write(repeated(10, frame.GoAway{LastStream: 1})...)
		tc.forget()
		tc.write(frame.GoAway{LastStream: 1})
		tc.wantClosed("the 11th", frame.EnhanceYourCalm)
	})
	t.Run("100 promises", func(t *testing.T) {
		tc := newTestConn(t)
		tc.write(frame.MakeSettings())
		tc.open(get("/"))
		for i := range frame.StreamID(100) {
			tc.write(peer.PushPromise{Stream: 1, Promised: 2 + 2*i, Fields: get("/")})
		}
		tc.forget()
		tc.write(peer.PushPromise{Stream: 1, Promised: 202, Fields: get("/")})
		tc.wantClosed("the 101st", frame.EnhanceYourCalm)
	})
	t.Run("100 faults in 30 s", func(t *testing.T) {
		tc := newTestConn(t)
		tc.greet()
		fault := func() { tc.write(wholeResponse(tc.open(get("/")), "abc")) }
		for range 100 {
			fault()
		}
		tc.advance(31 * time.Second)
		for range 100 {
			fault()
		}
		tc.forget()
		id := tc.open(get("/"))
		tc.write(wholeResponse(id, "abc"))
		tc.wantClosed("the 101st", frame.EnhanceYourCalm)
	})
	t.Run("4 KiB of ALTSVC", func(t *testing.T) {
		tc := newTestConn(t)
		tc.greet()
		for n, want := range map[int][]string{4096: {"altsvc len=4096"}, 4097: nil} {
			tc.write(frame.Unknown{Header: frame.Header{Type: frame.TypeAltSvc}, Payload: make([]byte, n)}, frame.Ping{})
			tc.wantEvents("longer ones are passed over", want...)
			tc.want("what follows is in step", frame.Ping{Ack: true})
		}
	})
	t.Run("queue", func(t *testing.T) {
		c := newTestConn(t).c
		for i := range 10101 {
			_, err := c.Open(epoch, get("/"), true)
			c.AppendOutput(epoch, nil, 1<<20)
			if (err == nil) != (i < 10100) {
				t.Fatalf("request %d: %v", i, err)
			}
		}
	})
}

// Reserved bits, undefined flags and obsolete priorities mean nothing.
func TestB49ReservedBitsAndFlags(t *testing.T) {
	rows.Cover(t, "9113-5.3.2-1", "9113-4.1-3", "9113-4.1-6")
	rows.Cover(t, "9113-6.3-3", "9113-6.3-2")
	octets := func(f frame.Frame, change func([]byte)) peer.Raw {
		b := f.AppendTo(nil)
		change(b)
		return b
	}
	streamBit := func(b []byte) { b[5] |= 0x80 }
	payloadBit := func(b []byte) { b[9] |= 0x80 }
	status := []byte("\x00\x07:status\x03200")
	t.Run("reserved bits", func(t *testing.T) {
		tc := newTestConn(t)
		tc.greet()
		tc.open(get("/"))
		tc.upload(post())
		tc.send(3, 65536)
		tc.forget()
		tc.write(octets(frame.Headers{Stream: 1, EndHeaders: true, Fragment: status}, streamBit))
		tc.write(octets(data(1, 5), streamBit))
		tc.write(octets(frame.MakeSettings(), streamBit))
		tc.write(octets(frame.Ping{}, streamBit))
		tc.write(octets(frame.WindowUpdate{Increment: 5}, payloadBit), octets(frame.WindowUpdate{Stream: 3, Increment: 5}, payloadBit))
		tc.write(octets(frame.Priority{Stream: 1, PriorityParam: frame.PriorityParam{DependsOn: 1}}, payloadBit))
		tc.want("answers", ack, frame.Ping{Ack: true})
		tc.wantEvents("normal processing", "response stream=1 status=200", "data stream=1 len=5", "settings", "sendable stream=3")
		if got := tc.quota(3); got != 5 {
			t.Errorf("the window is %d", got)
		}
		tc.write(octets(frame.GoAway{LastStream: 3}, payloadBit))
		tc.wantEvents("the last stream is 3", "goaway NO_ERROR last=3 by-peer")
		tc.write(octets(frame.RSTStream{Stream: 1}, streamBit))
		tc.wantEvents("stream 1", "stream-error stream=1 NO_ERROR by-peer answered")
	})
	t.Run("reserved bit of a promised stream", func(t *testing.T) {
		tc := newTestConn(t)
		tc.write(frame.MakeSettings())
		tc.open(get("/"))
		tc.forget()
		tc.write(frame.Unknown{Header: frame.Header{Type: frame.TypePushPromise, Flags: frame.FlagEndHeaders, Stream: 1},
			Payload: []byte{0x80, 0, 0, 2}})
		tc.want("stream 2", frame.RSTStream{Stream: 2, Code: frame.Cancel})
	})
	t.Run("undefined flags", func(t *testing.T) {
		tc := newTestConn(t)
		tc.greet()
		tc.open(get("/"))
		tc.upload(post())
		tc.forget()
		set := func(f frame.Frame, defined frame.Flags) frame.Unknown {
			b := f.AppendTo(nil)
			h, _ := frame.ParseHeader(b)
			h.Flags |= ^defined
			return frame.Unknown{Header: h, Payload: b[9:]}
		}
		tc.write(
			set(frame.Headers{Stream: 1, EndHeaders: true, Fragment: status}, 0x2d),
			set(data(1, 5), 0x09), set(frame.MakeSettings(), 0x01), set(frame.Ping{}, 0x01), set(frame.Ping{Ack: true}, 0x01),
			set(frame.WindowUpdate{Increment: 5}, 0), set(frame.Priority{Stream: 1}, 0), set(frame.RSTStream{Stream: 3}, 0),
			set(frame.GoAway{LastStream: 1}, 0))
		tc.want("as without them", ack, frame.Ping{Ack: true})
		tc.wantEvents("as without them", "response stream=1 status=200", "data stream=1 len=5", "settings",
			"stream-error stream=3 NO_ERROR by-peer", "goaway NO_ERROR last=1 by-peer")
	})
	t.Run("PRIORITY", func(t *testing.T) {
		self := func(id frame.StreamID) frame.Priority {
			return frame.Priority{Stream: id, PriorityParam: frame.PriorityParam{DependsOn: id, Exclusive: true}}
		}
		tc := newTestConn(t)
		tc.greet()
		tc.open(get("/"))
		tc.open(get("/"))
		tc.reset(3, frame.Cancel)
		tc.forget()
		for _, id := range []frame.StreamID{1, 2, 3, 5, 1<<31 - 1} {
			tc.write(self(id))
		}
		tc.wantIdle("ignored, in every state")
		tc.open(get("/"))
		tc.want("9113-6.3-3: stream 5 is still idle", peer.Headers{Stream: 5, EndStream: true, Fields: get("/")})
	})
	for _, n := range []int{4, 6} {
		wrong := func(id frame.StreamID) frame.Unknown {
			return frame.Unknown{Header: frame.Header{Type: frame.TypePriority, Stream: id}, Payload: make([]byte, n)}
		}
		t.Run(fmt.Sprintf("9113-6.3-2 PRIORITY of %d octets", n), func(t *testing.T) {
			tc := newTestConn(t)
			tc.greet()
			tc.open(get("/"))
			tc.open(get("/"))
			tc.forget()
			tc.write(wrong(1), wholeResponse(3, "200"))
			tc.want("an error of the stream", frame.RSTStream{Stream: 1, Code: frame.FrameSizeError})
			tc.wantEvents("alone", "stream-error stream=1 FRAME_SIZE_ERROR", "response stream=3 status=200 END_STREAM")
			tc.write(wrong(99))
			tc.wantClosed("on an idle stream, where nothing else can be sent", frame.FrameSizeError)
		})
	}
}

// OnFrame sees every frame in both directions, and does not change one.
func TestOnFrame(t *testing.T) {
	var lines []string
	tc := newTestConn(t, withConfig(func(cfg *conn.Config) {
		cfg.OnFrame = func(f conn.FrameTrace) {
			direction := "<"
			if f.Sent {
				direction = ">"
			}
			lines = append(lines, fmt.Sprint(direction, " ", f.Header, " ", f.Fields))
		}
	}))
	tc.greet()
	id := tc.upload(post())
	tc.send(id, 5)
	if err := tc.sendTrailers(id, field("a", "b")); err != nil {
		t.Fatal(err)
	}
	tc.write(head(id, "103"), head(id, "200"), data(id, 3), frame.Ping{}, frame.Unknown{Header: frame.Header{Type: 0x42}},
		frame.WindowUpdate{Increment: 1}, lastData(id, 0))
	tc.consume(id, 3)
	other := tc.open(append(get("/"), field("x", string(make1(20000)))))
	tc.reset(other, frame.Cancel)
	tc.ping([8]byte{1})
	tc.write(head(other, "200", field("late", "1")))
	tc.close()
	want := []string{
		"> SETTINGS len=6 []",
		"< SETTINGS len=0 []",
		"< SETTINGS len=0 ACK []",
		"> SETTINGS len=0 ACK []",
		"> HEADERS stream=1 len=62 END_HEADERS [{:method POST false} {:scheme https false} {:authority example.org false} {:path / false}]",
		"> DATA stream=1 len=5 []",
		"> HEADERS stream=1 len=5 END_STREAM END_HEADERS [{a b false}]",
		"< HEADERS stream=1 len=13 END_HEADERS [{:status 103 false}]",
		"< HEADERS stream=1 len=13 END_HEADERS [{:status 200 false}]",
		"< DATA stream=1 len=3 []",
		"< PING len=8 []",
		"< 0x42 stream=0 len=0 []",
		"< WINDOW_UPDATE stream=0 len=4 []",
		"< DATA stream=1 len=0 END_STREAM []",
		"> PING len=8 ACK []",
		"> WINDOW_UPDATE stream=0 len=4 []",
	}
	for i, line := range want {
		if i >= len(lines) || lines[i] != line {
			t.Fatalf("line %d: want\n%s\ngot\n%s", i, line, lines[min(i, len(lines)-1)])
		}
	}
	var rest []string
	for _, line := range lines[len(want):] {
		rest = append(rest, line[:min(len(line), 40)])
	}
	wantRest := []string{
		"> HEADERS stream=3 len=16384 END_STREAM ", "> CONTINUATION stream=3 len=3684 END_HEA",
		"> RST_STREAM stream=3 len=4 []", "> PING len=8 []",
		"< HEADERS stream=3 len=21 END_HEADERS [{", "> GOAWAY len=8 []",
	}
	if fmt.Sprint(rest) != fmt.Sprint(wantRest) {
		t.Errorf("want %q\ngot %q", wantRest, rest)
	}
}
