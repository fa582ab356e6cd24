package conn_test

import (
	"errors"
	"fmt"
	"testing"

	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
)

// wantData fails unless the client has sent exactly n octets of DATA on the stream, in frames of at most limit octets,
// END_STREAM on the last one if end.
func (tc *testConn) wantData(sentence string, id frame.StreamID, n, limit int, end bool) {
	tc.t.Helper()
	got, ended := 0, false
	for _, v := range tc.sent {
		d, ok := v.(frame.Data)
		if !ok || d.Stream != id || len(d.Data) > limit || ended || d.Padded {
			tc.fatalf("%s: sent %v", sentence, v)
		}
		got += len(d.Data)
		ended = d.EndStream
	}
	tc.sent = nil
	if got != n || ended != end {
		tc.fatalf("%s: sent %d octets, end %v; want %d, end %v", sentence, got, ended, n, end)
	}
}

// A raised INITIAL_WINDOW_SIZE wakes an upload that stands still, and adds to what WINDOW_UPDATE gave.
func TestB06RaisedInitialWindowWakesAnUpload(t *testing.T) {
	rows.Cover(t, "9113-6.9.2-2")
	t.Run("before the server's SETTINGS", func(t *testing.T) {
		tc := newTestConn(t)
		tc.forget()
		id := tc.upload(post())
		tc.forget()
		left := 100000 - tc.sendEnd(id, 100000)
		tc.wantData("65,535 octets fit both windows", id, 65535, 16384, false)
		tc.write(frame.MakeSettings(), frame.WindowUpdate{Increment: 1000000})
		tc.want("SETTINGS are acknowledged", ack)
		tc.wantEvents("the stream's window is still 0", "settings")
		tc.write(frame.MakeSettings(setting(frame.SettingInitialWindowSize, 1048576)))
		tc.want("the setting is acknowledged", ack)
		tc.wantEvents("and wakes the upload", "sendable stream=1", "settings")
		if got := tc.sendEnd(id, left); got != left {
			t.Fatalf("sent %d of %d", got, left)
		}
		tc.wantData("the rest follows", id, left, 16384, true)
	})
	t.Run("from a window of 0", func(t *testing.T) {
		tc := newTestConn(t)
		tc.greet(setting(frame.SettingInitialWindowSize, 0))
		id := tc.upload(post())
		tc.forget()
		if got := tc.send(id, 100); got != 0 {
			t.Fatalf("sent %d octets", got)
		}
		tc.write(frame.MakeSettings(setting(frame.SettingInitialWindowSize, 65535)))
		tc.wantEvents("woken", "sendable stream=1", "settings")
		tc.forget()
		tc.sendEnd(id, 100)
		tc.wantData("all of it", id, 100, 16384, true)
	})
	t.Run("the difference is added", func(t *testing.T) {
		tc := newTestConn(t)
		tc.greet(setting(frame.SettingInitialWindowSize, 1000))
		id := tc.upload(post())
		tc.write(frame.WindowUpdate{Stream: id, Increment: 500})
		tc.write(frame.MakeSettings(setting(frame.SettingInitialWindowSize, 3000)))
		if got := tc.quota(id); got != 3500 {
			t.Errorf("1,500 and the difference of 2,000: want 3500, got %d", got)
		}
		tc.write(frame.MakeSettings(setting(frame.SettingInitialWindowSize, 0)))
		if got := tc.quota(id); got != 500 {
			t.Errorf("what WINDOW_UPDATE gave stays: want 500, got %d", got)
		}
	})
}

// 9113-6.9.2-2: every open stream moves, whatever it has spent; the connection's window never does (9113-6.9.2-5).
func TestB06EveryStreamMoves(t *testing.T) {
	rows.Cover(t, "9113-6.9.2-2", "9113-6.9.2-5")
	tc := newTestConn(t)
	tc.greet()
	tc.write(frame.WindowUpdate{Increment: 1 << 20})
	ids := []frame.StreamID{tc.upload(post()), tc.upload(post()), tc.upload(post())}
	tc.send(ids[0], 65535)
	tc.send(ids[1], 60000)
	tc.forget()
	tc.write(frame.MakeSettings(setting(frame.SettingMaxFrameSize, 1<<20), setting(frame.SettingInitialWindowSize, 100000)))
	for i, want := range []int{34465, 40000, 100000} {
		if got := tc.quota(ids[i]); got != want {
			t.Errorf("stream %d: want %d, got %d", ids[i], want, got)
		}
	}
	late := tc.upload(post())
	if got := tc.quota(late); got != 100000 {
		t.Errorf("a stream opened later: want 100000, got %d", got)
	}
	if got := tc.peer.SendWindow(0); got != 65535+1<<20-125535 {
		t.Errorf("the connection's window is %d", got)
	}
}

