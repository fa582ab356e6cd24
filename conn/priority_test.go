package conn_test

import (
	"testing"

	"example.com/h2flow/frame"
)

func (tc *testConn) updatePriority(id frame.StreamID, value string, want bool) {
	tc.t.Helper()
	tc.step(func(s *side) {
		if got := s.c.UpdatePriority(tc.now, id, value); got != want {
			tc.fatalf("UpdatePriority(%d, %q) is %v, want %v", id, value, got, want)
		}
	})
}

// TestPriorityUpdate: the frame goes to servers that look at it, about streams that are there, and only the last of what
// was asked for. RFC 9218, Sections 2.1.1 and 7.1.
func TestPriorityUpdate(t *testing.T) {
	tc := newTestConn(t)
	id := tc.open(get("/"))
	tc.forget()
	tc.updatePriority(id, "u=5", true) // the server's SETTINGS have not come: it may look at it
	tc.want("the first priority", frame.PriorityUpdate{Prioritized: id, Value: []byte("u=5")})
	tc.greet(setting(frame.SettingNoRFC7540Priorities, 1))
	tc.forget()
	tc.updatePriority(id, "u=1, i", true)
	tc.want("the second priority", frame.PriorityUpdate{Prioritized: id, Value: []byte("u=1, i")})
	tc.updatePriority(99, "u=1", false)
	tc.write(wholeResponse(id, "200"))
	tc.forget()
	tc.updatePriority(id, "u=2", false)
	tc.wantIdle("nothing is sent about streams that are over or never were")
}

func TestPriorityUpdateIsNotSentToAServerThatIgnoresIt(t *testing.T) {
	for name, settings := range map[string][]frame.Setting{
		"absent": nil, "zero": {setting(frame.SettingNoRFC7540Priorities, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			tc := newTestConn(t)
			tc.greet(settings...)
			id := tc.open(get("/"))
			tc.forget()
			tc.updatePriority(id, "u=1", false)
			tc.wantIdle("no PRIORITY_UPDATE")
		})
	}
}
