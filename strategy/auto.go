package strategy

import (
	"fmt"
	"time"

	"example.com/h2flow/flow"
)

// Auto keeps the path full with the smallest windows that do. It is the default.
//
// The connection window belongs to the path. It starts at 1.25 MiB, stays at twice of what comes in a round trip while
// that grows, so that a server which doubles its rate is never held back, and once more window has brought no more octets
// it falls to a quarter above the bandwidth-delay product: the queue before the bottleneck empties, and small responses
// do not wait behind large ones. A rate that rises or falls opens it again, and every few seconds it is tried whether
// more is to be had.
//
// The window of a stream belongs to its reader. It is the path's as long as the reader waits for octets, and falls to
// about twice of what the reader takes at a time when it does not. What one stream learned of the path serves all later
// streams of the connection.
//
// One budget bounds the memory of a connection: Max octets, unread and grantable together. As long as every reader has
// octets to read, a pool of 2 MiB or two windows of the path is all that is used of it. A reader that waits while others
// leave theirs unread has the window given back on receipt, so that slow readers do not stop it; what they hold is
// bounded by the windows of their own streams. A quarter of Max is kept for streams that have no more than the 32 KiB
// that streams start with; larger windows come out of the rest. So with the default 64 MiB, 500 streams that nobody
// reads stop nobody.
type Auto struct {
	// Max bounds the memory of one connection: what is unread and what the peer may still send, together, in octets.
	// Three quarters of it bound each window. Zero means 64 MiB; the least is 256 KiB.
	Max int64
}

var _ flow.Config = Auto{}

// New makes the strategy of one connection. A Max outside the range that Validate allows is brought into it.
func (a Auto) New() flow.Strategy {
	most := a.MemoryBound()
	s := &auto{max: most, large: 0xff, streams: make(map[uint32]*autoStream)}
	s.path.init(most * 3 / 4)
	return s
}

// String describes a so that Parse reads it back.
func (a Auto) String() string { return describe("auto", "max", formatSize(a.MemoryBound())) }

// Validate reports a Max that leaves no room for the windows or that no window can express.
func (a Auto) Validate() error {
	if a.Max != 0 && (a.Max < leastMax || a.Max > flow.MaxWindow) {
		return fmt.Errorf("max of %d octets: want %s to %d", a.Max, formatSize(leastMax), flow.MaxWindow)
	}
	return nil
}

// MemoryBound is the most octets that are unread on one connection and granted to its peer, together.
func (a Auto) MemoryBound() int64 {
	if a.Max == 0 {
		return defaultMax
	}
	return min(max(a.Max, leastMax), flow.MaxWindow)
}

// SlowReaders is how many streams of one connection may have no reader while all others still make progress.
func (a Auto) SlowReaders() int { return int((a.MemoryBound()/4 - 2*frame) / startSize) }

// auto is the strategy of one connection.
//
// Model: path decides the connection window, which is granted above what was received, and the most that the window of
// a stream may be. Each stream starts with startSize, from SETTINGS, and is raised by grants of its own, so that no
// change of SETTINGS races with its acknowledgement.
//
// Bounds: raised is the sum of what all open streams hold above startSize, and no stream is raised when it would exceed
// 3/4 of max. The connection's grants never exceed what was consumed by more than max. So n streams that nobody reads
// hold 3/4 of max and n times startSize at most, and with n of SlowReaders two frames of the connection window are left.
type auto struct {
	max     int64
	path    path
	streams map[uint32]*autoStream
	last    *autoStream // that was looked up
	free    []*autoStream

	raised  int64
	loans   int64 // the part of raised that streams got before their readers had earned it
	extra   int64 // what bound is above the pool
	waiting int   // streams whose reader waits for octets
	// large has a bit for each of the last eight streams, set if it needed more than it started with. As long as all were
	// small, new streams are not raised when they open but once they turn out to be large: a WINDOW_UPDATE with each
	// request would be a waste.
	large uint8
}

var _ flow.Strategy = (*auto)(nil)

