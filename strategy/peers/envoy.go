package peers

import "example.com/h2flow/flow"

// Envoy is Envoy from 1.36.0 on, on nghttp2 by hand: credit as octets leave its codec, given back at half.
type Envoy struct {
	// Old is Envoy before 1.36.0: 256 MiB on both levels.
	Old bool
}

const (
	envoyStream = 16 << 20
	envoyConn   = 24 << 20
	envoyOld    = 256 << 20
)

var _ flow.Config = Envoy{}

// New makes the strategy of one connection.
func (p Envoy) New() flow.Strategy {
	if p.Old {
		return newReading(envoyOld, envoyOld)
	}
	return newReading(envoyStream, envoyConn)
}

// String describes p so that Parse reads it back.
func (p Envoy) String() string { return describe("envoy", flag("old", p.Old)) }
