package conn_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
)

// What is above the last stream of GOAWAY was not processed and is safe to send again; the rest completes.
func TestB17StreamsAboveTheLastOneWereNotProcessed(t *testing.T) {
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/1"))
	tc.open(get("/3"))
	tc.upload(post())
	tc.send(5, 100)
	tc.forget()
	tc.write(frame.GoAway{LastStream: 1, Debug: []byte("restart\n")})
	tc.wantEvents("3 and 5 were not processed", "goaway NO_ERROR last=1 by-peer",
		"stream-error stream=3 NO_ERROR last=1 by-peer not-processed",
		"stream-error stream=5 NO_ERROR last=1 by-peer not-processed")
	tc.wantIdle("no RST_STREAM for them")
	if _, err := tc.tryOpen(get("/"), true); !errors.Is(err, conn.ErrClosed) {
		t.Errorf("a new request: want ErrClosed, got %v", err)
	}
	tc.write(head(1, "200"), lastData(1, 5))
	tc.wantEvents("1 completes", "response stream=1 status=200", "data stream=1 len=5 END_STREAM")
	tc.consume(1, 5)
	tc.want("nobody needs the connection any more", frame.GoAway{})
	tc.wantEvents("it is over, without an error", "closed")
	if !tc.c.Done() || tc.c.Err() != nil {
		t.Errorf("Done %v, Err %v", tc.c.Done(), tc.c.Err())
	}
}

// Streams that wait for a slot were not processed either, whatever the last stream is.
func TestB17QueuedStreams(t *testing.T) {
	tc := newTestConn(t)
	tc.greet(setting(frame.SettingMaxConcurrentStreams, 1))
	for range 4 {
		tc.open(get("/"))
	}
	tc.forget()
	tc.write(frame.GoAway{LastStream: 3})
	tc.wantEvents("none of them leaves", "goaway NO_ERROR last=3 by-peer",
		"stream-error stream=3 NO_ERROR last=3 by-peer not-processed",
		"stream-error stream=5 NO_ERROR last=3 by-peer not-processed",
		"stream-error stream=7 NO_ERROR last=3 by-peer not-processed")
	tc.write(wholeResponse(1, "200"))
	tc.wantEvents("the open one completes, and nothing is opened after GOAWAY",
		"response stream=1 status=200 END_STREAM", "closed")
	tc.want("the end", frame.GoAway{})
}

// A stream that was answered in part is not said to be unprocessed, even if the server claims so.
func TestB17AnsweredStreamsAreNotRetried(t *testing.T) {
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/"))
	tc.open(get("/"))
	tc.write(head(1, "103"), head(3, "200"), data(3, 5))
	tc.forget()
	tc.write(frame.GoAway{LastStream: 0, Code: frame.EnhanceYourCalm})
	tc.wantEvents("both were answered", "goaway ENHANCE_YOUR_CALM last=0 by-peer",
		"stream-error stream=1 ENHANCE_YOUR_CALM last=0 by-peer answered",
		"stream-error stream=3 ENHANCE_YOUR_CALM last=0 by-peer answered", "closed")
}

// REFUSED_STREAM says that nothing was done, unless something was answered.
func TestB17RefusedStream(t *testing.T) {
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/"))
	tc.open(get("/"))
	tc.write(head(3, "200"))
	tc.forget()
	tc.write(frame.RSTStream{Stream: 1, Code: frame.RefusedStream}, frame.RSTStream{Stream: 3, Code: frame.RefusedStream})
	tc.wantEvents("the one, not the other", "stream-error stream=1 REFUSED_STREAM by-peer not-processed",
		"stream-error stream=3 REFUSED_STREAM by-peer answered")
}