const (
	// startSize is the window of a stream in SETTINGS: two frames, so that 100 streams hold 3.2 MiB.
	startSize = 2 * frame
	// spare is what the connection window has above the path's: small responses beside a large one find it free.
	spare = 256 << 10
	// pool is what may be unread and grantable together, at least, while all readers have enough.
	pool = 2 << 20
	// ration is what the connection window has, at least, while a reader waits, be the pool used up or not.
	ration = 128 << 10
)

// Open returns the windows to start with.
func (a *auto) Open(time.Time) flow.Windows {
	return flow.Windows{Stream: startSize, Conn: max(a.connSize(), flow.DefaultWindow)}
}

// Deadline is never: all that is decided follows from octets that move.
func (a *auto) Deadline() time.Time { return time.Time{} }

// Decide learns from ev and grants what the windows lack.
func (a *auto) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	s := a.lookup(ev.Stream)
	switch ev.Kind {
	case flow.RTTSample:
		a.path.sample(now, ev.Source, ev.RTT)
	case flow.ActionRefused:
		if ev.Action.Kind == flow.ActPing {
			a.path.rtt.refused(now)
		}
		return dst // what is due stays due
	case flow.GoAway:
		a.path.rtt.stop()
	case flow.StreamOpened:
		if len(a.streams) == 0 {
			a.path.restart()
		}
		s = a.opened(ev.Stream)
	case flow.StreamClosed:
		a.closed(s)
		s = nil
	case flow.Received:
		if s != nil {
			a.received(now, s, ev)
		}
	}
	if s != nil {
		a.noteReader(now, s, ev)
	}
	return a.grant(now, s, ev, dst)
}

// received lets the path learn from octets that came for a reader which waited for them; how fast others come says more
// of their readers.
func (a *auto) received(now time.Time, s *autoStream, ev flow.Event) {
	if keepsUp(ev.StreamWindow) && (s.waits || now.Sub(s.waited) <= max(a.path.rate.span, patience)) {
		a.path.arrived(now, ev.N, ev.ConnWindow)
	} else {
		a.path.spoiled = true
	}
}

// grant appends what both windows lack, and a PING if none has told the round-trip time for long.
func (a *auto) grant(now time.Time, s *autoStream, ev flow.Event, dst []flow.Action) []flow.Action {
	size := a.connSize()
	due := min(ev.ConnWindow.Received+size, ev.ConnWindow.Consumed+a.bound(ev.ConnWindow)) - ev.ConnWindow.Granted
	hold := max(1, a.path.hold(size))
	if a.waiting > 0 && ev.ConnWindow.Window() < ration/2 {
		hold = min(hold, frame)
	}
	// What is due on one level goes along with what must be granted on the other, in one packet.
	before := len(dst)
	if s != nil {
		dst = a.grantStream(now, s, ev, due >= hold, dst)
	}
	if due >= hold || len(dst) > before && due >= max(1, hold/2) {
		due = wholeFrames(due)
		dst = append(dst, flow.GrantConn(due))
		a.path.loop.granted(now, ev.ConnWindow, due)
	}
	if ev.Kind == flow.Received && a.path.busy() && a.path.rtt.due(now) {
		dst = append(dst, flow.Ping())
	}
	return dst
}

// wholeFrames is the whole frames among n octets, if there are any. Where a window ends within a frame, servers send a
// short one, which costs both sides.
func wholeFrames(n int64) int64 {
	if n < frame {
		return n
	}
	return n - n%frame
}

// connSize is the window that the connection should have.
func (a *auto) connSize() int64 {
	if a.path.phase == settling {
		return a.path.window // whatever is above it would hide how long the loop is
	}
	return min(a.path.window+spare, a.path.most)
}

// bound is the most that may be unread and grantable together now. While no reader waits for octets all have enough,
// and the rest of the budget is left alone. A reader that waits while others leave theirs unread makes it larger, until
// less is unread again.
func (a *auto) bound(o flow.Offsets) int64 {
	least := max(pool, 2*a.path.window)
	if a.waiting > 0 {
		a.extra = max(a.extra, o.Charged+ration-o.Consumed-least)
	} else if o.Unread() < least/2 {
		a.extra = 0
	}
	return min(least+a.extra, a.max)
}
