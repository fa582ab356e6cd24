package conn_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
)

func (tc *testConn) wantStreams(sentence string, open, queued int) {
	tc.t.Helper()
	if o, q := tc.c.OpenStreams(), tc.c.QueuedStreams(); o != open || q != queued {
		tc.fatalf("%s: %d streams are open and %d queued, want %d and %d", sentence, o, q, open, queued)
	}
}

// Above the server's limit requests wait, in order, and leave as slots come free. The server counts at every HEADERS.
func TestB12RequestsWaitInOrder(t *testing.T) {
	rows.Cover(t, "9113-5.1.2-1")
	tc := newTestConn(t)
	tc.greet(setting(frame.SettingMaxConcurrentStreams, 1))
	for range 5 {
		tc.open(get("/"))
	}
	tc.want("one leaves", peer.Headers{Stream: 1, EndStream: true, Fields: get("/")})
	tc.wantEvents("and says so", "opened stream=1")
	tc.wantStreams("the others wait", 1, 4)
	for id := frame.StreamID(1); id < 9; id += 2 {
		tc.write(wholeResponse(id, "200"))
		tc.want("the next one", peer.Headers{Stream: id + 2, EndStream: true, Fields: get("/")})
	}
	tc.write(wholeResponse(9, "200"))
	tc.wantStreams("all are done", 0, 0)
}

// A limit below the number of open streams closes nothing and delays new ones; 0 is a limit like any other
// (9113-5.1.2-4, 9113-6.5.2-5).
func TestB12LoweredLimit(t *testing.T) {
	rows.Cover(t, "9113-5.1.2-4", "9113-6.5.2-5")
	tc := newTestConn(t)
	tc.greet(setting(frame.SettingMaxConcurrentStreams, 10))
	for range 5 {
		tc.open(get("/"))
	}
	tc.write(frame.MakeSettings(setting(frame.SettingMaxConcurrentStreams, 0)))
	tc.forget()
	tc.open(get("/"))
	for id := frame.StreamID(1); id <= 9; id += 2 {
		tc.wantIdle("nothing new")
		tc.write(wholeResponse(id, "200"))
		tc.wantEvents("the open ones finish", "response stream="+fmt.Sprint(id)+" status=200 END_STREAM")
	}
	tc.advance(time.Hour)
	tc.wantStreams("it still waits", 0, 1)
	tc.write(frame.MakeSettings(setting(frame.SettingMaxConcurrentStreams, 1)))
	tc.want("a slot", ack, peer.Headers{Stream: 11, EndStream: true, Fields: get("/")})
}

// Before the server's SETTINGS 100 streams may leave; after them, without the setting, there is no limit
// (9113-6.5.2-6).
func TestB12LimitBeforeSettings(t *testing.T) {
	rows.Cover(t, "9113-6.5.2-6")
	tc := newTestConn(t)
	for range 150 {
		tc.open(get("/"))
	}
	tc.wantStreams("before", 100, 50)
	tc.write(frame.MakeSettings())
	tc.wantStreams("after", 150, 0)
	if got := tc.c.MaxConcurrentStreams(); got != 1<<32-1 {
		t.Errorf("the limit is %d", got)
	}
}

// The lower of our own cap and the server's limit counts.
func TestB12OwnCap(t *testing.T) {
	tc := newTestConn(t, withConfig(func(cfg *conn.Config) { cfg.MaxConcurrentStreams = 3; cfg.MaxQueuedStreams = 2 }))
	tc.greet(setting(frame.SettingMaxConcurrentStreams, 10))
	for range 5 {
		tc.open(get("/"))
	}
	tc.wantStreams("ours", 3, 2)
	if _, err := tc.tryOpen(get("/"), true); !errors.Is(err, conn.ErrQueueFull) {
		t.Errorf("want ErrQueueFull, got %v", err)
	}
	tc.write(frame.MakeSettings(setting(frame.SettingMaxConcurrentStreams, 2)))
	tc.write(wholeResponse(1, "200"))
	tc.wantStreams("the server's", 2, 2)
}

