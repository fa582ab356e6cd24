package peers

import "example.com/h2flow/flow"

// Netty is DefaultHttp2LocalFlowController of Netty (0bb88a3e): a window is restored once at most half of it, rounded
// down, would be left if nothing were due.
type Netty struct {
	// Stream and Conn are the windows, in octets; zero means 65,535.
	Stream, Conn int64
	// AutoRefill credits the connection on receipt and not as octets are consumed.
	AutoRefill bool
}

const nettyRatio = 0.5

var _ flow.Config = Netty{}

// New makes the strategy of one connection.
func (p Netty) New() flow.Strategy {
	return newNetty(orDefault(p.Stream, flow.DefaultWindow), min(max(p.Conn, flow.DefaultWindow), flow.MaxWindow), p.AutoRefill)
}

// String describes p so that Parse reads it back.
func (p Netty) String() string {
	return describe("netty", size("stream", p.Stream), size("conn", p.Conn), flag("refill", p.AutoRefill))
}

func newNetty(stream, conn int64, refill bool) *client {
	return newClient(side{size: stream, give: nettyRule}, side{size: conn, onReceipt: refill, give: nettyRule})
}

func nettyRule(v view) int64 {
	if v.due > 0 && v.size-v.due <= int64(float64(v.size)*nettyRatio) {
		return v.due
	}
	return 0
}
