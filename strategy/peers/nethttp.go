package peers

import "example.com/h2flow/flow"

// NetHTTP is Go's net/http, and golang.org/x/net/http2 whose code it bundles (golang/net 0ca694d2).
//
// Windows never change. Each read of a body credits both levels, and each is given back on its own as soon as 4 KiB are
// due, or as much as the peer has left. Padding is credited at once. That is up to one WINDOW_UPDATE for each read and
// level: how many there are depends on how an application reads.
type NetHTTP struct {
	// Stream is HTTP2Config.MaxReceiveBufferPerStream, in octets; zero means 4 MiB.
	Stream int64
	// Conn is HTTP2Config.MaxReceiveBufferPerConnection, in octets; zero means 2^30 above the window of every
	// connection, which is what the preface then asks for.
	Conn int64
}

const (
	netHTTPStream     = 4 << 20
	netHTTPConn       = flow.DefaultWindow + 1<<30
	netHTTPMinRefresh = 4 << 10
)

var _ flow.Config = NetHTTP{}

// New makes the strategy of one connection.
func (p NetHTTP) New() flow.Strategy {
	give := func(v view) int64 {
		if v.due > 0 && (v.due >= netHTTPMinRefresh || v.due >= v.rem) {
			return v.due
		}
		return 0
	}
	return newClient(side{size: orDefault(p.Stream, netHTTPStream), give: give},
		side{size: orDefault(p.Conn, netHTTPConn), give: give})
}

// String describes p so that Parse reads it back.
func (p NetHTTP) String() string {
	return describe("nethttp", size("stream", p.Stream), size("conn", p.Conn))
}
