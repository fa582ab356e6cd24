package peers

import (
	"time"

	"example.com/h2flow/flow"
)

// GRPCGo is the client of grpc-go (4793ad047): the estimator of the bandwidth-delay product that BDP descends from.
//
// Both windows start at 65,535. A PING measures each burst of DATA, one at a time and without a limit of its rate; the
// windows double what arrived until its answer, when that is two thirds of the estimate and faster than ever before. The
// connection is credited on receipt, and given back at a quarter and before each PING; streams on reading, at a quarter.
type GRPCGo struct {
	// Fixed sets both windows, in octets, and turns the estimator off, as WithStaticStreamWindowSize and
	// WithStaticConnWindowSize do. Zero leaves it on.
	Fixed int64
	// Conn is WithInitialConnWindowSize, in octets, with the estimator left on; zero means 65,535.
	Conn int64
	// Message takes a response for one message, as long as its content-length tells: grpc-go lets the window of the
	// stream pass its limit for a message that is larger, once.
	Message bool
	// Defects subtracts the connection's window from a smaller estimate without a sign, as the code does: with Conn set
	// it asks for an increment that no frame can express, and no estimate is ever applied.
	Defects bool
}

const (
	grpcGoWindow    = 65535
	grpcGoLimit     = 16 << 20
	grpcGoBeta      = 0.66
	grpcGoGamma     = 2
	grpcGoAlpha     = 0.9
	grpcGoRTTFactor = 1.5
	grpcGoSamples   = 10 // round trips that are averaged before alpha counts
)

var _ flow.Config = GRPCGo{}

// New makes the strategy of one connection.
func (p GRPCGo) New() flow.Strategy {
	stream := orDefault(p.Fixed, grpcGoWindow)
	conn := max(orDefault(p.Conn, stream), grpcGoWindow)
	quarter := func(v view) int64 {
		if v.due > 0 && v.due >= v.size/4 {
			return v.due
		}
		return 0
	}
	g := &grpcGo{cfg: p, bdp: grpcGoWindow, off: p.Fixed > 0, delta: make(map[uint32]int64)}
	g.client = newClient(side{size: stream, give: quarter}, side{size: conn, onReceipt: true, give: quarter})
	return g
}

// String describes p so that Parse reads it back.
func (p GRPCGo) String() string {
	return describe("grpc-go", size("fixed", p.Fixed), size("conn", p.Conn), flag("message", p.Message),
		flag("defects", p.Defects))
}

// MaxConnWindow is the most that the connection window ever is, in octets.
func (p GRPCGo) MaxConnWindow() int64 {
	if p.Fixed > 0 {
		return max(p.Fixed, grpcGoWindow)
	}
	return max(p.Conn, grpcGoLimit)
}

type grpcGo struct {
	*client
	lifted
	cfg   GRPCGo
	off   bool
	delta map[uint32]int64 // what a stream's window still is above its limit, for a large message

	bdp     int64
	sample  int64
	asked   bool
	count   int
	rtt     float64
	bwMax   float64
	initial settings
}

func (g *grpcGo) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	b := g.track(now, ev)
	g.follow(ev)
	dst = g.initial.retry(ev, dst)
	switch ev.Kind {
	case flow.ResponseHead:
		dst = g.announce(b, ev, dst)
	case flow.Consumed:
		g.burn(b, ev)
	case flow.StreamClosed:
		delete(g.delta, ev.Stream)
	case flow.RTTSample:
		if ev.Source == flow.SourcePing && g.asked {
			dst = g.measured(ev, dst)
		}
	case flow.ActionRefused:
		if ev.Action.Kind == flow.ActPing {
			g.asked, g.off = false, true // it can only be that the connection closes
		}
	}
	dst = g.grant(now, ev, dst)
	if g.frame > 0 && !g.off && g.bdp != grpcGoLimit {
		dst = g.add(g.frame, ev, dst)
	}
	return dst
}

// add counts a frame, and asks for a PING if none is under way. What the connection is owed goes out before it, since
// some count the PINGs between other frames.
func (g *grpcGo) add(n int64, ev flow.Event, dst []flow.Action) []flow.Action {
	if g.asked {
		g.sample += n
		return dst
	}
	g.asked, g.sample = true, n
	g.count++
	if len(dst) == 0 || dst[len(dst)-1].Kind != flow.ActGrantConn {
		if v := g.connView(time.Time{}, ev.ConnWindow); v.due > 0 {
			dst = append(dst, flow.GrantConn(v.due))
		}
	}
	return append(dst, flow.Ping())
}

// measured is the answer to a PING.
func (g *grpcGo) measured(ev flow.Event, dst []flow.Action) []flow.Action {
	g.asked = false
	rtt := ev.RTT.Seconds()
	if g.count < grpcGoSamples {
		g.rtt += (rtt - g.rtt) / float64(g.count)
	} else {
		g.rtt += (rtt - g.rtt) * grpcGoAlpha
	}
	bw := float64(g.sample) / (g.rtt * grpcGoRTTFactor)
	if bw > g.bwMax {
		g.bwMax = bw
	}
	if float64(g.sample) < grpcGoBeta*float64(g.bdp) || bw != g.bwMax || g.bdp == grpcGoLimit {
		return dst
	}
	g.bdp = min(grpcGoGamma*g.sample, grpcGoLimit)
	if g.cfg.Defects && g.bdp < g.total.size {
		return append(dst, flow.GrantConn(int64(uint32(g.bdp-g.total.size))))
	}
	if more := g.grow(g.bdp); more > 0 {
		dst = append(dst, flow.GrantConn(more))
	}
	return g.initial.set(max(g.bdp, ev.InitialWindow), ev, dst)
}

// announce is an application that wants a message which may be larger than the window.
func (g *grpcGo) announce(b *book, ev flow.Event, dst []flow.Action) []flow.Action {
	if !g.cfg.Message || b == nil || b.ended || ev.N <= b.size {
		return dst
	}
	n := min(ev.N, flow.MaxWindow-b.size)
	g.delta[ev.Stream] = n
	b.lost -= n // the window is above its limit until that much was read
	return append(dst, flow.GrantStream(ev.Stream, n))
}

// burn takes what was read from what a large message was given above the limit: nothing of it is given back.
func (g *grpcGo) burn(b *book, ev flow.Event) {
	if n := min(g.delta[ev.Stream], ev.N); n > 0 && b != nil {
		g.delta[ev.Stream] -= n
		b.lost += n
	}
}
