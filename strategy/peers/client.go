package peers

import (
	"time"

	"example.com/h2flow/flow"
)

// client is what all models share: two levels of windows, each with a rule that says when it is given back.
//
// Model: a level's due octets are those that the client counts as credited, plus its size, less what was granted. What a
// client credits is read from the offsets: octets consumed, or octets received. lost is what it forgets, and negative
// what it credits twice; a restored window is never larger than size less lost. The offsets move with every piece of a
// frame, but most clients hand a frame on only when it is complete: with whole set, nothing of the latest frame counts
// before all of it does.
type client struct {
	stream, conn side
	whole        bool
	forgetsPads  bool  // padding and its length octet are never credited, on either level
	atOpen       int64 // granted on each stream together with its HEADERS

	streams map[uint32]*book
	total   book  // of the connection
	partial int64 // the sum of all books'
	frame   int64 // the DATA frame that the last event completed, padding included, or 0
}

// side is one level: its rule and what credits it.
type side struct {
	size      int64
	onReceipt bool
	give      rule
}

// A rule says how much of a window to give back now; 0 means nothing yet.
type rule func(v view) int64

// view is a level as its client sees it, in octets.
type view struct {
	size   int64         // the window it aims at
	rem    int64         // what the peer may still send
	due    int64         // credited and not granted again
	unread int64         // received and not consumed
	idle   time.Duration // since the last grant
}

// book is what a model remembers of one level.
type book struct {
	size    int64
	lost    int64
	whole   int64 // octets received up to the end of the last complete frame
	start   int64 // of the latest frame
	end     int64
	frame   int64 // the frame that is arriving
	partial int64 // octets of the latest frame that were consumed while others of it were not
	granted time.Time
	ended   bool
}

func newClient(stream, conn side) *client {
	return &client{stream: stream, conn: conn, whole: true, streams: make(map[uint32]*book), total: book{size: conn.size}}
}

// Open returns the windows that the client advertises.
func (c *client) Open(now time.Time) flow.Windows {
	c.total.granted = now
	return flow.Windows{Stream: c.stream.size, Conn: c.conn.size}
}

// Deadline is never.
func (c *client) Deadline() time.Time { return time.Time{} }

// Decide grants what the rules say.
func (c *client) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	c.track(now, ev)
	return c.grant(now, ev, dst)
}

// track keeps the books. It returns the one of the event's stream, nil if that is not open.
func (c *client) track(now time.Time, ev flow.Event) *book {
	c.frame = 0
	b := c.streams[ev.Stream]
	switch ev.Kind {
	case flow.StreamOpened:
		b = &book{size: c.stream.size + c.atOpen, granted: now}
		c.streams[ev.Stream] = b
	case flow.FrameStart:
		if b != nil {
			b.frame = ev.N
			b.start, b.end = ev.StreamWindow.Charged-ev.N, ev.StreamWindow.Charged
		}
	case flow.Padding:
		if c.forgetsPads {
			c.total.lost += ev.N
			if b != nil {
				b.lost += ev.N
			}
		}
	case flow.StreamClosed:
		delete(c.streams, ev.Stream)
		if b != nil {
			c.partial -= b.partial
			b = nil
		}
	case flow.Discarded:
		c.frame = ev.N
	}
	if b != nil {
		c.complete(b, ev)
	}
	if ev.ConnWindow.Received == ev.ConnWindow.Charged {
		c.total.whole = ev.ConnWindow.Received
	}
	return b
}

// complete notices the end of a frame, and of the stream.
func (c *client) complete(b *book, ev flow.Event) {
	b.ended = b.ended || ev.End && (ev.Kind == flow.Received || ev.Kind == flow.ResponseHead)
	o := ev.StreamWindow
	if o.Received == o.Charged && (ev.Kind == flow.Received || ev.Kind == flow.Padding) {
		c.frame, b.frame = b.frame, 0
		b.whole = o.Received
	}
	partial := int64(0)
	if c.whole && b.start < o.Consumed && o.Consumed < b.end {
		partial = o.Consumed - b.start
	}
	c.partial += partial - b.partial
	b.partial = partial
}

// grant appends what is due on the event's stream and on the connection.
func (c *client) grant(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	if ev.Kind == flow.ActionRefused || ev.Kind == flow.Tick {
		return dst
	}
	if b := c.streams[ev.Stream]; b != nil && !b.ended {
		if ev.Kind == flow.StreamOpened && c.atOpen > 0 {
			dst = append(dst, flow.GrantStream(ev.Stream, c.atOpen))
		} else if n := c.stream.give(c.streamView(now, b, ev.StreamWindow)); n > 0 {
			b.granted = now
			dst = append(dst, flow.GrantStream(ev.Stream, n))
		}
	}
	if n := c.conn.give(c.connView(now, ev.ConnWindow)); n > 0 {
		c.total.granted = now
		dst = append(dst, flow.GrantConn(n))
	}
	return dst
}

func (c *client) streamView(now time.Time, b *book, o flow.Offsets) view {
	credited, known := o.Consumed-b.partial, o.Charged
	if c.whole {
		known = b.whole
	}
	if c.stream.onReceipt {
		credited = min(o.Received, known)
	}
	return view{
		size: b.size, rem: o.Granted - known, due: credited + b.size - o.Granted - b.lost,
		unread: o.Unread(), idle: now.Sub(b.granted),
	}
}

func (c *client) connView(now time.Time, o flow.Offsets) view {
	credited, known := o.Consumed-c.partial, o.Charged
	if c.whole {
		known = c.total.whole
	}
	if c.conn.onReceipt {
		credited = min(o.Received, known)
	}
	return view{
		size: c.total.size, rem: o.Granted - known, due: credited + c.total.size - o.Granted - c.total.lost,
		unread: o.Unread(), idle: now.Sub(c.total.granted),
	}
}

// grow raises the connection's target to size and returns how much was added.
func (c *client) grow(size int64) int64 {
	more := max(0, size-c.total.size)
	c.total.size += more
	return more
}

// follow makes all streams aim at the initial window in force, for clients that change it by SETTINGS.
func (c *client) follow(ev flow.Event) {
	c.stream.size = ev.InitialWindow
	if b := c.streams[ev.Stream]; b != nil {
		b.size = ev.InitialWindow
	}
}

// orDefault is n, or def if n is not positive.
func orDefault(n, def int64) int64 {
	if n <= 0 {
		return def
	}
	return min(n, flow.MaxWindow)
}

// everyOctet gives back whatever is due.
func everyOctet(v view) int64 { return max(v.due, 0) }

// halfDue gives back all once half of the window, rounded down, is due: nghttp2's rule, and of all that stand on it.
func halfDue(v view) int64 {
	if v.due > 0 && v.due >= v.size/2 {
		return v.due
	}
	return 0
}

// overHalfDue is halfDue, but strictly more than half must be due.
func overHalfDue(v view) int64 {
	if v.due > v.size/2 {
		return v.due
	}
	return 0
}
