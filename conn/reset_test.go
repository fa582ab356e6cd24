package conn_test

import (
	"testing"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
)

// What crosses our reset on the way is dropped, and the other streams do not notice.
func TestB25LateFramesAfterOurReset(t *testing.T) {
	rows.Cover(t, "9113-5.1-14", "9113-5.4.2-1")
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/"))
	tc.open(get("/"))
	tc.reset(3, frame.Cancel)
	tc.forget()
	tc.write(head(3, "200"), data(3, 1000), trailers(3, field("a", "b")), frame.WindowUpdate{Stream: 3, Increment: 5},
		frame.Priority{Stream: 3}, frame.RSTStream{Stream: 3, Code: frame.Cancel})
	tc.want("the octets come back to the connection, and that is all", frame.WindowUpdate{Increment: 1000})
	tc.wantEvents("nobody hears of it")
	tc.write(wholeResponse(1, "200"))
	tc.wantEvents("1 is fine", "response stream=1 status=200 END_STREAM")
}

// Even an increment of 0 is no matter on a closed stream (9113-6.9-4), nor a PRIORITY of the wrong size.
func TestB25FaultyLateFrames(t *testing.T) {
	rows.Cover(t, "9113-6.9-4")
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/"))
	tc.reset(1, frame.Cancel)
	tc.open(get("/"))
	tc.write(wholeResponse(3, "200"))
	tc.forget()
	for _, id := range []frame.StreamID{1, 3} {
		tc.write(frame.WindowUpdate{Stream: id, Increment: 0}, frame.WindowUpdate{Stream: id, Increment: 1<<31 - 1},
			frame.RSTStream{Stream: id},
			frame.Unknown{Header: frame.Header{Type: frame.TypePriority, Stream: id}, Payload: make([]byte, 4)})
	}
	tc.write(data(1, 65535-49152), data(1, 0))
	tc.want("credit alone", frame.WindowUpdate{Increment: 16383})
	tc.wantEvents("nothing")
}

// HEADERS or DATA on a stream that was never opened is an error of the connection.
func TestB25FramesOnIdleStreams(t *testing.T) {
	for _, item := range []any{head(5, "200"), data(5, 1), head(2, "200"), data(2, 1)} {
		tc := newTestConn(t)
		tc.greet()
		tc.open(get("/"))
		tc.reset(1, frame.Cancel)
		tc.write(item)
		tc.wantClosed("it was never opened", frame.ProtocolError)
	}
}

// The way of closing is remembered for the last 128 streams. Before that the lenient reading holds.
func TestB25ClosedLongAgo(t *testing.T) {
	for _, after := range []int{127, 128} {
		tc := newTestConn(t)
		tc.greet()
		tc.open(get("/"))
		tc.write(wholeResponse(1, "200"))
		for range after {
			tc.write(wholeResponse(tc.open(get("/")), "200"))
		}
		tc.forget()
		tc.write(data(1, 10))
		if after == 127 {
			tc.wantClosed("DATA after the end", frame.StreamClosed)
			continue
		}
		tc.want("dropped, and given back", frame.WindowUpdate{Increment: 10})
	}
}

// Reset means that no event of the stream follows, not even one that has happened.
func TestResetDropsEventsOfItsStream(t *testing.T) {
	tc := newTestConn(t)
	tc.greet()
	a, b := tc.upload(post()), tc.upload(post())
	tc.send(a, 65535)
	tc.quota(b)
	tc.forget()
	octets := tc.peer.Encode(nil, frame.WindowUpdate{Increment: 100}, frame.WindowUpdate{Stream: a, Increment: 100})
	c := tc.c
	c.Feed(tc.now, octets)
	if ev := c.NextEvent(); ev.String() != "sendable stream=3" {
		t.Fatalf("got %v", ev)
	}
	c.Reset(tc.now, a, frame.Cancel)
	if ev := c.NextEvent(); ev.Kind != 0 {
		t.Errorf("after Reset came %v", ev)
	}
	// GOAWAY fails both streams; the application gives up the second when it hears of the first.
	tc = newTestConn(t)
	tc.greet()
	a, b = tc.open(get("/")), tc.open(get("/"))
	c = tc.c
	c.Feed(tc.now, tc.peer.Encode(nil, frame.GoAway{}))
	c.NextEvent()
	if ev := c.NextEvent(); ev.Stream != a {
		t.Fatalf("got %v", ev)
	}
	c.Reset(tc.now, b, frame.Cancel)
	if ev := c.NextEvent(); ev.String() != "closed" {
		t.Errorf("after Reset came %v", ev)
	}
}

