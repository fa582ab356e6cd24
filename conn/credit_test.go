package conn_test

import (
	"testing"
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
)

// Octets that were buffered and never read, and DATA that is under way when the application gives up, come back to the
// connection however the stream ended.
//
// Contract: S19.
func TestB01UnreadBodiesGiveConnectionCreditBack(t *testing.T) {
	rows.Cover(t, "9113-6.9-5")
	ends := []struct {
		name string
		end  func(tc *testConn, id frame.StreamID)
		// late: the server may go on for a while after the end.
		late bool
	}{
		{"cancel", func(tc *testConn, id frame.StreamID) { tc.reset(id, frame.Cancel) }, true},
		{"server resets", func(tc *testConn, id frame.StreamID) {
			tc.write(frame.RSTStream{Stream: id, Code: frame.InternalError})
		}, false},
		{"server ends, application closes unread", func(tc *testConn, id frame.StreamID) {
			tc.write(frame.Data{Stream: id, EndStream: true})
			tc.reset(id, frame.Cancel)
		}, false},
		{"malformed trailers", func(tc *testConn, id frame.StreamID) { tc.write(trailers(id, field("Bad", "x"))) }, true},
		{"window of the stream exceeded", func(tc *testConn, id frame.StreamID) {
			tc.write(frame.WindowUpdate{Stream: id, Increment: 1<<31 - 1})
		}, true},
	}
	for _, tt := range ends {
		t.Run(tt.name, func(t *testing.T) {
			tc := newTestConn(t)
			tc.greet()
			tc.ignore(frame.TypeWindowUpdate, frame.TypeRSTStream, frame.TypeHeaders)
			id := tc.open(get("/"))
			tc.write(head(id, "200"))
			for left := 65535; left > 0; left -= 16384 {
				tc.write(data(id, min(left, 16384)))
			}
			tc.wantConnWindow("all of the window is taken", 0)
			tt.end(tc, id)
			tc.wantConnWindow("all of it is back", 65535)
			if tt.late {
				for range 4 {
					tc.write(data(id, 10000), frame.Data{Stream: id, Padded: true, PadLength: 255, Data: make([]byte, 744)})
				}
				tc.wantConnWindow("and what was under way too", 65535)
			}
			tc.forget()
			next := tc.open(get("/"))
			tc.reading = true
			tc.write(head(next, "200"), data(next, 16384), data(next, 16384), lastData(next, 16384))
			tc.wantEvents("the next response comes through", "opened stream=3", "response stream=3 status=200",
				"data stream=3 len=49152 END_STREAM")
			tc.wantConnWindow("and is paid back", 65535)
		})
	}
}

func (tc *testConn) wantConnWindow(sentence string, n int64) {
	tc.t.Helper()
	if got := tc.peer.RecvWindow(0); got != n {
		tc.fatalf("%s: the server may send %d octets on the connection, want %d", sentence, got, n)
	}
}

func (tc *testConn) wantStreamWindow(sentence string, id frame.StreamID, n int64) {
	tc.t.Helper()
	if got := tc.peer.RecvWindow(id); got != n {
		tc.fatalf("%s: the server may send %d octets on stream %d, want %d", sentence, got, id, n)
	}
}

// A thousand streams that are given up in mid-body leave nothing behind (9113-5.1-16).
func TestB01ThousandResetsInMidBody(t *testing.T) {
	rows.Cover(t, "9113-5.1-16")
	tc := newTestConn(t)
	tc.greet()
	for range 1000 {
		id := tc.open(get("/"))
		tc.write(head(id, "200"), data(id, 300))
		tc.reset(id, frame.Cancel)
		tc.write(data(id, 100))
		tc.forget()
		tc.advance(100 * time.Millisecond)
	}
	tc.wantConnWindow("400 octets of 1,000 streams came back", 65535)
}

// The application gives a stream up between two pieces of one DATA frame.
func TestB01ResetWithinADataFrame(t *testing.T) {
	for _, f := range []frame.Data{
		{Stream: 1, Data: make([]byte, 1000)},
		{Stream: 1, Data: make([]byte, 1000), EndStream: true},
		{Stream: 1, Data: make([]byte, 1000), Padded: true, PadLength: 100},
		{Stream: 1, Data: make([]byte, 1000), Padded: true, PadLength: 100, EndStream: true},
	} {
		octets := f.AppendTo(nil)
		for _, cut := range []int{1, 8, 9, 10, 11, 500, len(octets) - 101, len(octets) - 1} {
			tc := newTestConn(t)
			tc.greet()
			tc.ignore(frame.TypeWindowUpdate, frame.TypeHeaders)
			id := tc.open(get("/"))
			tc.write(head(id, "200"))
			tc.forget()
			tc.write(peer.Raw(octets[:cut]))
			tc.forget()
			tc.reset(id, frame.Cancel)
			tc.write(peer.Raw(octets[cut:]))
			tc.want("one reset", frame.RSTStream{Stream: 1, Code: frame.Cancel})
			tc.wantEvents("no event follows")
			tc.wantConnWindow("every octet comes back", 65535)
			// The record of the stream may serve another one by now.
			next := tc.open(get("/"))
			tc.write(head(next, "200"), lastData(next, 10))
			tc.wantEvents("the next stream works", "opened stream=3", "response stream=3 status=200",
				"data stream=3 len=10 END_STREAM")
		}
	}
}