// Two-step shutdown: the first GOAWAY stops new streams, the second says which were processed; a connection that has
// drained is closed, GOAWAY first.
func TestB19GracefulGoAwayDrains(t *testing.T) {
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/1"))
	tc.open(get("/3"))
	tc.forget()
	tc.write(frame.GoAway{LastStream: 1<<31 - 1})
	tc.wantEvents("nothing fails", "goaway NO_ERROR last=2147483647 by-peer")
	if tc.c.Available() {
		t.Error("the connection says that it takes new streams")
	}
	if _, err := tc.tryOpen(get("/5"), true); !errors.Is(err, conn.ErrClosed) {
		t.Errorf("want ErrClosed, got %v", err)
	}
	tc.write(frame.GoAway{LastStream: 3})
	tc.wantEvents("3 may still complete", "goaway NO_ERROR last=3 by-peer")
	tc.write(wholeResponse(3, "200"))
	tc.wantEvents("3", "response stream=3 status=200 END_STREAM")
	tc.wantIdle("1 is still open")
	tc.write(head(1, "200"), data(1, 3), trailers(1, field("x", "y")))
	tc.wantEvents("1", "response stream=1 status=200", "data stream=1 len=3", `trailers stream=1 x="y" END_STREAM`)
	tc.consume(1, 3)
	tc.wantEvents("the last event", "closed")
	tc.want("and the last frame, whose last stream speaks of the server's own", frame.GoAway{})
}

// The last stream of GOAWAY may fall; a rise is not trusted (9113-6.8-4).
func TestB19LastStreamFallsOnly(t *testing.T) {
	rows.Cover(t, "9113-6.8-4")
	tc := newTestConn(t)
	tc.greet()
	for range 3 {
		tc.open(get("/"))
	}
	tc.forget()
	tc.write(frame.GoAway{LastStream: 3}, frame.GoAway{LastStream: 5}, frame.GoAway{LastStream: 1})
	tc.wantEvents("5 fails once, 3 later", "goaway NO_ERROR last=3 by-peer",
		"stream-error stream=5 NO_ERROR last=3 by-peer not-processed", "goaway NO_ERROR last=3 by-peer",
		"goaway NO_ERROR last=1 by-peer", "stream-error stream=3 NO_ERROR last=1 by-peer not-processed")
}

// Whatever ends the last stream of a draining connection, its event comes before Closed and its RST_STREAM before
// GOAWAY.
func TestB19TheLastStreamIsToldBeforeTheEnd(t *testing.T) {
	tests := []struct {
		name   string
		end    func(tc *testConn)
		events []string
		sent   []fmt.Stringer
	}{
		{"head", func(tc *testConn) { tc.write(wholeResponse(1, "204")) },
			[]string{"response stream=1 status=204 END_STREAM"}, nil},
		{"empty DATA", func(tc *testConn) { tc.write(head(1, "200"), lastData(1, 0)) },
			[]string{"response stream=1 status=200", "data stream=1 len=0 END_STREAM"}, nil},
		{"padding", func(tc *testConn) {
			tc.write(head(1, "200"), frame.Data{Stream: 1, EndStream: true, Padded: true, PadLength: 3})
		}, []string{"response stream=1 status=200", "data stream=1 len=0 END_STREAM"},
			[]fmt.Stringer{frame.WindowUpdate{Stream: 1, Increment: 4}, frame.WindowUpdate{Increment: 4}}},
		{"trailers", func(tc *testConn) { tc.write(head(1, "200"), trailers(1, field("a", "b"))) },
			[]string{"response stream=1 status=200", `trailers stream=1 a="b" END_STREAM`}, nil},
		{"reset by the server", func(tc *testConn) { tc.write(frame.RSTStream{Stream: 1, Code: frame.Cancel}) },
			[]string{"stream-error stream=1 CANCEL by-peer"}, nil},
		{"malformed", func(tc *testConn) { tc.write(head(1, "0")) },
			[]string{"stream-error stream=1 PROTOCOL_ERROR"},
			[]fmt.Stringer{frame.RSTStream{Stream: 1, Code: frame.ProtocolError}}},
		{"given up", func(tc *testConn) { tc.reset(1, frame.Cancel) }, nil,
			[]fmt.Stringer{frame.RSTStream{Stream: 1, Code: frame.Cancel}}},
		{"given up while a PING waits", func(tc *testConn) {
			tc.pause()
			tc.write(frame.Ping{Data: [8]byte{7}})
			tc.reset(1, frame.Cancel)
			tc.resume()
		}, nil, []fmt.Stringer{frame.Ping{Ack: true, Data: [8]byte{7}}, frame.RSTStream{Stream: 1, Code: frame.Cancel}}},
	}
	for _, byServer := range []bool{true, false} {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s, by the server %v", tt.name, byServer), func(t *testing.T) {
				tc := newTestConn(t)
				tc.greet()
				tc.open(get("/"))
				sent := tt.sent
				if byServer {
					tc.write(frame.GoAway{LastStream: 1})
					sent = append(sent[:len(sent):len(sent)], frame.GoAway{})
				} else {
					tc.shutdown()
				}
				tc.forget()
				tt.end(tc)
				// Credit for what ended the stream is not needed any more.
				var got []fmt.Stringer
				for _, v := range tc.sent {
					if _, ok := v.(frame.WindowUpdate); !ok {
						got = append(got, v)
					}
				}
				tc.sent = got
				if tt.name == "padding" {
					sent = sent[2:]
				}
				tc.want("what is owed, then GOAWAY, once", sent...)
				tc.wantEvents("the stream first", append(tt.events, "closed")...)
				if !tc.c.Done() {
					t.Error("the connection is not done")
				}
			})
		}
	}
}

