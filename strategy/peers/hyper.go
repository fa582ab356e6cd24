package peers

import (
	"time"

	"example.com/h2flow/flow"
)

// Hyper is the client of Rust's hyper (8fcaf1a6) on h2 (3850acd), with windows that do not change.
//
// Both levels are credited when the user polls a frame, and given back once half of what the peer has left is due:
// about a third of the window if the reader keeps up, and less the more it lags.
type Hyper struct {
	// Stream and Conn are http2_initial_stream_window_size and http2_initial_connection_window_size, in octets; zero
	// means 2 MiB and 5 MiB.
	Stream, Conn int64
}

const (
	hyperStream = 2 << 20
	hyperConn   = 5 << 20
)

var _ flow.Config = Hyper{}

// New makes the strategy of one connection.
func (p Hyper) New() flow.Strategy {
	return newClient(side{size: orDefault(p.Stream, hyperStream), give: halfOfRest},
		side{size: max(orDefault(p.Conn, hyperConn), flow.DefaultWindow), give: halfOfRest})
}

// String describes p so that Parse reads it back.
func (p Hyper) String() string {
	return describe("hyper", size("stream", p.Stream), size("conn", p.Conn))
}

// halfOfRest is h2's rule: what is due is compared with what the peer has left, not with the window.
func halfOfRest(v view) int64 {
	if v.due > 0 && v.due >= v.rem/2 {
		return v.due
	}
	return 0
}

// HyperAdaptive is Hyper with http2_adaptive_window.
//
// Both windows start at 65,535 and double what was consumed until the answer to a PING, when that is two thirds of the
// estimate and no slower than ever before. Between samples it waits: 100 ms at first, half of that after each growth,
// four times as long after each two samples without; what is consumed meanwhile does not count.
type HyperAdaptive struct{}

const (
	hyperAdaptiveWindow = 65535
	hyperAdaptiveLimit  = 16 << 20
	hyperAdaptiveDelay  = 100 * time.Millisecond
	hyperAdaptiveSlow   = 10 * time.Second // from here on the delay does not grow
)

var _ flow.Config = HyperAdaptive{}

// New makes the strategy of one connection.
func (HyperAdaptive) New() flow.Strategy {
	return &hyperAdaptive{
		client: newClient(side{size: hyperAdaptiveWindow, give: halfOfRest},
			side{size: hyperAdaptiveWindow, give: halfOfRest}),
		bdp:   hyperAdaptiveWindow,
		delay: hyperAdaptiveDelay,
	}
}

// String describes the model so that Parse reads it back.
func (HyperAdaptive) String() string { return describe("hyper-adaptive") }

// MaxConnWindow is the most that the connection window ever is, in octets.
func (HyperAdaptive) MaxConnWindow() int64 { return hyperAdaptiveLimit }

type hyperAdaptive struct {
	*client
	lifted
	bdp, bytes int64
	asked, off bool
	rtt, bwMax float64
	delay      time.Duration
	stable     int
	next       time.Time
	polled     map[uint32]int64
	initial    settings
}

func (h *hyperAdaptive) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	b := h.track(now, ev)
	h.follow(ev)
	dst = h.initial.retry(ev, dst)
	switch ev.Kind {
	case flow.RTTSample:
		if ev.Source == flow.SourcePing && h.asked {
			dst = h.measured(now, ev, dst)
		}
	case flow.ActionRefused:
		if ev.Action.Kind == flow.ActPing {
			h.asked, h.off = false, true // it can only be that the connection closes
		}
	case flow.StreamClosed:
		delete(h.polled, ev.Stream)
	case flow.Consumed:
		if b != nil {
			dst = h.record(now, h.poll(b, ev), dst)
		}
	}
	return h.grant(now, ev, dst)
}

// poll is how much of whole frames the application has taken since the last time.
func (h *hyperAdaptive) poll(b *book, ev flow.Event) int64 {
	if h.polled == nil {
		h.polled = make(map[uint32]int64)
	}
	at := ev.StreamWindow.Consumed - b.partial
	n := at - h.polled[ev.Stream]
	h.polled[ev.Stream] = at
	return n
}

// record counts n octets that were consumed, and asks for a PING unless it waits.
func (h *hyperAdaptive) record(now time.Time, n int64, dst []flow.Action) []flow.Action {
	if n <= 0 || h.off || now.Before(h.next) {
		return dst
	}
	h.bytes += n
	if h.asked {
		return dst
	}
	h.asked = true
	return append(dst, flow.Ping())
}

// measured is the answer to a PING.
func (h *hyperAdaptive) measured(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	bytes := h.bytes
	h.bytes, h.asked = 0, false
	if h.grows(bytes, ev.RTT.Seconds()) {
		h.bdp = min(2*bytes, hyperAdaptiveLimit)
		h.stable = 0
		h.delay /= 2
		h.grow(h.bdp)
		dst = h.initial.set(max(h.bdp, ev.InitialWindow), ev, dst)
	} else if h.delay < hyperAdaptiveSlow {
		if h.stable++; h.stable >= 2 {
			h.delay, h.stable = 4*h.delay, 0
		}
	}
	h.next = now.Add(h.delay)
	return dst
}

func (h *hyperAdaptive) grows(bytes int64, rtt float64) bool {
	if h.bdp == hyperAdaptiveLimit {
		return false
	}
	if h.rtt == 0 {
		h.rtt = rtt
	} else {
		h.rtt += (rtt - h.rtt) / 8
	}
	bw := float64(bytes) / (h.rtt * 1.5)
	if bw < h.bwMax {
		return false
	}
	h.bwMax = bw
	return bytes >= h.bdp*2/3
}
