package conn_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/h2flow/conn"
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/rows"
)

// sentPings takes the PINGs out of what the client sent.
func (tc *testConn) sentPings() []frame.Ping {
	var pings []frame.Ping
	for _, v := range tc.sent {
		if p, ok := v.(frame.Ping); ok && !p.Ack {
			pings = append(pings, p)
		}
	}
	tc.sent = nil
	return pings
}

// A silent server is asked after 30 s, if streams are open, and given up 15 s later.
//
// Contract: L1.
func TestB43DeadServerIsFound(t *testing.T) {
	rows.Cover(t, "9113-8.7-3")
	tc := newTestConn(t)
	tc.greet()
	tc.advance(time.Hour)
	tc.wantIdle("nobody asks without streams")
	tc.open(get("/"))
	tc.forget()
	tc.advance(30*time.Second - 1)
	tc.wantIdle("not yet")
	tc.advance(1)
	if n := len(tc.sentPings()); n != 1 {
		t.Fatalf("%d PINGs", n)
	}
	tc.advance(15*time.Second - 1)
	tc.wantIdle("it may still answer")
	tc.advance(1)
	tc.want("GOAWAY", frame.GoAway{Code: frame.NoError})
	tc.wantEvents("the peer is gone", "stream-error stream=1 NO_ERROR with-connection", "closed NO_ERROR")
	tc.wantDead()
}

// A strikingServer counts PINGs as gRPC's server does: one that comes within 5 minutes of the one before is a strike,
// unless the server itself has sent HEADERS or DATA since, and the third strike ends the connection.
type strikingServer struct {
	last    time.Time
	strikes int
	spoke   bool
}

func (s *strikingServer) ping(now time.Time) (angry bool) {
	switch {
	case s.spoke:
		s.spoke, s.strikes = false, 0
	case !s.last.IsZero() && now.Sub(s.last) < 5*time.Minute:
		s.strikes++
	}
	s.last = now
	return s.strikes > 2
}

// answer answers what the client asks, as the server would.
func (s *strikingServer) answer(tc *testConn) {
	tc.t.Helper()
	sent := tc.sent
	tc.sent = nil
	for _, v := range sent {
		switch v := v.(type) {
		case frame.Ping:
			if s.ping(tc.now) {
				tc.fatalf("a PING too many for a server that tolerates two strikes")
			}
			tc.write(frame.Ping{Ack: true, Data: v.Data})
		case frame.Settings:
			if !v.Ack {
				tc.write(frame.Settings{Ack: true})
			}
		}
	}
}

// A long poll in which neither side has anything to say is asked for signs of life for hours, without a strike too many,
// and when the server dies it is found as soon as at the beginning.
//
// Contract: L1, L2.
func TestB43AQuietLongPoll(t *testing.T) {
	for name, quiet := range map[string]time.Duration{"at once": 0, "a minute": time.Minute, "three hours": 3 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			tc := newTestConn(t)
			tc.greet()
			tc.open(get("/poll"))
			tc.forget()
			var server strikingServer
			for end := tc.now.Add(quiet); tc.now.Before(end); {
				tc.advance(time.Second)
				server.answer(tc)
			}
			died := tc.now
			for tc.c.Err() == nil && tc.now.Sub(died) < time.Hour {
				tc.advance(time.Second)
			}
			if took := tc.now.Sub(died); took > 45*time.Second {
				t.Errorf("the dead server was found after %v, want 45s at most", took)
			}
		})
	}
}