// A window below 0 stays below 0, and nothing goes out before it is positive again.
func TestB07NegativeSendWindow(t *testing.T) {
	rows.Cover(t, "9113-6.9.2-3", "9113-6.9.2-4")
	tc := newTestConn(t)
	tc.greet()
	tc.write(frame.WindowUpdate{Increment: 1 << 20})
	id := tc.upload(post())
	tc.forget()
	left := 100000 - tc.send(id, 60000)
	tc.wantData("60,000 of 100,000", id, 60000, 16384, false)
	tc.write(frame.MakeSettings(setting(frame.SettingInitialWindowSize, 16384)))
	tc.forget()
	if got := tc.sendEnd(id, left); got != 0 {
		t.Fatalf("sent %d octets at a window of -43,616", got)
	}
	for range 4 {
		tc.write(frame.WindowUpdate{Stream: id, Increment: 10904})
		tc.wantIdle("not positive yet")
		if got := tc.sendEnd(id, left); got != 0 {
			t.Fatalf("sent %d octets", got)
		}
	}
	tc.write(frame.WindowUpdate{Stream: id, Increment: 1})
	tc.wantEvents("1 octet", "sendable stream=1")
	left -= tc.sendEnd(id, left)
	tc.wantData("is sent", id, 1, 16384, false)
	tc.write(frame.WindowUpdate{Stream: id, Increment: 40000})
	tc.wantEvents("woken", "sendable stream=1")
	tc.sendEnd(id, left)
	tc.wantData("the rest", id, 39999, 16384, true)
}

// An upload that stands still hears how its stream, or its connection, ends.
func TestB08ParkedUploadHearsTheEnd(t *testing.T) {
	rows.Cover(t, "9113-5.2.1-3")
	tests := []struct {
		name   string
		end    func(tc *testConn, id frame.StreamID)
		events []string
		sent   []fmt.Stringer
	}{
		{"413, END_STREAM, RST_STREAM(NO_ERROR)", func(tc *testConn, id frame.StreamID) {
			tc.write(wholeResponse(id, "413"), frame.RSTStream{Stream: id})
		}, []string{"response stream=1 status=413 END_STREAM", "send-stopped stream=1 NO_ERROR by-peer answered"}, nil},
		{"RST_STREAM(CANCEL)", func(tc *testConn, id frame.StreamID) {
			tc.write(frame.RSTStream{Stream: id, Code: frame.Cancel})
		}, []string{"stream-error stream=1 CANCEL by-peer"}, nil},
		{"GOAWAY below it", func(tc *testConn, id frame.StreamID) {
			tc.write(frame.GoAway{LastStream: 0})
		}, []string{"goaway NO_ERROR last=0 by-peer", "stream-error stream=1 NO_ERROR last=0 by-peer not-processed", "closed"},
			[]fmt.Stringer{frame.GoAway{}}},
		{"the transport fails", func(tc *testConn, id frame.StreamID) {
			tc.fail(errors.New("reset"))
		}, []string{"stream-error stream=1 INTERNAL_ERROR with-connection", "closed INTERNAL_ERROR"}, nil},
		{"the application gives up", func(tc *testConn, id frame.StreamID) {
			tc.reset(id, frame.Cancel)
		}, nil, []fmt.Stringer{frame.RSTStream{Stream: 1, Code: frame.Cancel}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tc := newTestConn(t)
			tc.greet()
			id := tc.upload(post())
			tc.send(id, 200000)
			tc.forget()
			tt.end(tc, id)
			tc.wantEvents("told at once", tt.events...)
			tc.want("and", tt.sent...)
			tc.write(frame.WindowUpdate{Increment: 200000})
			tc.wantIdle("no credit wakes it any more")
			if got := tc.send(id, 1); got != 0 {
				t.Error("an octet was sent on a stream that is over")
			}
		})
	}
}

