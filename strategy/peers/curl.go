package peers

import (
	"time"

	"example.com/h2flow/flow"
)

// Curl is curl (5c61e168), which drives nghttp2 by hand: both levels are credited as octets are written out, and given
// back at half. A stream starts at 64 KiB and jumps to 10 MiB when its response begins; against a server whose transport
// is warm that costs a round trip.
type Curl struct {
	// Old is curl 7.88: windows of 32 MiB on both levels from the start, given back at half. Its constants are not from
	// its source but from frames that were counted: 1 for a body of 10 MiB, 13 for one of 100 MiB.
	Old bool
}

const (
	curlStream = 64 << 10
	curlOpened = 10 << 20
	curlConn   = 100 * curlOpened
	curlOld    = 32 << 20
)

var _ flow.Config = Curl{}

// New makes the strategy of one connection.
func (p Curl) New() flow.Strategy {
	if p.Old {
		return newReading(curlOld, curlOld)
	}
	return &curl{newReading(curlStream, curlConn)}
}

// String describes p so that Parse reads it back.
func (p Curl) String() string { return describe("curl", flag("old", p.Old)) }

// newReading is nghttp2 driven by hand: credit on reading, piece by piece, given back at half.
func newReading(stream, conn int64) *client {
	c := newClient(side{size: stream, give: halfDue}, side{size: conn, give: halfDue})
	c.whole = false
	return c
}

type curl struct{ *client }

func (c *curl) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	b := c.track(now, ev)
	if ev.Kind == flow.ResponseHead && b != nil && !b.ended && b.size < curlOpened {
		dst = append(dst, flow.GrantStream(ev.Stream, curlOpened-b.size))
		b.size = curlOpened
		return dst
	}
	return c.grant(now, ev, dst)
}