// A field block that is under way when its stream is given up is decoded to its end, for nobody.
func TestResetWithinAFieldBlock(t *testing.T) {
	for _, continuations := range []int{1, 2} {
		tc := newTestConn(t)
		tc.greet()
		id := tc.open(get("/"))
		tc.forget()
		octets := tc.peer.Encode(nil, peer.Headers{Stream: id, Fields: head(id, "200", field("a", "b")).Fields,
			Continuations: continuations})
		cut := len(octets) / 2
		tc.exact = false
		tc.step(func(s *side) { s.feed(tc.now, octets[:cut]) })
		tc.reset(id, frame.Cancel)
		next := tc.open(get("/"))
		tc.step(func(s *side) { s.feed(tc.now, octets[cut:]) })
		tc.write(wholeResponse(next, "204"))
		tc.wantEvents("the next stream alone", "opened stream=3", "response stream=3 status=204 END_STREAM")
	}
}

// One RST_STREAM for a stream, however much is wrong with it; one GOAWAY (9113-5.4-1, 9113-5.4.2-2).
func TestOneErrorIsReported(t *testing.T) {
	rows.Cover(t, "9113-5.4-1", "9113-5.4.2-2")
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/"))
	tc.open(get("/"))
	tc.forget()
	tc.write(data(1, 10), data(1, 10), head(1, "abc"), frame.WindowUpdate{Stream: 1}, lastData(1, 1))
	tc.want("one reset", frame.RSTStream{Stream: 1, Code: frame.ProtocolError}, frame.WindowUpdate{Increment: 21})
	tc.wantEvents("one error", "stream-error stream=1 PROTOCOL_ERROR")
	tc.write(data(9, 10), data(0, 1), frame.WindowUpdate{}, frame.RSTStream{})
	tc.want("one GOAWAY", frame.GoAway{Code: frame.ProtocolError})
	tc.wantEvents("one end", "stream-error stream=3 PROTOCOL_ERROR with-connection", "closed PROTOCOL_ERROR")
	tc.wantDead()
}

// Two resets cross: the one that has not been packed when the other arrives is not sent (9113-6.4-1).
func TestResetsThatCross(t *testing.T) {
	rows.Cover(t, "9113-6.4-1", "9113-5.4.2-3", "9113-5.4.2-4")
	rows.Cover(t, "9113-6.4-1")
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/"))
	tc.open(get("/"))
	tc.forget()
	tc.pause()
	tc.reset(1, frame.Cancel)
	tc.write(head(3, "abc"), frame.RSTStream{Stream: 3, Code: frame.Cancel}, frame.RSTStream{Stream: 1, Code: frame.Cancel})
	tc.resume()
	tc.want("neither is answered")
	tc.wantEvents("our own finding came first", "stream-error stream=3 PROTOCOL_ERROR")
}

// A frame that is an error of its stream and of the connection is an error of the connection (9113-5.4-2).
func TestConnectionErrorWins(t *testing.T) {
	rows.Cover(t, "9113-5.4-2")
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/"))
	tc.forget()
	// DATA before the head is malformed; padding above the payload is an error of the connection.
	tc.write(frame.Unknown{Header: frame.Header{Type: frame.TypeHeaders, Flags: frame.FlagPadded | frame.FlagEndHeaders,
		Stream: 1}, Payload: []byte{9, 0}})
	tc.wantClosed("the padding", frame.ProtocolError)
}
