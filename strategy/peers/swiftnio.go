package peers

import "example.com/h2flow/flow"

// SwiftNIO is swift-nio-http2 (61d1b448): a window is restored to its target once it has lost half, counting what is
// buffered as not lost; the connection is credited on receipt.
type SwiftNIO struct {
	// Stream and Conn are the target windows, in octets; zero means 65,535. (grpc-swift uses 8 MiB.)
	Stream, Conn int64
}

var _ flow.Config = SwiftNIO{}

// New makes the strategy of one connection.
func (p SwiftNIO) New() flow.Strategy {
	give := func(v view) int64 {
		if v.due > 0 && v.due >= v.size-v.due {
			return v.due
		}
		return 0
	}
	return newClient(side{size: orDefault(p.Stream, flow.DefaultWindow), give: give},
		side{size: min(max(p.Conn, flow.DefaultWindow), flow.MaxWindow), onReceipt: true, give: give})
}

// String describes p so that Parse reads it back.
func (p SwiftNIO) String() string {
	return describe("swift-nio", size("stream", p.Stream), size("conn", p.Conn))
}
