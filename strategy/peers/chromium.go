package peers

import (
	"time"

	"example.com/h2flow/flow"
)

// Chromium is net/spdy of Chromium (f24a8e13, 81916faa): both levels are credited on reading and given back once more
// than half is due, or 5 s after the last time, so that a slow reader is not taken for an idle one.
type Chromium struct{}

const (
	chromiumStream = 6 << 20
	chromiumConn   = 15 << 20
	chromiumWait   = 5 * time.Second
)

var _ flow.Config = Chromium{}

// New makes the strategy of one connection.
func (Chromium) New() flow.Strategy {
	give := func(v view) int64 {
		if v.due > v.size/2 || v.due > 0 && v.idle >= chromiumWait {
			return v.due
		}
		return 0
	}
	return newClient(side{size: chromiumStream, give: give}, side{size: chromiumConn, give: give})
}

// String describes the model so that Parse reads it back.
func (Chromium) String() string { return describe("chromium") }
