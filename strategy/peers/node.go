package peers

import "example.com/h2flow/flow"

// Node is the http2 module of Node.js, on nghttp2 by hand: the connection is credited on receipt, streams as they are
// read, both given back at half.
type Node struct {
	// Stream and Conn are initialWindowSize and setLocalWindowSize, in octets; zero means 65,535. Raising only the former
	// leaves the session at 65,535.
	Stream, Conn int64
}

var _ flow.Config = Node{}

// New makes the strategy of one connection.
func (p Node) New() flow.Strategy {
	c := newClient(side{size: orDefault(p.Stream, flow.DefaultWindow), give: halfDue},
		side{size: min(max(p.Conn, flow.DefaultWindow), flow.MaxWindow), onReceipt: true, give: halfDue})
	c.whole = false
	return c
}

// String describes p so that Parse reads it back.
func (p Node) String() string {
	return describe("node", size("stream", p.Stream), size("conn", p.Conn))
}
