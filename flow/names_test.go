package flow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/h2flow/flow"
)

// Every constant has a name, and the number after the last has none.
func TestNames(t *testing.T) {
	names := func(kind string, last int, name func(int) string) {
		t.Helper()
		seen := map[string]bool{}
		for i := 1; i <= last; i++ {
			s := name(i)
			if seen[s] || strings.HasPrefix(s, kind) {
				t.Errorf("%s %d has no name of its own: %q", kind, i, s)
			}
			seen[s] = true
		}
		for _, i := range []int{0, last + 1} {
			if got, want := name(i), fmt.Sprintf("%s(%d)", kind, i); got != want {
				t.Errorf("want %q, got %q", want, got)
			}
		}
	}
	names("EventKind", int(flow.Tick), func(i int) string { return flow.EventKind(i).String() })
	names("ActionKind", int(flow.ActPing), func(i int) string { return flow.ActionKind(i).String() })
	names("Refusal", int(flow.RefusedClosed), func(i int) string { return flow.Refusal(i).String() })
	names("RTTSource", int(flow.SourceKernel), func(i int) string { return flow.RTTSource(i).String() })
}

func TestStrings(t *testing.T) {
	window := flow.Offsets{Granted: 65535, Charged: 4096}
	tests := []struct {
		v    fmt.Stringer
		want string
	}{
		{flow.GrantStream(3, 4096), "GrantStream stream=3 n=4096"},
		{flow.GrantConn(1), "GrantConn n=1"},
		{flow.SetInitialWindow(0), "SetInitialWindow n=0"},
		{flow.Ping(), "Ping"},
		{flow.Event{Kind: flow.Received, Stream: 1, N: 4096, End: true, StreamWindow: window, ConnWindow: window},
			"Received stream=1 n=4096 end window=61439 conn=61439"},
		{flow.Event{Kind: flow.RTTSample, Source: flow.SourcePing, RTT: time.Millisecond, ConnWindow: window},
			"RTTSample source=ping rtt=1ms conn=61439"},
		{flow.Event{Kind: flow.ActionRefused, Action: flow.GrantConn(0), Refusal: flow.RefusedIncrement},
			`ActionRefused action="GrantConn n=0" refusal="increment below 1" conn=0`},
	}
	for _, tt := range tests {
		if got := tt.v.String(); got != tt.want {
			t.Errorf("want %s\n got %s", tt.want, got)
		}
	}
}