// The application's own graceful end: GOAWAY leaves at once, open streams finish, waiting ones are safe elsewhere.
func TestB19Shutdown(t *testing.T) {
	tc := newTestConn(t)
	tc.greet(setting(frame.SettingMaxConcurrentStreams, 1))
	tc.open(get("/"))
	tc.open(get("/"))
	tc.forget()
	tc.shutdown()
	tc.want("GOAWAY", frame.GoAway{})
	tc.wantEvents("the waiting one", "stream-error stream=3 NO_ERROR not-processed")
	tc.shutdown()
	tc.wantIdle("once is enough")
	tc.write(head(1, "200"), lastData(1, 0))
	tc.wantEvents("the open one finishes", "response stream=1 status=200", "data stream=1 len=0 END_STREAM", "closed")
	tc.wantIdle("without another GOAWAY")
	if !tc.c.Done() {
		t.Error("not done")
	}
}

// Late frames while our own GOAWAY is out: blocks are decoded, DATA is counted (9113-6.8-10).
func TestB19LateFramesWhileDraining(t *testing.T) {
	rows.Cover(t, "9113-6.8-10")
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/"))
	tc.open(get("/"))
	tc.shutdown()
	tc.reset(3, frame.Cancel)
	tc.forget()
	tc.write(head(3, "200"), data(3, 1000))
	tc.want("given back", frame.WindowUpdate{Increment: 1000})
	tc.write(wholeResponse(1, "200"))
	tc.wantEvents("the other one", "response stream=1 status=200 END_STREAM", "closed")
}

// Close fails every stream; GOAWAY is the last frame. Everything after it is quiet.
func TestClose(t *testing.T) {
	rows.Cover(t, "9113-5.4.1-3", "9113-6.8-9")
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/"))
	tc.upload(post())
	tc.forget()
	tc.close()
	tc.want("GOAWAY", frame.GoAway{})
	tc.wantEvents("both fail", "stream-error stream=1 NO_ERROR with-connection",
		"stream-error stream=3 NO_ERROR with-connection", "closed")
	tc.wantDead()
}

