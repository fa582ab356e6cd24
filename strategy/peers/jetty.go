package peers

import "example.com/h2flow/flow"

// Jetty is the client of Jetty (acf33259) with its buffering strategy: both levels are credited, padding included, as
// frames are released, and given back once more than half of the window is due.
type Jetty struct {
	// Simple is the other strategy of Jetty: every frame is given back at once, on both levels.
	Simple bool
}

const (
	jettyStream = 8 << 20
	jettyConn   = 16 << 20
)

var _ flow.Config = Jetty{}

// New makes the strategy of one connection.
func (p Jetty) New() flow.Strategy {
	give := rule(overHalfDue)
	if p.Simple {
		give = everyOctet
	}
	return newClient(side{size: jettyStream, give: give}, side{size: jettyConn, give: give})
}

// String describes p so that Parse reads it back.
func (p Jetty) String() string { return describe("jetty", flag("simple", p.Simple)) }
