package peers

import "example.com/h2flow/flow"

// NGHTTP2 is the nghttp2 library (692c8d8f) when it sends WINDOW_UPDATE by itself: both levels are credited as octets
// arrive, whether anybody reads or not, and given back at half. So a window is no bound of what is unread. The windows of
// the library, and of the command nghttp that does not change them, are 65,535.
type NGHTTP2 struct {
	// Stream and Conn are the windows, in octets; zero means 65,535. (The options -w and -W of nghttp.)
	Stream, Conn int64
}

var _ flow.Config = NGHTTP2{}

// New makes the strategy of one connection.
func (p NGHTTP2) New() flow.Strategy {
	return newNGHTTP2(orDefault(p.Stream, flow.DefaultWindow), max(p.Conn, flow.DefaultWindow))
}

// String describes p so that Parse reads it back.
func (p NGHTTP2) String() string {
	return describe("nghttp2", size("stream", p.Stream), size("conn", p.Conn))
}

func newNGHTTP2(stream, conn int64) flow.Strategy {
	c := newClient(side{size: stream, onReceipt: true, give: halfDue},
		side{size: min(conn, flow.MaxWindow), onReceipt: true, give: halfDue})
	c.whole = false
	return c
}

// H2load is nghttp2's load generator: NGHTTP2 with both windows of 2^Bits - 1.
type H2load struct {
	// Bits is the options -w and -W; zero means 30.
	Bits int64
}

const h2loadBits = 30

var _ flow.Config = H2load{}

// New makes the strategy of one connection.
func (p H2load) New() flow.Strategy {
	n := int64(1)<<min(max(orDefault(p.Bits, h2loadBits), 1), 31) - 1
	return newNGHTTP2(n, max(n, flow.DefaultWindow))
}

// String describes p so that Parse reads it back.
func (p H2load) String() string { return describe("h2load", size("bits", p.Bits)) }
