package strategy

import (
	"fmt"
	"time"

	"example.com/h2flow/flow"
)

// BDP lets both windows follow the bandwidth-delay product of the path: it measures the round-trip time, by the
// acknowledgement of SETTINGS and now and then by PING, and what arrives within one, and keeps the window at twice that.
//
// It starts at 1 MiB for a stream and 4 MiB for the connection, and only grows. It grows when the server came close to
// using up the window within one round trip and the reader kept up; a reader that does not keep up never makes it grow.
// What was learned serves all later streams of the connection.
//
// One budget bounds the memory of a connection: Max octets, unread and grantable together. Below it the connection
// window is given back as octets arrive, read or not, so that a slow reader does not stop the others; its own stream's
// window stops it. A quarter of Max is kept for streams that have no more than the window advertised in SETTINGS, a 16th
// of Max or 256 KiB, whichever is less; a larger window of a stream comes out of what the connection window leaves of
// the rest. So with the default 64 MiB, 64 streams that nobody reads stop nobody.
type BDP struct {
	// Max bounds the memory of one connection: what is unread and what the peer may still send, together, in octets.
	// Half of it bounds each window. Zero means 64 MiB; the least is 256 KiB.
	Max int64
}

var _ flow.Config = BDP{}

const (
	defaultMax = 64 << 20
	leastMax   = 256 << 10

	startStream = 1 << 20   // the window of a stream before anything is learned
	startConn   = 4 << 20   // the window of the connection before anything is learned
	mostInitial = 256 << 10 // the initial window in SETTINGS
)

// New makes the strategy of one connection. A Max outside the range that Validate allows is brought into it.
func (b BDP) New() flow.Strategy {
	maxOctets := b.MemoryBound()
	return &bdp{
		max:     maxOctets,
		initial: b.initial(),
		window:  min(startStream, maxOctets/2),
		conn:    max(min(startConn, maxOctets/2), flow.DefaultWindow),
		large:   0xff,
		streams: make(map[uint32]bdpStream),
	}
}

// String describes b so that Parse reads it back.
func (b BDP) String() string { return describe("bdp", "max", formatSize(b.MemoryBound())) }

// Validate reports a Max that leaves no room for the windows or that no window can express.
func (b BDP) Validate() error {
	if b.Max != 0 && (b.Max < leastMax || b.Max > flow.MaxWindow) {
		return fmt.Errorf("max of %d octets: want %s to %d", b.Max, formatSize(leastMax), flow.MaxWindow)
	}
	return nil
}

// MemoryBound is the most octets that are unread on one connection and granted to its peer, together.
func (b BDP) MemoryBound() int64 {
	if b.Max == 0 {
		return defaultMax
	}
	return min(max(b.Max, leastMax), flow.MaxWindow)
}

// SlowReaders is how many streams of one connection may have no reader while all others still make progress.
func (b BDP) SlowReaders() int { return int(b.MemoryBound() / 4 / b.initial()) }

// initial is the initial window in SETTINGS.
func (b BDP) initial() int64 { return min(max(b.MemoryBound()/16, 64<<10), mostInitial) }

// bdp is the strategy of one connection.
//
// Model: window is what was learned, the window that a stream should have; it never falls. Each stream starts with
// initial, from SETTINGS, and is raised towards window by grants of its own, so that no change of SETTINGS races with
// its acknowledgement. raised is the sum of what all open streams have above initial. At any time
//
//	conn + raised + max/4 <= max
//
// conn being the window of the connection. What is unread on streams that are not read is at most raised and initial
// for each of them, so while the latter is within max/4, the grant of conn octets above what was received keeps
// everything unread and granted within max.
type bdp struct {
	max     int64
	initial int64
	window  int64
	conn    int64
	raised  int64
	streams map[uint32]bdpStream
	// large has a bit for each of the last eight streams, set if it needed more than initial. As long as all were
	// small, new streams are not raised when they open but once they turn out to be large: a WINDOW_UPDATE with each
	// request would be a waste.
	large uint8

	delivery delivery
	rtt      roundTrip
}

// bdpStream is an open stream: what it has above the initial window, and whether the peer may still send.
type bdpStream struct {
	raised int64
	ended  bool
}

var _ flow.Strategy = (*bdp)(nil)

// Open returns the windows to start with.
func (b *bdp) Open(time.Time) flow.Windows { return flow.Windows{Stream: b.initial, Conn: b.conn} }

