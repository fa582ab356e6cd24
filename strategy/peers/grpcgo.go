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
	// Message takes a response for messages of so many octets: grpc-go lets the window of a stream pass its limit by the
	// length of a message for which there is no room. Zero means that there are none.
	Message int64
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
	g := &grpcGo{cfg: p, bdp: grpcGoWindow, off: p.Fixed > 0, large: make(map[uint32]largeMessage)}
	g.client = newClient(side{size: stream, give: quarter}, side{size: conn, onReceipt: true, give: quarter})
	return g
}

// String describes p so that Parse reads it back.
func (p GRPCGo) String() string {
	return describe("grpc-go", size("fixed", p.Fixed), size("conn", p.Conn), size("message", p.Message),
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
	large map[uint32]largeMessage

	bdp     int64
	sample  int64
	asked   bool
	count   int
	rtt     float64
	bwMax   float64
	initial settings
}

// largeMessage is what a stream's window still is above its limit for a message, and where the next one begins.
type largeMessage struct{ delta, next int64 }

func (g *grpcGo) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	b := g.track(now, ev)
	g.follow(ev)
	dst = g.initial.retry(ev, dst)
	switch ev.Kind {
	case flow.Consumed:
		dst = g.read(b, ev, dst)
	case flow.StreamClosed:
		delete(g.large, ev.Stream)
	case flow.RTTSample:
		if ev.Source == flow.SourcePing && g.asked && g.measured(ev) {
			dst = g.apply(ev, dst)
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

// measured is the answer to a PING. It reports whether the estimate has grown.
func (g *grpcGo) measured(ev flow.Event) bool {
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
		return false
	}
	g.bdp = min(grpcGoGamma*g.sample, grpcGoLimit)
	return true
}

// apply makes both windows follow the estimate.
func (g *grpcGo) apply(ev flow.Event, dst []flow.Action) []flow.Action {
	if g.cfg.Defects && g.bdp < g.total.size {
		return append(dst, flow.GrantConn(int64(uint32(g.bdp-g.total.size))))
	}
	if more := g.grow(g.bdp); more > 0 {
		dst = append(dst, flow.GrantConn(more))
	}
	return g.initial.set(max(g.bdp, ev.InitialWindow), ev, dst)
}

// read is an application that reads: what was given above the limit is not given back, and where a message begins for
// which there is no room, the window passes the limit by its length.
func (g *grpcGo) read(b *book, ev flow.Event, dst []flow.Action) []flow.Action {
	if g.cfg.Message <= 0 || b == nil || b.ended {
		return dst
	}
	m := g.large[ev.Stream]
	n := min(m.delta, ev.N)
	m.delta -= n
	b.lost += n
	o := ev.StreamWindow
	if o.Consumed > m.next {
		m.next += g.cfg.Message
		if m.next-o.Received > o.Granted-o.Received && b.size < flow.MaxWindow-g.cfg.Message {
			m.delta = g.cfg.Message
			b.lost -= m.delta // the window is above its limit until that much was read
			dst = append(dst, flow.GrantStream(ev.Stream, m.delta))
		}
	}
	g.large[ev.Stream] = m
	return dst
}