// What either side sends now and then does not make the PINGs that follow too many, also where PINGs cross it.
//
// Contract: L2.
func TestB43StrikesUnderSlowTraffic(t *testing.T) {
	talks := map[string]func(tc *testConn, s *strikingServer, id frame.StreamID){
		"the client sends": func(tc *testConn, _ *strikingServer, id frame.StreamID) { tc.send(id, 1) },
		"the server sends": func(tc *testConn, s *strikingServer, id frame.StreamID) {
			s.spoke = true
			tc.write(data(id, 1))
		},
		"the server sends, and a PING crosses that": func(tc *testConn, s *strikingServer, id frame.StreamID) {
			s.spoke = true
			if s.ping(tc.now) {
				tc.fatalf("a PING too many")
			}
			tc.write(data(id, 1))
		},
	}
	for name, talk := range talks {
		t.Run(name, func(t *testing.T) {
			tc := newTestConn(t)
			tc.greet()
			id := tc.upload(post())
			tc.write(head(id, "200"))
			tc.reading = true
			tc.forget()
			var server strikingServer
			for i := range 3 * 60 * 60 {
				tc.advance(time.Second)
				server.answer(tc)
				if i%100 == 99 {
					talk(tc, &server, id)
				}
				tc.events = nil
			}
			if err := tc.c.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Asking more often than the answer may take does not put off the end.
func TestALongPingTimeoutEnds(t *testing.T) {
	tc := newTestConn(t, withConfig(func(c *conn.Config) { c.PingInterval, c.PingTimeout = 11*time.Second, 40*time.Second }))
	tc.greet()
	tc.open(get("/"))
	tc.advance(51*time.Second - 1)
	if err := tc.c.Err(); err != nil {
		t.Errorf("too early: %v", err)
	}
	tc.advance(1)
	if tc.c.Err() == nil {
		t.Error("the dead server was not found")
	}
}

// Anything that arrives is a sign of life, before the PING and instead of its answer.
func TestB43AnythingIsASignOfLife(t *testing.T) {
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/"))
	tc.write(head(1, "200"))
	for range 20 {
		tc.advance(29 * time.Second)
		tc.write(data(1, 1))
	}
	if n := len(tc.sentPings()); n != 0 {
		t.Fatalf("%d PINGs though the server spoke", n)
	}
	tc.advance(30 * time.Second)
	if n := len(tc.sentPings()); n != 1 {
		t.Fatalf("%d PINGs", n)
	}
	tc.advance(14 * time.Second)
	tc.write(data(1, 1))
	tc.advance(14 * time.Second)
	if err := tc.c.Err(); err != nil {
		t.Errorf("the server has spoken: %v", err)
	}
	tc.advance(2 * time.Minute)
	if err := tc.c.Err(); err == nil {
		t.Error("it fell silent for good and was not given up")
	}
}

// A hundred requests that are given up in a second cost no PING.
func TestB43CancelledRequestsCostNoPing(t *testing.T) {
	tc := newTestConn(t)
	tc.greet()
	for range 100 {
		tc.reset(tc.open(get("/")), frame.Cancel)
		tc.advance(10 * time.Millisecond)
	}
	if n := len(tc.sentPings()); n != 0 {
		t.Errorf("%d PINGs", n)
	}
}

// pinging asks for a PING at every event.
type pinging struct {
	returning
	refused map[flow.Refusal]int
	sent    int
	rtts    []time.Duration
}

func (p *pinging) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	switch ev.Kind {
	case flow.ActionRefused:
		p.refused[ev.Refusal]++
		return dst
	case flow.PingSent:
		p.sent++
	case flow.RTTSample:
		if ev.Source == flow.SourcePing {
			p.rtts = append(p.rtts, ev.RTT)
		}
	}
	return append(p.returning.Decide(now, ev, dst), flow.Ping())
}

// A strategy that asks for PINGs without end gets four at once and then one in 2 s, one at a time.
func TestB43ProbesStayWithinTheirBudget(t *testing.T) {
	var made []*pinging
	tc := newTestConn(t, withStrategy(func() flow.Strategy {
		p := &pinging{returning: returning{stream: 1 << 20, conn: 1 << 20}, refused: map[flow.Refusal]int{}}
		made = append(made, p)
		return p
	}))
	tc.write(frame.MakeSettings(), frame.Settings{Ack: true})
	tc.reading = true
	tc.open(get("/"))
	tc.write(head(1, "200"))
	pings := 0
	for range 1000 { // 10 s of a download
		tc.advance(10 * time.Millisecond)
		tc.write(data(1, 100))
		for _, p := range tc.sentPings() {
			pings++
			tc.advance(5 * time.Millisecond)
			tc.write(frame.Ping{Ack: true, Data: p.Data})
		}
		tc.events = nil
	}
	if pings < 8 || pings > 4+5+1 {
		t.Errorf("%d PINGs in 10 s, and the budget is 4 and one for 2 s", pings)
	}
	if made[0].sent != pings || len(made[0].rtts) < pings-1 || made[0].rtts[len(made[0].rtts)-1] != 5*time.Millisecond {
		t.Errorf("%d told as sent, round trips %v", made[0].sent, made[0].rtts)
	}
	if made[0].refused[flow.RefusedPingBudget] == 0 || made[0].refused[flow.RefusedPingOutstanding] == 0 {
		t.Errorf("refusals %v", made[0].refused)
	}
}

// With the server's WINDOW_UPDATE as the only traffic of ours, three PINGs follow each of our frames; an unanswered one
// stops all others; liveness does not add to a probe that is on its way.
func TestB43ProbeAndLivenessShareOnePing(t *testing.T) {
	tc := newTestConn(t, withStrategy(func() flow.Strategy {
		return &pinging{returning: returning{stream: 65535, conn: 65535}, refused: map[flow.Refusal]int{}}
	}))
	tc.greet()
	tc.open(get("/"))
	if n := len(tc.sentPings()); n > 1 {
		t.Fatalf("%d PINGs at once", n)
	}
	tc.advance(31 * time.Second)
	if n := len(tc.sentPings()); n != 0 {
		t.Errorf("%d PINGs more while one is unanswered", n)
	}
	tc.advance(15 * time.Second)
	if err := tc.c.Err(); err == nil {
		t.Error("the probe was not answered, and nobody noticed")
	}
}

// The application's own PINGs are answered to it, each with its own octets, in any order.
func TestPings(t *testing.T) {
	rows.Cover(t, "9113-6.7-4")
	tc := newTestConn(t)
	tc.greet()
	a, b := [8]byte{1}, [8]byte{2}
	tc.ping(a)
	tc.advance(time.Second)
	tc.ping(b)
	tc.want("both leave at once", frame.Ping{Data: a}, frame.Ping{Data: b})
	tc.advance(time.Second)
	tc.write(frame.Ping{Ack: true, Data: b}, frame.Ping{Ack: true, Data: a}, frame.Ping{Ack: true, Data: a})
	if len(tc.events) != 2 || tc.events[0].PingData != b || tc.events[0].RTT != time.Second ||
		tc.events[1].PingData != a || tc.events[1].RTT != 2*time.Second {
		t.Errorf("events %+v", tc.events)
	}
	tc.want("an answer is never answered (9113-6.7-4)")
}

// PING answers overtake what else is to be sent (9113-6.7-3), and need no window (9113-6.9-1).
func TestPingAnswersComeFirst(t *testing.T) {
	rows.Cover(t, "9113-6.7-3", "9113-6.9-1", "9113-6.7-2", "9113-5.2.1-3")
	rows.Cover(t, "9113-6.7-3", "9113-6.9-1")
	tc := newTestConn(t)
	tc.greet()
	id := tc.upload(post())
	tc.send(id, 65535)
	tc.forget()
	tc.pause()
	tc.open(get("/"))
	tc.reset(id, frame.Cancel)
	tc.write(frame.Ping{Data: [8]byte{1}}, frame.Ping{Data: [8]byte{2}})
	tc.resume()
	want := []string{"PING data=0100000000000000 ACK", "PING data=0200000000000000 ACK", "RST_STREAM stream=1 code=CANCEL"}
	for i, v := range tc.sent {
		if i < len(want) && v.String() != want[i] {
			t.Errorf("frame %d is %v", i, v)
		}
	}
}

// A server that never finishes the handshake.
func TestB44Handshake(t *testing.T) {
	rows.Cover(t, "9113-6.5.3-5", "9113-3.4-5", "9113-3.4-3", "9113-3.4-7")
	t.Run("a silent server", func(t *testing.T) {
		tc := newTestConn(t)
		tc.open(get("/"))
		tc.forget()
		tc.wantDeadline("SETTINGS are due", 10*time.Second)
		tc.advance(10*time.Second - 1)
		tc.wantIdle("not yet")
		tc.advanceToDeadline()
		tc.wantClosed("too late", frame.SettingsTimeout)
	})
	for _, f := range []any{
		wholeResponse(1, "200"), data(1, 1), frame.Settings{Ack: true}, frame.Ping{}, frame.GoAway{}, frame.WindowUpdate{Increment: 1},
		frame.RSTStream{Stream: 1}, frame.Priority{Stream: 1}, frame.PushPromise{Stream: 1, Promised: 2},
		frame.Continuation{Stream: 1}, frame.Unknown{Header: frame.Header{Type: 0x42}}, frame.AltSvc{}, frame.Origin{},
	} {
		t.Run("9113-3.4-3 something else comes first", func(t *testing.T) {
			tc := newTestConn(t)
			tc.open(get("/"))
			tc.write(f)
			tc.wantClosed("it is not SETTINGS", frame.ProtocolError)
		})
	}
	t.Run("9113-3.4-7 HTTP/1", func(t *testing.T) {
		tc := newTestConn(t)
		tc.open(get("/"))
		tc.step(func(s *side) { s.feed(tc.now, []byte("HTTP/1.1 400 Bad Request\r\n\r\n")) })
		if err := tc.c.Err(); err == nil || !strings.Contains(err.Error(), "HTTP/1") {
			t.Errorf("got %v", err)
		}
		tc.wantClosed("an error that says so", frame.ProtocolError)
	})
	t.Run("no acknowledgement", func(t *testing.T) {
		tc := newTestConn(t)
		tc.write(frame.MakeSettings())
		tc.forget()
		tc.wantDeadline("it is due", 60*time.Second)
		tc.advance(60*time.Second - 1)
		tc.wantIdle("not yet")
		tc.advanceToDeadline()
		tc.wantClosed("too late", frame.SettingsTimeout)
	})
	t.Run("timers that are off", func(t *testing.T) {
		tc := newTestConn(t, withConfig(func(cfg *conn.Config) {
			cfg.PrefaceTimeout, cfg.SettingsTimeout, cfg.PingInterval, cfg.StallTimeout = -1, -1, -1, -1
		}))
		tc.open(get("/"))
		tc.forget()
		tc.wantDeadline("there is none", -1)
		tc.advance(24 * time.Hour)
		tc.wantIdle("it waits for ever")
	})
	t.Run("requests do not wait for the server's SETTINGS", func(t *testing.T) {
		tc := newTestConn(t)
		id := tc.upload(post())
		tc.send(id, 10)
		if n := len(tc.sent); n != 3 {
			t.Errorf("sent %v", tc.sent)
		}
		tc.advance(200 * time.Millisecond)
		tc.write(frame.MakeSettings(), frame.Settings{Ack: true})
		if rtt := tc.events[2].RTT; rtt != 200*time.Millisecond {
			t.Errorf("the round trip took %v", rtt)
		}
	})
}

// An error before anything was sent needs no GOAWAY.
func TestFailureBeforeThePreface(t *testing.T) {
	tc := newTestConn(t)
	tc.stuck = true
	fresh := newUndriven()
	fresh.Close(epoch)
	if out := fresh.AppendOutput(epoch, nil, 1<<20); len(out) > 0 || !fresh.Done() {
		t.Errorf("sent %q", out)
	}
	fresh = newUndriven()
	fresh.Fail(epoch, errors.New("refused"))
	if ev := fresh.NextEvent(); ev.Kind != conn.Closed || !errors.As(error(ev.Err), new(*conn.Error)) {
		t.Errorf("got %v", ev)
	}
}

// newUndriven is a connection of which nothing has been sent.
func newUndriven() *conn.Conn {
	s := setup{}
	withRecvWindow(65535, 65535)(&s)
	return conn.New(epoch, plainConfig(s.strategy()))
}

// A body that stands still for want of a window is reported and failed; one whose peer is slow is not.
func TestStalls(t *testing.T) {
	start := func(t *testing.T, stream, connection int64) *testConn {
		tc := newTestConn(t, withoutGrants(stream, connection), withConfig(func(cfg *conn.Config) { cfg.PingInterval = -1 }))
		tc.greet()
		tc.reading = true
		tc.open(get("/"))
		tc.write(head(1, "200"))
		tc.forget()
		return tc
	}
	tests := []struct {
		name         string
		stream, conn int64
		octets       int
		stream2      flow.Offsets // of the stream
		conn2        flow.Offsets
	}{
		{"no window on the stream", 1000, 65535, 1000,
			flow.Offsets{Consumed: 1000, Received: 1000, Charged: 1000, Granted: 1000},
			flow.Offsets{Consumed: 1000, Received: 1000, Charged: 1000, Granted: 65535}},
		{"no window on the connection", 100000, 65535, 65535,
			flow.Offsets{Consumed: 65535, Received: 65535, Charged: 65535, Granted: 100000},
			flow.Offsets{Consumed: 65535, Received: 65535, Charged: 65535, Granted: 65535}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tc := start(t, tt.stream, tt.conn)
			for left := tt.octets; left > 0; left -= 16384 {
				tc.write(data(1, min(left, 16384)))
			}
			since := tc.now
			tc.forget()
			tc.advance(9 * time.Second)
			tc.wantIdle("not yet")
			tc.advance(6 * time.Second)
			var stall *flow.Stall
			if len(tc.events) != 2 || tc.events[0].Kind != conn.Stalled || !errors.As(tc.events[1].Err, &stall) {
				t.Fatalf("events %q", eventLines(tc.events))
			}
			if *tc.events[0].Stall != *stall || stall.Stream != 1 || !stall.Since.Equal(since) || stall.For < 10*time.Second ||
				stall.StreamWindow != tt.stream2 || stall.ConnWindow != tt.conn2 || !stall.Blocked() {
				t.Errorf("stall %+v", *stall)
			}
			tc.want("the stream is given up", frame.RSTStream{Stream: 1, Code: frame.Cancel})
			tc.wantEvents("with the stall as its cause", "stalled stream=1", "stream-error stream=1 CANCEL answered")
		})
	}
	t.Run("less than a frame of window", func(t *testing.T) {
		tc := start(t, 16384+1000, 65535)
		tc.write(data(1, 16384))
		tc.forget()
		tc.advance(time.Minute)
		tc.wantEvents("reported once", "stalled stream=1")
		tc.write(data(1, 10))
		tc.advance(20 * time.Second)
		tc.wantEvents("and once more after progress", "data stream=1 len=10", "stalled stream=1")
		tc.wantIdle("but the stream lives")
	})
	t.Run("a slow server with window left", func(t *testing.T) {
		tc := start(t, 65535, 65535)
		tc.write(data(1, 10))
		tc.forget()
		for range 100 {
			tc.advance(44 * time.Second)
		}
		tc.wantIdle("no stall is told")
		tc.write(lastData(1, 1))
		tc.wantEvents("and it completes", "data stream=1 len=1 END_STREAM")
	})
	t.Run("a stream that waits for a connection that moves", func(t *testing.T) {
		// One stream takes the connection's window whenever there is some; the other one waits, and has not stalled.
		tc := newTestConn(t, withRecvWindow(65535, 65535), withConfig(func(cfg *conn.Config) { cfg.PingInterval = -1 }))
		tc.greet()
		busy, waits := tc.open(get("/busy")), tc.open(get("/waits"))
		tc.write(head(busy, "200"), head(waits, "200"))
		for left := 65535; left > 0; left -= 16384 {
			tc.write(data(busy, min(left, 16384)))
		}
		for range 20 {
			tc.advance(4 * time.Second)
			tc.consume(busy, 1000)
			tc.write(data(busy, 1000))
		}
		if n := tc.c.OpenStreams(); n != 2 {
			t.Errorf("%d streams are left: %q", n, eventLines(tc.events))
		}
		// When the reader of the busy one stops, the connection stands still for want of a grant: that is a stall.
		tc.forget()
		tc.advance(20 * time.Second)
		tc.wantEvents("of the one that has nothing unread", "stalled stream=3", "stream-error stream=3 CANCEL answered")
	})
	t.Run("an application that does not read", func(t *testing.T) {
		tc := start(t, 1000, 65535)
		tc.reading = false
		tc.write(data(1, 1000))
		tc.forget()
		tc.advance(time.Minute)
		tc.wantIdle("is no stall: it is its own choice")
	})
}

// A strategy that never grants ends as an error of the stream that says so.
func TestStrategyThatNeverGrants(t *testing.T) {
	tc := newTestConn(t, withoutGrants(0, 65535))
	tc.greet()
	tc.open(get("/"))
	tc.write(head(1, "200"))
	tc.forget()
	tc.advance(20 * time.Second)
	ev := tc.events[len(tc.events)-1]
	var stall *flow.Stall
	if ev.Kind != conn.StreamError || !errors.As(ev.Err, &stall) {
		t.Fatalf("events %q", eventLines(tc.events))
	}
	if text := ev.Err.Error(); !strings.Contains(text, "no window left on the stream") {
		t.Errorf("the error says %q", text)
	}
}
