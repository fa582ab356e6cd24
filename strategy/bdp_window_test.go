package strategy

import (
	"testing"
	"time"

	"example.com/h2flow/flow"
)

// bdpConn feeds one bdp strategy with streams of its own, and carries out its grants at once.
type bdpConn struct {
	*bdp
	now     time.Time
	conn    flow.Offsets
	streams map[uint32]*flow.Offsets
	pings   int
}

func newBDPConn(cfg BDP, rtt time.Duration) *bdpConn {
	c := &bdpConn{bdp: cfg.New().(*bdp), now: begin, streams: make(map[uint32]*flow.Offsets)}
	c.conn.Granted = c.Open(begin).Conn
	c.tell(flow.Event{Kind: flow.RTTSample, Source: flow.SourceSettings, RTT: rtt})
	return c
}

func (c *bdpConn) tell(ev flow.Event) {
	if o := c.streams[ev.Stream]; o != nil {
		ev.StreamWindow = *o
	}
	ev.ConnWindow = c.conn
	for _, a := range c.Decide(c.now, ev, nil) {
		switch a.Kind {
		case flow.ActGrantStream:
			c.streams[a.Stream].Granted += a.N
		case flow.ActGrantConn:
			c.conn.Granted += a.N
		case flow.ActPing:
			c.pings++
		}
	}
}

func (c *bdpConn) open(id uint32) {
	c.streams[id] = &flow.Offsets{Granted: c.initial}
	c.tell(flow.Event{Kind: flow.StreamOpened, Stream: id})
}

// arrive has a frame of 16,384 octets arrive, if both windows let it pass.
func (c *bdpConn) arrive(id uint32) bool {
	o := c.streams[id]
	if o.Window() < frame || c.conn.Window() < frame {
		return false
	}
	for _, o := range []*flow.Offsets{o, &c.conn} {
		o.Charged += frame
		o.Received += frame
	}
	c.tell(flow.Event{Kind: flow.Received, Stream: id, N: frame})
	return true
}

func (c *bdpConn) consume(id uint32) {
	n := c.streams[id].Unread()
	c.streams[id].Consumed += n
	c.conn.Consumed += n
	c.tell(flow.Event{Kind: flow.Consumed, Stream: id, N: n})
}

// Streams that nobody reads fill their windows as fast as the path can carry. That says nothing about readers.
func TestBDPStreamsWithoutReadersDoNotGrow(t *testing.T) {
	c := newBDPConn(BDP{}, 50*time.Millisecond)
	for id := uint32(1); id < 20; id += 2 {
		c.open(id)
		for c.arrive(id) {
			c.now = c.now.Add(100 * time.Microsecond)
		}
		if got := c.streams[id].Unread(); got != startStream {
			t.Fatalf("stream %d has %d octets unread: want %d", id, got, startStream)
		}
	}
	if c.window != startStream || c.bdp.conn != startConn {
		t.Errorf("want windows of %d and %d octets as at first, got %d and %d", startStream, startConn, c.window, c.bdp.conn)
	}
}

// PINGs are asked for while the window matters, three to learn the path and one each 10 s from then on.
func TestBDPPings(t *testing.T) {
	c := newBDPConn(BDP{}, 50*time.Millisecond)
	c.open(1)
	for end := c.now.Add(30 * time.Second); c.now.Before(end); c.now = c.now.Add(time.Millisecond) {
		before := c.pings
		c.arrive(1)
		c.consume(1)
		if c.pings > before {
			c.tell(flow.Event{Kind: flow.RTTSample, Source: flow.SourcePing, RTT: 50 * time.Millisecond})
		}
	}
	if c.pings < 4 || c.pings > 6 {
		t.Errorf("want 3 PINGs at first and 1 each 10 s for 30 s, got %d", c.pings)
	}
}
