package peers

import (
	"time"

	"example.com/h2flow/flow"
)

// ModHTTP2 is the tuner of Apache's mod_http2 (icing/mod_h2 3e0d9c6), which is of its server side, for the windows of
// streams: a read that takes most of a window soon after the last one adds 64 KiB, one that takes little of an almost
// empty window after a pause takes 32 KiB away, by withholding. The connection has all that the protocol can express.
type ModHTTP2 struct{}

const (
	modHTTP2Start  = 65535
	modHTTP2Conn   = flow.MaxWindow
	modHTTP2Max    = 2 << 20
	modHTTP2Min    = 32 << 10
	modHTTP2Grow   = 64 << 10
	modHTTP2Shrink = 32 << 10
	modHTTP2Soon   = 40 * time.Millisecond
	modHTTP2Late   = 700 * time.Millisecond
)

var _ flow.Config = ModHTTP2{}

// New makes the strategy of one connection.
func (ModHTTP2) New() flow.Strategy {
	return &modHTTP2{client: newReading(modHTTP2Start, modHTTP2Conn), last: make(map[uint32]time.Time)}
}

// String describes the model so that Parse reads it back.
func (ModHTTP2) String() string { return describe("mod_http2") }

type modHTTP2 struct {
	*client
	last map[uint32]time.Time // the last input of each stream
}

func (m *modHTTP2) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	b := m.track(now, ev)
	dst = m.grant(now, ev, dst)
	switch {
	case ev.Kind == flow.StreamOpened:
		m.last[ev.Stream] = now
	case ev.Kind == flow.StreamClosed:
		delete(m.last, ev.Stream)
	case ev.Kind == flow.Received:
		m.last[ev.Stream] = now
	case ev.Kind == flow.Consumed && b != nil && !b.ended:
		dst = m.tune(now.Sub(m.last[ev.Stream]), b, ev, dst)
	}
	return dst
}

// tune moves the window by what one read took of it. Shares of a window are in tenths, so that nothing is rounded.
func (m *modHTTP2) tune(since time.Duration, b *book, ev flow.Event, dst []flow.Action) []flow.Action {
	left := ev.StreamWindow.Window()
	for _, a := range dst {
		if a.Kind == flow.ActGrantStream && a.Stream == ev.Stream {
			left += a.N
		}
	}
	switch {
	case 10*left > 8*b.size && 10*ev.N > 8*b.size && b.size < modHTTP2Max && since < modHTTP2Soon:
		more := min(modHTTP2Grow, modHTTP2Max-b.size)
		b.size += more
		return append(dst, flow.GrantStream(ev.Stream, more))
	case 10*left < 2*b.size && 10*ev.N < 2*b.size && b.size > modHTTP2Min && since > modHTTP2Late:
		b.size = max(modHTTP2Min, b.size-modHTTP2Shrink)
	}
	return dst
}
