package strategy

import "example.com/h2flow/flow"

// BDP lets both windows follow the bandwidth-delay product of the path.
type BDP struct {
	// Max bounds the memory of one connection: what is unread and what the peer may still send, in octets. Zero means
	// 64 MiB.
	Max int64
}

var _ flow.Config = BDP{}

// New makes the strategy of one connection.
func (b BDP) New() flow.Strategy { return Fixed{Stream: 1 << 20, Conn: 4 << 20}.New() }

// String describes b so that Parse reads it back.
func (b BDP) String() string {
	if b.Max == 0 {
		b.Max = 64 << 20
	}
	return describe("bdp", "max", formatSize(b.Max))
}
