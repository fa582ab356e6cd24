package peers

import (
	"time"

	"example.com/h2flow/flow"
)

// GRPCJava is the netty client of grpc-java (5fda0c7c): Netty's rule on windows of 1 MiB, the connection credited on
// receipt, and a PING that measures when enough has arrived. Both windows go to twice what came until its answer, if that
// was faster than ever before. It asks only while fewer than two PINGs have gone since its last other frame.
type GRPCJava struct {
	// Window is flowControlWindow, in octets, which turns the measuring off. Zero leaves it on.
	Window int64
}

const (
	grpcJavaWindow   = 1 << 20
	grpcJavaLimit    = 8 << 20
	grpcJavaPings    = 2  // since the last HEADERS, DATA or WINDOW_UPDATE that it sent
	grpcJavaMostWait = 10 // multiples of the last target
)

var _ flow.Config = GRPCJava{}

// New makes the strategy of one connection.
func (p GRPCJava) New() flow.Strategy {
	w := max(orDefault(p.Window, grpcJavaWindow), flow.DefaultWindow)
	return &grpcJava{client: newNetty(w, w, true), off: p.Window > 0}
}

// String describes p so that Parse reads it back.
func (p GRPCJava) String() string { return describe("grpc-java", size("window", p.Window)) }

// MaxConnWindow is the most that the connection window ever is, in octets.
func (p GRPCJava) MaxConnWindow() int64 { return max(p.Window, grpcJavaLimit) }

type grpcJava struct {
	*client
	lifted
	asked, off bool
	data       int64 // since the last PING
	wait       int64
	target, bw int64 // of the last growth
	initial    settings
}

func (g *grpcJava) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	g.track(now, ev)
	g.follow(ev)
	dst = g.initial.retry(ev, dst)
	switch ev.Kind {
	case flow.RTTSample:
		if ev.Source == flow.SourcePing && g.asked {
			dst = g.measured(ev, dst)
		}
	case flow.ActionRefused:
		if ev.Action.Kind == flow.ActPing {
			g.asked, g.off = false, true // it can only be that the connection closes
		}
	}
	if n := g.frame; n > 0 && !g.off {
		if g.target == 0 {
			g.target = g.total.size
		}
		if !g.asked && ev.Pings < grpcJavaPings && 2*(g.data+n) >= g.target*g.wait {
			g.asked, g.data = true, 0
			dst = append(dst, flow.Ping())
		}
		g.data += n
	}
	return g.grant(now, ev, dst)
}

// measured is the answer to a PING.
func (g *grpcJava) measured(ev flow.Event, dst []flow.Action) []flow.Action {
	g.asked = false
	bw := g.data * int64(time.Second) / max(int64(ev.RTT), 1)
	target := min(2*g.data, grpcJavaLimit)
	if bw <= g.bw || target <= g.total.size {
		g.wait = min(g.wait+1, grpcJavaMostWait)
		return dst
	}
	g.wait, g.bw, g.target = 0, bw, target
	g.grow(target) // what that makes due goes out by Netty's rule
	return g.initial.set(target, ev, dst)
}
