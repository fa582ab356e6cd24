package peers

import "example.com/h2flow/flow"

// Firefox is Http2Session of Firefox (f90686c5): SETTINGS say 128 KiB, and each stream is raised to 12 MiB together with
// its request. A stream gives back what was read once 4 MiB are due or 96 KiB left; the connection, credited on receipt,
// does at the same marks. So 8 to 12 MiB are usable, more than with a mark at half.
type Firefox struct{}

const (
	firefoxInitial   = 131072
	firefoxWindow    = 12582912
	firefoxAck       = 4 << 20
	firefoxEmergency = 96 << 10
)

var _ flow.Config = Firefox{}

// New makes the strategy of one connection.
func (Firefox) New() flow.Strategy {
	give := func(v view) int64 {
		if v.due > 0 && (v.due >= firefoxAck || v.rem <= firefoxEmergency) {
			return v.due
		}
		return 0
	}
	c := newClient(side{size: firefoxInitial, give: give}, side{size: firefoxWindow, onReceipt: true, give: give})
	c.whole = false
	c.atOpen = firefoxWindow - firefoxInitial
	return c
}

// String describes the model so that Parse reads it back.
func (Firefox) String() string { return describe("firefox") }