// The response is complete, the server wants no more of the upload: the response stays, nothing is answered.
func TestB24CompleteResponseThenResetStopsTheUploadOnly(t *testing.T) {
	rows.Cover(t, "9113-8.1-8", "9113-8.1-9")
	for _, code := range []frame.ErrCode{frame.NoError, frame.Cancel, frame.StreamClosed} {
		tc := newTestConn(t)
		tc.greet()
		id := tc.upload(post())
		tc.send(id, 1000)
		tc.forget()
		tc.write(head(id, "403"), frame.Data{Stream: id, Data: []byte("no"), EndStream: true},
			frame.RSTStream{Stream: id, Code: code})
		tc.wantEvents("all of it arrives", "response stream=1 status=403", "data stream=1 len=2 END_STREAM",
			"send-stopped stream=1 "+code.String()+" by-peer answered")
		tc.wantBody("the body too", id, "no")
		tc.wantIdle("no RST_STREAM goes back")
		if got := tc.send(id, 1); got != 0 {
			t.Error("the upload went on")
		}
		tc.consume(id, 2)
		tc.want("what the application reads is given back on the connection", frame.WindowUpdate{Increment: 2})
		tc.endStream(id)
		tc.reset(id, frame.Cancel)
		tc.wantIdle("nothing is sent on the stream any more")
	}
}

// The body is not read yet when the server stops an upload that stands still: no credit wakes the upload any more.
func TestB24StoppedUploadIsNotWoken(t *testing.T) {
	tc := newTestConn(t)
	tc.greet()
	id := tc.upload(post())
	tc.send(id, 100000)
	tc.write(head(id, "403"), lastData(id, 2), frame.RSTStream{Stream: id})
	tc.forget()
	tc.write(frame.WindowUpdate{Increment: 1000}, frame.WindowUpdate{Stream: id, Increment: 1000},
		frame.MakeSettings(setting(frame.SettingInitialWindowSize, 1<<20)))
	tc.wantEvents("nothing for the stream", "settings")
	tc.consume(id, 2)
}

// With the response incomplete, the same reset fails it.
func TestB24ResetBeforeTheEndFailsTheResponse(t *testing.T) {
	for _, code := range []frame.ErrCode{frame.NoError, frame.InternalError, 0xdeadbeef} {
		tc := newTestConn(t)
		tc.greet()
		id := tc.upload(post())
		tc.write(head(id, "200"), data(id, 5))
		tc.forget()
		tc.write(frame.RSTStream{Stream: id, Code: code})
		tc.wantEvents("the code is kept", "stream-error stream=1 "+code.String()+" by-peer answered")
		tc.want("the unread octets are given back; RST_STREAM is not answered", frame.WindowUpdate{Increment: 5})
	}
}

// An early response does not stop the upload by itself (9113-5.1-10, 9110-7.5-1).
func TestB24EarlyResponseLetsTheUploadGoOn(t *testing.T) {
	rows.Cover(t, "9113-5.1-10", "9110-7.5-1")
	tc := newTestConn(t)
	tc.greet()
	id := tc.upload(post())
	tc.write(wholeResponse(id, "200"))
	tc.forget()
	tc.sendEnd(id, 70000)
	tc.wantData("within the window", id, 65535, 16384, false)
	tc.write(frame.WindowUpdate{Increment: 100000}, frame.WindowUpdate{Stream: id, Increment: 100000})
	tc.wantEvents("woken", "sendable stream=1")
	tc.sendEnd(id, 70000-65535)
	tc.wantData("to its end", id, 70000-65535, 16384, true)
	if n := tc.c.OpenStreams(); n != 0 {
		t.Errorf("%d streams are open", n)
	}
}

// DATA keeps to the smaller of both windows and to the peer's frame size, to the octet.
func TestSendQuotaIsExact(t *testing.T) {
	rows.Cover(t, "9113-6.9.1-1", "9113-4.1-1")
	tests := []struct {
		name         string
		stream, conn uint32 // windows
		maxFrame     uint32
		want         int
		quota, after int
	}{
		{"the frame size", 65535, 65535, 16384, 65535, 16384, 0},
		{"the stream", 10, 65535, 16384, 10, 10, 0},
		{"a larger frame size", 200000, 200000, 100000, 200000, 100000, 0},
		{"the largest frame size", 1<<31 - 1, 1<<31 - 1, 1<<24 - 1, 1 << 20, 1<<24 - 1, 1<<24 - 1},
		{"the connection", 100000, 65535, 1 << 20, 65535, 65535, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tc := newTestConn(t)
			tc.greet(setting(frame.SettingInitialWindowSize, tt.stream), setting(frame.SettingMaxFrameSize, tt.maxFrame))
			if tt.conn > 65535 {
				tc.write(frame.WindowUpdate{Increment: tt.conn - 65535})
			}
			id := tc.upload(post())
			tc.forget()
			if got := tc.quota(id); got != tt.quota {
				t.Errorf("SendQuota: want %d, got %d", tt.quota, got)
			}
			tc.send(id, 1<<20)
			tc.wantData("as much as the windows allow", id, tt.want, int(tt.maxFrame), false)
			if got := tc.quota(id); got != tt.after {
				t.Errorf("SendQuota after: want %d, got %d", tt.after, got)
			}
		})
	}
}