// However a stream ends, its slot comes back, and a stream that was opened and given up gets one RST_STREAM.
func TestB13EveryEndGivesItsSlotBack(t *testing.T) {
	ends := []struct {
		name   string
		end    func(tc *testConn, id frame.StreamID)
		resets int
	}{
		{"given up before the head left", nil, 0},
		{"given up after the head", func(tc *testConn, id frame.StreamID) { tc.reset(id, frame.Cancel) }, 1},
		{"given up twice", func(tc *testConn, id frame.StreamID) {
			tc.reset(id, frame.Cancel)
			tc.reset(id, frame.InternalError)
		}, 1},
		{"given up after the response head", func(tc *testConn, id frame.StreamID) {
			tc.write(head(id, "200"))
			tc.reset(id, frame.Cancel)
		}, 1},
		{"given up in mid-upload", func(tc *testConn, id frame.StreamID) {
			tc.send(id, 1)
			tc.reset(id, frame.InternalError)
		}, 1},
		{"refused", func(tc *testConn, id frame.StreamID) {
			tc.write(frame.RSTStream{Stream: id, Code: frame.RefusedStream})
		}, 0},
		{"refused and given up", func(tc *testConn, id frame.StreamID) {
			tc.write(frame.RSTStream{Stream: id, Code: frame.RefusedStream})
			tc.reset(id, frame.Cancel)
		}, 0},
		{"malformed", func(tc *testConn, id frame.StreamID) { tc.write(head(id, "20")) }, 1},
		{"malformed, given up and reset by the server", func(tc *testConn, id frame.StreamID) {
			tc.write(head(id, "20"))
			tc.reset(id, frame.Cancel)
			tc.write(frame.RSTStream{Stream: id, Code: frame.Cancel})
		}, 1},
		{"complete, upload stopped", func(tc *testConn, id frame.StreamID) {
			tc.write(wholeResponse(id, "400"), frame.RSTStream{Stream: id})
		}, 0},
		{"complete, upload given up", func(tc *testConn, id frame.StreamID) {
			tc.write(wholeResponse(id, "400"))
			tc.reset(id, frame.NoError)
		}, 1},
		{"complete with unread octets, closed", func(tc *testConn, id frame.StreamID) {
			tc.endStream(id)
			tc.write(head(id, "200"), lastData(id, 10))
			tc.reset(id, frame.Cancel)
		}, 0},
		{"complete", func(tc *testConn, id frame.StreamID) {
			tc.write(wholeResponse(id, "200"))
			tc.endStream(id)
		}, 0},
		{"above the limit of a field section", func(tc *testConn, id frame.StreamID) {
			tc.write(head(id, "200", field("x", string(make1(2000)))))
		}, 1},
	}
	for _, tt := range ends {
		t.Run(tt.name, func(t *testing.T) {
			tc := newTestConn(t, withConfig(func(cfg *conn.Config) { cfg.MaxHeaderListSize = 1000 }))
			tc.greet(setting(frame.SettingMaxConcurrentStreams, 2))
			for range 10 {
				tc.forget()
				if tt.end == nil {
					tc.pause()
					tc.reset(tc.upload(post()), frame.Cancel)
					tc.resume()
				} else {
					tt.end(tc, tc.upload(post()))
				}
				resets := 0
				for _, v := range tc.sent {
					if _, ok := v.(frame.RSTStream); ok {
						resets++
					}
				}
				if resets != tt.resets {
					tc.fatalf("want %d RST_STREAM, got %d", tt.resets, resets)
				}
				tc.wantStreams("the slot is back", 0, 0)
			}
			tc.forget()
			id := tc.open(get("/"))
			tc.want("a request goes out at once", peer.Headers{Stream: id, EndStream: true, Fields: get("/")})
		})
	}
}

// A stream given up in the queue leaves its place to the next, without RST_STREAM (9113-6.4-4); the identifier is not
// used again, and counts as closed once a later one is opened.
func TestB13GivenUpInTheQueue(t *testing.T) {
	rows.Cover(t, "9113-6.4-4")
	tc := newTestConn(t)
	tc.greet(setting(frame.SettingMaxConcurrentStreams, 1))
	for range 6 {
		tc.open(get("/"))
	}
	tc.forget()
	for _, id := range []frame.StreamID{3, 11, 7} { // the first, the last, one of the middle
		tc.reset(id, frame.Cancel)
	}
	tc.wantIdle("nothing is sent")
	tc.wantStreams("5 and 9 wait", 1, 2)
	tc.write(wholeResponse(1, "200"))
	tc.want("5 is next", peer.Headers{Stream: 5, EndStream: true, Fields: get("/")})
	tc.write(frame.WindowUpdate{Stream: 3, Increment: 1})
	tc.wantEvents("3 is closed by now, and the update dropped", "response stream=1 status=200 END_STREAM", "opened stream=5")
	tc.reset(9, frame.Cancel)
	tc.write(wholeResponse(5, "200"))
	tc.wantStreams("nobody waits", 0, 0)
}

// A slot counts until both sides have ended (9113-5.1.2-3).
func TestB13HalfClosedStreamsCount(t *testing.T) {
	rows.Cover(t, "9113-5.1.2-3")
	tc := newTestConn(t)
	tc.greet(setting(frame.SettingMaxConcurrentStreams, 1))
	id := tc.upload(post())
	tc.write(wholeResponse(id, "200"))
	tc.open(get("/"))
	tc.wantStreams("the upload holds its slot", 1, 1)
	tc.forget()
	tc.endStream(id)
	tc.want("the end, and the next one",
		frame.Data{Stream: id, EndStream: true}, peer.Headers{Stream: 3, EndStream: true, Fields: get("/")})
}

// The last identifiers are used; then the connection takes no new streams, and the present ones finish.
func TestB14StreamIdentifiersRunOut(t *testing.T) {
	rows.Cover(t, "9113-5.1.1-5")
	tc := newTestConn(t, withConfig(func(cfg *conn.Config) { cfg.FirstStreamID = 1<<31 - 3 }))
	tc.greet()
	a, b := tc.open(get("/a")), tc.open(get("/b"))
	tc.want("2^31-3 and 2^31-1", peer.Headers{Stream: 1<<31 - 3, EndStream: true, Fields: get("/a")},
		peer.Headers{Stream: 1<<31 - 1, EndStream: true, Fields: get("/b")})
	if tc.c.Available() {
		t.Error("the connection says that it takes new streams")
	}
	if _, err := tc.tryOpen(get("/c"), true); !errors.Is(err, conn.ErrIDsExhausted) {
		t.Errorf("want ErrIDsExhausted, got %v", err)
	}
	tc.forget()
	tc.write(wholeResponse(a, "200"), wholeResponse(b, "200"))
	tc.wantEvents("both finish", "response stream=2147483645 status=200 END_STREAM",
		"response stream=2147483647 status=200 END_STREAM")
}
