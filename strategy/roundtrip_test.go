package strategy

import (
	"testing"
	"time"

	"example.com/h2flow/flow"
)

func TestRoundTripLeast(t *testing.T) {
	const ms = time.Millisecond
	type sample struct {
		source flow.RTTSource
		rtt    time.Duration
	}
	tests := []struct {
		name    string
		samples []sample
		want    time.Duration
	}{
		{"unknown", nil, 0},
		{"settings", []sample{{flow.SourceSettings, 50 * ms}}, 50 * ms},
		{"the lowest", []sample{{flow.SourceSettings, 50 * ms}, {flow.SourcePing, 20 * ms}, {flow.SourcePing, 30 * ms}},
			20 * ms},
		{"an upper bound counts", []sample{{flow.SourceSettings, 50 * ms}, {flow.SourcePassive, 40 * ms}}, 40 * ms},
		{"the kernel's estimate may be that of a proxy", []sample{{flow.SourceSettings, 50 * ms}, {flow.SourceKernel, ms}},
			50 * ms},
		{"a queue that our window fills is not the path", []sample{{flow.SourcePing, 20 * ms}, {flow.SourcePing, 60 * ms},
			{flow.SourcePing, 60 * ms}, {flow.SourcePing, 60 * ms}, {flow.SourcePing, 60 * ms}}, 20 * ms},
		{"a detour is believed after four", []sample{{flow.SourcePing, 20 * ms}, {flow.SourcePing, 90 * ms},
			{flow.SourcePing, 80 * ms}, {flow.SourcePing, 85 * ms}, {flow.SourcePing, 95 * ms}}, 80 * ms},
		{"not if one was low", []sample{{flow.SourcePing, 20 * ms}, {flow.SourcePing, 90 * ms}, {flow.SourcePing, 80 * ms},
			{flow.SourcePing, 25 * ms}, {flow.SourcePing, 85 * ms}, {flow.SourcePing, 95 * ms}}, 20 * ms},
		{"no time at all is no sample", []sample{{flow.SourcePing, 0}}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r roundTrip
			for _, s := range tt.samples {
				r.sample(s.source, s.rtt)
			}
			if r.least != tt.want {
				t.Errorf("want %s, got %s", tt.want, r.least)
			}
		})
	}
}

func TestRoundTripAsks(t *testing.T) {
	var r roundTrip
	want := func(why string, after time.Duration, want bool) {
		t.Helper()
		if got := r.due(begin.Add(after)); got != want {
			t.Fatalf("%s: want %t, got %t", why, want, got)
		}
	}
	r.sample(flow.SourceSettings, 50*time.Millisecond)
	want("the first PING", 0, true)
	want("its answer is not there", time.Second, false)
	r.sample(flow.SourcePing, 40*time.Millisecond)
	want("the second", time.Second, true)
	r.refused(begin.Add(time.Second))
	want("the budget is used up", 3*time.Second-1, false)
	want("2 s later", 3*time.Second, true)
	r.sample(flow.SourcePing, 40*time.Millisecond)
	want("the third", 4*time.Second, true)
	r.sample(flow.SourcePing, 40*time.Millisecond)
	want("three are enough for now", 14*time.Second-1, false)
	want("10 s later", 14*time.Second, true)
	want("an answer that never comes is not waited for longer than that", 24*time.Second, true)
	r.stop()
	want("the peer is about to go", time.Hour, false)
}