// wantDead fails unless every input is a no-op.
func (tc *testConn) wantDead() {
	tc.t.Helper()
	if !tc.c.Done() {
		tc.fatalf("the connection is not done")
	}
	tc.exact = false
	tc.write(frame.Ping{}, head(1, "200"), data(1, 10), frame.GoAway{}, peer.Raw("nonsense that is no frame at all"))
	if _, err := tc.tryOpen(get("/"), true); !errors.Is(err, conn.ErrClosed) {
		tc.fatalf("Open: want ErrClosed, got %v", err)
	}
	tc.reset(1, frame.Cancel)
	tc.consume(1, 1)
	tc.endStream(3)
	if err := tc.sendTrailers(3); err != nil {
		tc.fatalf("SendTrailers: %v", err)
	}
	if n := tc.quota(3); n != 0 {
		tc.fatalf("SendQuota: %d", n)
	}
	tc.ping([8]byte{})
	tc.step(func(s *side) {
		s.c.ReaderWaiting(tc.now, 1, 1)
		s.c.ReaderAway(tc.now, 1)
		s.c.RTTSample(tc.now, 1, 1)
	})
	tc.shutdown()
	tc.close()
	tc.fail(errors.New("late"))
	tc.wantDeadline("there is none", -1)
	tc.wantIdle("nothing has an effect")
}

// An error after our GOAWAY(NO_ERROR) is still said (9113-5.4-3).
func TestErrorAfterShutdown(t *testing.T) {
	rows.Cover(t, "9113-5.4-3", "9113-6.8-8", "9113-6.8-9")
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/"))
	tc.shutdown()
	tc.forget()
	tc.write(frame.WindowUpdate{})
	tc.want("a second GOAWAY", frame.GoAway{Code: frame.ProtocolError})
	tc.wantEvents("both end", "stream-error stream=1 PROTOCOL_ERROR with-connection", "closed PROTOCOL_ERROR")
	tc.wantDead()
}

// Debug data is the server's: it is cut at 1 KiB, kept as it came, and escaped in the text of the error.
func TestGoAwayDebugData(t *testing.T) {
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/"))
	tc.forget()
	debug := "a\x1b[2J\n" + strings.Repeat("x", 16000)
	tc.write(frame.GoAway{LastStream: 1, Code: 0xabcdef, Debug: []byte(debug)}, frame.Ping{Data: [8]byte{1}})
	err := tc.events[0].Err
	if err.Debug != debug[:1024] {
		t.Errorf("%d octets of debug data", len(err.Debug))
	}
	if text := err.Error(); strings.ContainsAny(text, "\x1b\n") || !strings.Contains(text, `a\x1b[2J\n`) ||
		!strings.Contains(text, "0xabcdef") {
		t.Errorf("%.100q", text)
	}
	tc.want("what follows is in step", frame.Ping{Ack: true, Data: [8]byte{1}})
}

// GOAWAY and the end of the transport: what is above the last stream was told already, the others fail with the
// server's reason.
func TestTransportFailsAfterGoAway(t *testing.T) {
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/"))
	tc.write(frame.GoAway{LastStream: 1, Code: frame.InternalError})
	tc.forget()
	tc.fail(errors.New("EOF"))
	tc.wantEvents("the reason is the server's",
		"stream-error stream=1 INTERNAL_ERROR last=1 by-peer with-connection", "closed INTERNAL_ERROR last=1 by-peer")
	tc.wantIdle("nothing is sent to a transport that failed")
	tc.wantDead()
}

// The transport fails while GOAWAY is on its way.
func TestTransportFailsWhileClosing(t *testing.T) {
	tc := newTestConn(t)
	tc.greet()
	tc.pause()
	tc.close()
	if tc.c.Done() {
		t.Fatal("GOAWAY has not left")
	}
	tc.fail(errors.New("broken pipe"))
	if !tc.c.Done() {
		t.Error("not done")
	}
	tc.resume()
	tc.want("nothing")
	tc.wantEvents("one end", "closed")
}
