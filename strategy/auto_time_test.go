package strategy

import (
	"testing"
	"time"

	"example.com/h2flow/flow"
)

func TestPathTime(t *testing.T) {
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
		{"none", nil, 0},
		{"the lowest counts", []sample{{flow.SourceSettings, 30 * ms}, {flow.SourcePassive, 20 * ms}, {flow.SourcePing, 25 * ms}}, 20 * ms},
		{"the kernel's is better than none", []sample{{flow.SourceKernel, 20 * ms}}, 20 * ms},
		{"and yields to any other", []sample{{flow.SourceKernel, ms}, {flow.SourceSettings, 20 * ms}}, 20 * ms},
		{"and does not come back", []sample{{flow.SourceSettings, 20 * ms}, {flow.SourceKernel, ms}}, 20 * ms},
		{"nor does nonsense", []sample{{flow.SourceSettings, 20 * ms}, {flow.SourcePing, 0}, {flow.SourcePing, -ms}}, 20 * ms},
		{"a slow server is no long path", []sample{{flow.SourceSettings, 20 * ms}, {flow.SourcePassive, 90 * ms},
			{flow.SourcePassive, 90 * ms}, {flow.SourcePassive, 90 * ms}, {flow.SourcePassive, 90 * ms}}, 20 * ms},
		{"three slow PINGs may be a queue", []sample{{flow.SourceSettings, 20 * ms},
			{flow.SourcePing, 90 * ms}, {flow.SourcePing, 80 * ms}, {flow.SourcePing, 90 * ms}}, 20 * ms},
		{"four are another path", []sample{{flow.SourceSettings, 20 * ms},
			{flow.SourcePing, 90 * ms}, {flow.SourcePing, 80 * ms}, {flow.SourcePing, 90 * ms}, {flow.SourcePing, 85 * ms}}, 80 * ms},
		{"unless one in between was quick", []sample{{flow.SourceSettings, 20 * ms}, {flow.SourcePing, 90 * ms},
			{flow.SourcePing, 80 * ms}, {flow.SourcePing, 30 * ms}, {flow.SourcePing, 90 * ms}, {flow.SourcePing, 85 * ms}}, 20 * ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p pathTime
			for _, s := range tt.samples {
				p.sample(time.Unix(1000, 0), s.source, s.rtt)
			}
			if p.least != tt.want {
				t.Errorf("want %v, got %v", tt.want, p.least)
			}
		})
	}
}

// A PING is due when the last sample, of whatever kind, is 10 s old; a refusal is not followed by another at once.
func TestPathTimeDue(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(1000+s, 0) }
	var p pathTime
	p.sample(at(0), flow.SourceSettings, time.Millisecond)
	p.sample(at(5), flow.SourcePassive, time.Millisecond)
	steps := []struct {
		name string
		at   int64
		do   func(now time.Time)
		want bool
	}{
		{"a sample is 9 s old", 14, nil, false},
		{"it is 10 s old", 15, nil, true},
		{"the PING is not answered yet", 16, nil, false},
		{"it was answered", 16, func(now time.Time) { p.sample(now, flow.SourcePing, time.Millisecond) }, false},
		{"10 s later", 26, nil, true},
		{"it was refused", 26, p.refused, false},
		{"a second later", 27, nil, false},
		{"when the budget has another", 28, nil, true},
		{"the peer is going", 60, func(time.Time) { p.stop() }, false},
	}
	for _, s := range steps {
		if s.do != nil {
			s.do(at(s.at))
		}
		if got := p.due(at(s.at)); got != s.want {
			t.Errorf("%s: want %v, got %v", s.name, s.want, got)
		}
	}
}

// A loop lasts from a grant to the first octet that it allowed; grants in between do not count.
func TestLoop(t *testing.T) {
	at := func(ms int64) time.Time { return time.UnixMilli(1000 + ms) }
	var l loop
	if _, ok := l.received(at(0), 100); ok {
		t.Error("a loop ended that never began")
	}
	l.granted(at(0), flow.Offsets{Received: 400, Granted: 1000}, 500)
	l.granted(at(10), flow.Offsets{Received: 600, Granted: 1500}, 500)
	if _, ok := l.received(at(40), 1000); ok {
		t.Error("the loop ended with octets that were allowed before")
	}
	took, ok := l.received(at(50), 1001)
	if want := 50 * time.Millisecond; !ok || took != want {
		t.Errorf("want the loop to end after %v, got %v, %v", want, took, ok)
	}
	if l.window != 1100 {
		t.Errorf("want a window of 1100 octets at its beginning, got %d", l.window)
	}
}