// MAX_FRAME_SIZE holds from the moment it is received (9113-6.5.3-1), and the acknowledgement leaves before the DATA
// that depends on it (9113-6.5.3-3).
func TestSettingsHoldAtOnce(t *testing.T) {
	rows.Cover(t, "9113-6.5.3-1", "9113-6.5.3-3")
	tc := newTestConn(t)
	tc.greet(setting(frame.SettingMaxFrameSize, 20000))
	id := tc.upload(post())
	tc.forget()
	tc.pause()
	tc.write(frame.MakeSettings(setting(frame.SettingMaxFrameSize, 16384), setting(frame.SettingInitialWindowSize, 100)))
	tc.stuck = false
	tc.send(id, 1000)
	tc.want("first the acknowledgement, then DATA under the new values", ack, data(id, 100))
}

// No window holds back the end of a stream (9113-6.9.1-2), and trailers are not flow controlled.
func TestEndsAtZeroWindow(t *testing.T) {
	rows.Cover(t, "9113-6.9.1-2")
	tc := newTestConn(t)
	tc.greet(setting(frame.SettingInitialWindowSize, 0))
	a, b := tc.upload(post()), tc.upload(post())
	tc.quota(a)
	tc.quota(b)
	tc.forget()
	tc.endStream(a)
	tc.want("an empty DATA frame", frame.Data{Stream: a, EndStream: true})
	if err := tc.sendTrailers(b, field("x-sum", "1")); err != nil {
		t.Fatal(err)
	}
	tc.want("trailers", trailers(b, field("x-sum", "1")))
	tc.endStream(a)
	tc.endStream(b)
	if err := tc.sendTrailers(a, field("x", "y")); err != nil {
		t.Fatal(err)
	}
	tc.wantIdle("once is enough")
	tc.write(frame.MakeSettings(setting(frame.SettingInitialWindowSize, 1000)))
	tc.wantEvents("neither is woken", "settings")
}

// A stream that has to wait for its slot is ended with its head, or right after it.
func TestEndsBeforeTheHeadLeft(t *testing.T) {
	tc := newTestConn(t)
	tc.greet(setting(frame.SettingMaxConcurrentStreams, 1))
	first := tc.open(get("/"))
	b, c, d := tc.upload(post()), tc.upload(post()), tc.upload(post())
	tc.forget()
	tc.endStream(b)
	if err := tc.sendTrailers(c, field("x-sum", "1")); err != nil {
		t.Fatal(err)
	}
	if err := tc.sendTrailers(d, field("x-sum", "1")); err != nil {
		t.Fatal(err)
	}
	tc.wantIdle("all wait")
	tc.reset(d, frame.Cancel)
	tc.write(wholeResponse(first, "200"))
	tc.want("END_STREAM is on the head", peer.Headers{Stream: b, EndStream: true, Fields: post()})
	tc.write(wholeResponse(b, "200"))
	tc.want("trailers follow the head", peer.Headers{Stream: c, Fields: post()}, trailers(c, field("x-sum", "1")))
	tc.write(wholeResponse(c, "200"))
	if n := tc.c.OpenStreams(); n != 0 {
		t.Errorf("%d streams are open", n)
	}
}

// A field block above the peer's frame size goes out as HEADERS and CONTINUATION without anything in between.
func TestLongHeadsAreSplit(t *testing.T) {
	rows.Cover(t, "9113-6.2-2", "9113-4.3-4", "9113-4.1-1")
	for _, size := range []int{16384 - 84, 16384 - 83, 2 * 16384, 100000} {
		tc := newTestConn(t)
		tc.greet()
		fields := append(get("/"), field("x-long", string(make1(size))))
		tc.pause()
		tc.write(frame.Ping{Data: [8]byte{1}}, frame.MakeSettings())
		id := tc.open(fields)
		tc.forget()
		tc.resume()
		block := 0
		for _, f := range fields {
			block += 1 + len(f.Name) + len(f.Value) + lengthOctets(len(f.Name)) + lengthOctets(len(f.Value))
		}
		tc.want("the answers come first, then the whole block", ack, frame.Ping{Ack: true, Data: [8]byte{1}},
			peer.Headers{Stream: id, EndStream: true, Fields: fields, Continuations: (block - 1) / 16384})
	}
	// Trailers are split in the same way.
	tc := newTestConn(t)
	tc.greet()
	id := tc.upload(post())
	tc.forget()
	long := field("x-long", string(make1(40000)))
	if err := tc.sendTrailers(id, long); err != nil {
		t.Fatal(err)
	}
	tc.want("trailers", peer.Headers{Stream: id, EndStream: true, Fields: []frame.Field{long}, Continuations: 2})
}

