package peers

import (
	"time"

	"example.com/h2flow/flow"
)

// OkHTTP is OkHttp (1682d9ba): 16 MiB on both levels, given back at half; the connection credited on receipt, streams on
// reading.
type OkHTTP struct {
	// Defects credits the connection a second time for what a stream had unread when it was cancelled, and never credits
	// padding and its length octet.
	Defects bool
}

const okHTTPWindow = 16 << 20

var _ flow.Config = OkHTTP{}

// New makes the strategy of one connection.
func (p OkHTTP) New() flow.Strategy {
	c := newClient(side{size: okHTTPWindow, give: halfDue}, side{size: okHTTPWindow, onReceipt: true, give: halfDue})
	c.forgetsPads = p.Defects
	return &okHTTP{c, p.Defects}
}

// String describes p so that Parse reads it back.
func (p OkHTTP) String() string { return describe("okhttp", flag("defects", p.Defects)) }

type okHTTP struct {
	*client
	defects bool
}

func (c *okHTTP) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	if ev.Kind == flow.StreamClosed && c.defects {
		c.total.lost -= ev.N
	}
	return c.client.Decide(now, ev, dst)
}