// Deadline is never: all that is decided follows from octets that move.
func (b *bdp) Deadline() time.Time { return time.Time{} }

// Decide learns from ev and grants what the windows lack.
func (b *bdp) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	switch ev.Kind {
	case flow.RTTSample:
		b.rtt.sample(ev.Source, ev.RTT)
		b.delivery.setSpan(b.rtt.least)
	case flow.ActionRefused:
		if ev.Action.Kind == flow.ActPing {
			b.rtt.refused(now)
		}
		return dst
	case flow.GoAway:
		b.rtt.stop()
	case flow.StreamOpened:
		b.streams[ev.Stream] = bdpStream{}
	case flow.StreamClosed:
		b.raised -= b.streams[ev.Stream].raised
		delete(b.streams, ev.Stream)
		b.large <<= 1
	case flow.Received:
		if keepsUp(ev.StreamWindow) {
			b.delivery.add(now, ev.N)
			b.grow()
		}
	}
	dst = b.grantStream(ev, dst)
	if n := b.connDue(ev.ConnWindow); n >= max(1, b.conn/8) {
		dst = append(dst, flow.GrantConn(n))
	}
	if ev.Kind == flow.Received && b.busy() && b.rtt.due(now) {
		dst = append(dst, flow.Ping())
	}
	return dst
}

// keepsUp reports whether the reader of a stream is ahead of the path: it has begun to read, and at most half of what it
// could have is unread.
func keepsUp(o flow.Offsets) bool { return o.Consumed > 0 && o.Unread() <= (o.Granted-o.Consumed)/2 }

// connDue is what the connection window lacks: conn octets above what was received, but within the budget.
func (b *bdp) connDue(o flow.Offsets) int64 {
	return min(o.Received+b.conn, o.Consumed+b.max) - o.Granted
}

// grantStream grants what the window of the event's stream lacks.
func (b *bdp) grantStream(ev flow.Event, dst []flow.Action) []flow.Action {
	s, ok := b.streams[ev.Stream]
	if !ok {
		return dst
	}
	if ev.End && !s.ended {
		s.ended = true
		b.streams[ev.Stream] = s
	}
	if s.ended {
		return dst
	}
	if b.initial+s.raised < b.window && b.shouldRaise(ev) {
		more := b.share(b.window - b.initial - s.raised)
		s.raised += more
		b.raised += more
		b.streams[ev.Stream] = s
	}
	size := b.initial + s.raised
	if n := ev.StreamWindow.Due(size); n >= size/8 {
		dst = append(dst, flow.GrantStream(ev.Stream, n))
	}
	return dst
}

// shouldRaise reports whether the stream of ev is or may become large enough to need more than the initial window.
func (b *bdp) shouldRaise(ev flow.Event) bool {
	switch ev.Kind {
	case flow.StreamOpened:
		return b.large != 0
	case flow.ResponseHead:
		return ev.N > b.initial
	case flow.Received, flow.Consumed:
		if ev.StreamWindow.Received > b.initial/4 {
			b.large |= 1
			return keepsUp(ev.StreamWindow)
		}
	}
	return false
}

// share is how much of n octets there is room for: at most three quarters of what is left, so that something is left
// for the streams to come.
func (b *bdp) share(n int64) int64 { return min(n, b.free()*3/4) }

// free is what neither windows nor the reserve take of the budget.
func (b *bdp) free() int64 { return max(0, b.max-b.max/4-b.conn-b.raised) }

// grow raises the windows if the server came close to using up the window within one round trip: it may have had more
// to send.
func (b *bdp) grow() {
	got := b.delivery.sum
	if got < b.window-b.window/3 {
		return
	}
	// Twice the product lets a server that doubles its rate each round trip go on doing so; more than four times the
	// window is more than one round trip can know.
	size := min(2*max(got, b.delivery.peak()), 4*b.window, b.max/2)
	b.window = max(b.window, size)
	// The connection window is held back by an 8th at most, which leaves more than window.
	if more := b.window + b.window/4 - b.conn; more > 0 {
		b.conn += min(more, b.free(), b.max/2-min(b.conn, b.max/2))
	}
}

// busy reports whether the window is likely to matter: a third of it is used in one round trip.
func (b *bdp) busy() bool { return b.delivery.sum >= b.window/3 }