func make1(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'v'
	}
	return b
}

// lengthOctets is how many octets the length of a string literal takes, with its prefix of 7 bits.
func lengthOctets(n int) int {
	if n < 127 {
		return 1
	}
	k := 2
	for n -= 127; n >= 128; n >>= 7 {
		k++
	}
	return k
}

// Every DATA frame that is under way while the window shrinks was legal when it was packed.
func TestWindowsShrinkUnderAnUpload(t *testing.T) {
	tc := newTestConn(t)
	tc.greet()
	id := tc.upload(post())
	tc.forget()
	sent := 0
	for i := range 200 {
		n := uint32(i*7919) % 70000
		tc.write(frame.MakeSettings(setting(frame.SettingInitialWindowSize, n)))
		sent += tc.send(id, 1000+i)
		if i%3 == 0 {
			tc.write(frame.WindowUpdate{Increment: 700}, frame.WindowUpdate{Stream: id, Increment: 650})
		}
	}
	if sent == 0 {
		t.Error("nothing was sent")
	}
	tc.forget()
}

// A stream is safe to send again as long as its head has not left the process.
func TestWrittenTellsWhatLeft(t *testing.T) {
	newConn := func() *conn.Conn {
		tc := newTestConn(t)
		tc.greet()
		return tc.c
	}
	c := newConn()
	before := c.Packed()
	for range 2 {
		if _, err := c.Open(epoch, get("/"), true); err != nil {
			t.Fatal(err)
		}
	}
	out := c.AppendOutput(epoch, nil, 1) // the first head alone
	if c.Packed() != before+int64(len(out)) {
		t.Fatalf("packed %d octets, counted %d", len(out), c.Packed()-before)
	}
	c.AppendOutput(epoch, nil, 1)
	c.Written(before + int64(len(out)))
	if _, err := c.Open(epoch, get("/"), true); err != nil { // stays in the queue
		t.Fatal(err)
	}
	c.Fail(epoch, errors.New("broken pipe"))
	var got []string
	for ev := c.NextEvent(); ev.Kind != conn.None; ev = c.NextEvent() {
		if ev.Kind == conn.StreamError {
			got = append(got, ev.String())
		}
	}
	want := []string{
		"stream-error stream=1 INTERNAL_ERROR with-connection",
		"stream-error stream=3 INTERNAL_ERROR with-connection not-processed",
		"stream-error stream=5 INTERNAL_ERROR with-connection not-processed",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("want %q, got %q", want, got)
	}
}

// After a request whose head left in part only, the peer may have got enough; a head of which the last octet is missing
// cannot have been understood.
func TestWrittenToTheLastOctet(t *testing.T) {
	for _, missing := range []int64{0, 1} {
		tc := newTestConn(t)
		tc.greet()
		c := tc.c
		if _, err := c.Open(epoch, get("/"), true); err != nil {
			t.Fatal(err)
		}
		c.AppendOutput(epoch, nil, 1<<20)
		c.Written(c.Packed() - missing)
		c.Fail(epoch, errors.New("broken pipe"))
		for ev := c.NextEvent(); ev.Kind != conn.None; ev = c.NextEvent() {
			if ev.Kind == conn.StreamError && ev.Err.NotProcessed != (missing > 0) {
				t.Errorf("%d octets missing: %v", missing, ev)
			}
		}
	}
}

// AppendOutput stops after the frame with which it has enough, and HasOutput says that there is more.
func TestAppendOutputInPieces(t *testing.T) {
	tc := newTestConn(t)
	tc.greet()
	tc.pause()
	for i := range byte(5) {
		tc.write(frame.Ping{Data: [8]byte{i}}, frame.MakeSettings())
		tc.open(get("/"))
	}
	var pieces int
	var out []byte
	for tc.c.HasOutput() {
		piece := tc.c.AppendOutput(tc.now, nil, 1)
		if n := len(frameLines(piece)); n != 1 {
			t.Fatalf("%d frames in one piece", n)
		}
		pieces++
		out = append(out, piece...)
	}
	if pieces != 15 {
		t.Errorf("want 15 pieces, got %d", pieces)
	}
	other := tc.sides[1].c.AppendOutput(tc.now, nil, 1<<20)
	if string(other) != string(out) {
		t.Errorf("in one piece it is %q", frameLines(other))
	}
}