// B02 is a matter of the strategy: with a connection window above that of a stream, one reader that does not read
// leaves the others theirs.
func TestB02OneSlowReaderLeavesItsSiblingsTheirWindow(t *testing.T) {
	tc := newTestConn(t, withRecvWindow(65535, 3*65535))
	tc.greet()
	slow := tc.open(get("/slow"))
	tc.write(head(slow, "200"))
	for left := 65535; left > 0; left -= 16384 {
		tc.write(data(slow, min(left, 16384)))
	}
	tc.wantStreamWindow("the slow stream is full", slow, 0)
	fast := tc.open(get("/fast"))
	tc.write(head(fast, "200"))
	for range 64 { // 1 MiB
		tc.write(data(fast, 16384))
		tc.consume(fast, 16384)
	}
	tc.write(lastData(fast, 0))
	tc.wantStreamWindow("the slow stream is as it was", slow, 0)
	tc.wantConnWindow("it holds one window of the connection's", 2*65535)
	tc.wantBody("the other one is complete", fast, string(make([]byte, 64*16384)))
}

// Padding, its length octet too, is charged and given back: the application never sees it.
func TestB03PaddingIsGivenBack(t *testing.T) {
	rows.Cover(t, "9113-6.1-5")
	frames := []frame.Data{
		{Padded: true, PadLength: 255, Data: []byte{1}},
		{Padded: true, PadLength: 0, Data: []byte{1}},
		{Padded: true, PadLength: 255},
		{Padded: true, PadLength: 0},
		{Padded: true, PadLength: 1, Data: make([]byte, 16000)},
	}
	for _, f := range frames {
		t.Run(f.String(), func(t *testing.T) {
			tc := newTestConn(t)
			tc.greet()
			tc.ignore(frame.TypeWindowUpdate)
			tc.reading = true
			f.Stream = tc.open(get("/"))
			tc.write(head(f.Stream, "200"))
			n := 300
			if len(f.Data) > 1 {
				n = 10
			}
			for range n {
				tc.write(f)
			}
			tc.write(lastData(f.Stream, 0))
			tc.wantStreamWindow("the stream's window is whole", f.Stream, 65535)
			tc.wantConnWindow("the connection's too", 65535)
			tc.wantBody("the data arrived", f.Stream, repeat(string(f.Data), n))
		})
	}
}

func repeat(s string, n int) string {
	b := make([]byte, 0, len(s)*n)
	for range n {
		b = append(b, s...)
	}
	return string(b)
}

// Padding that fills the payload, or more, is an error of the connection (9113-6.1-4).
func TestB03PaddingAsLongAsThePayload(t *testing.T) {
	rows.Cover(t, "9113-6.1-4")
	for _, pad := range []byte{10, 11, 255} {
		tc := newTestConn(t)
		tc.greet()
		id := tc.open(get("/"))
		tc.write(head(id, "200"))
		tc.write(frame.Unknown{Header: frame.Header{Type: frame.TypeData, Flags: frame.FlagPadded, Stream: id},
			Payload: append([]byte{pad}, make([]byte, 9)...)})
		tc.wantClosed("the padding leaves no room for itself", frame.ProtocolError)
	}
}

// initialWindow is a strategy that changes the initial stream window when it is told to, and tops up every stream to
// it when the change is acknowledged.
type initialWindow struct {
	returning
	next    int64 // ask for this at the next event
	streams map[uint32]flow.Offsets
}

func (w *initialWindow) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	if ev.Stream != 0 {
		w.streams[ev.Stream] = ev.StreamWindow
	}
	if w.next >= 0 {
		dst = append(dst, flow.SetInitialWindow(w.next))
		w.stream, w.next = w.next, -1
	}
	return w.returning.Decide(now, ev, dst)
}

// The other direction of B07: the client lowers its own initial window below what it has received and read. What the
// server sends under the old value is no error, and the windows come up to the new target again.
func TestB07LoweredReceiveWindow(t *testing.T) {
	rows.Cover(t, "9113-6.9.3-1")
	var made []*initialWindow
	tc := newTestConn(t, withStrategy(func() flow.Strategy {
		w := &initialWindow{returning: returning{stream: 65535, conn: 1 << 20}, next: -1, streams: map[uint32]flow.Offsets{}}
		made = append(made, w)
		return w
	}))
	tc.greet()
	id := tc.open(get("/"))
	tc.write(head(id, "200"), data(id, 16384), data(id, 16384))
	tc.forget()
	for _, w := range made {
		w.next = 1000
	}
	tc.consume(id, 20000)
	tc.want("the new window is announced; the old one is still in force",
		frame.MakeSettings(setting(frame.SettingInitialWindowSize, 1000)),
		frame.WindowUpdate{Increment: 20000})
	tc.wantStreamWindow("the server still has the old one", id, 65535-2*16384)

	tc.write(data(id, 16384))
	tc.wantEvents("what was sent under it is no error", "data stream=1 len=16384")
	tc.write(frame.Settings{Ack: true})
	tc.wantStreamWindow("now it is lower by 64,535", id, 65535-3*16384-64535)
	tc.wantConnWindow("the connection's window is not touched", 1<<20-3*16384+20000)
	tc.forget()

	tc.consume(id, 3*16384-20000)
	tc.want("reading brings the windows up to their targets",
		frame.WindowUpdate{Stream: id, Increment: 3*16384 + 1000 - 1000},
		frame.WindowUpdate{Increment: 3*16384 - 20000})
	tc.wantStreamWindow("the new target is reached", id, 1000)
	tc.write(data(id, 1001))
	tc.want("one octet more is an error now",
		frame.RSTStream{Stream: id, Code: frame.FlowControlError}, frame.WindowUpdate{Increment: 1001})
}
