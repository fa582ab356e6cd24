package sim_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/sim"
)

func TestReadTrace(t *testing.T) {
	got, err := sim.ReadTrace([]byte("0\n3\n3\r\n\n10\n"))
	if diff := cmp.Diff([]int64{0, 3, 3, 10}, got); diff != "" || err != nil {
		t.Errorf("trace: %v (-want +got):\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"":       "no times",
		"1\nx\n": `line 2: "x" is no number`,
		"5\n4\n": "time 2, 4 ms",
		"0\n0\n": "the last time is 0",
	} {
		if _, err := sim.ReadTrace([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// A trace of one packet a millisecond is a link of 12 Mbit/s.
func TestAnEvenTraceIsARate(t *testing.T) {
	s := sim.Scenario{RTTMs: 20, RateMbit: 12, Bytes: 2 << 20, Requests: 2, Strategy: "unlimited"}
	rate := run(t, s)
	s.RateMbit, s.TraceMs = 0, []int64{1}
	traced := run(t, s)
	for i := range rate.Records {
		a, b := rate.Records[i], traced.Records[i]
		within(t, "the time over a trace in seconds", b.Seconds, a.Seconds, 0.01)
		if b.RateMbit != 12 || b.BDPBytes != a.BDPBytes {
			t.Errorf("a trace of 12 Mbit/s counts as %g Mbit/s, %d octets", b.RateMbit, b.BDPBytes)
		}
	}
}

// A link that is silent for half of each second delivers half.
func TestATraceHasPauses(t *testing.T) {
	var times []int64
	for ms := int64(1); ms <= 500; ms++ {
		times = append(times, ms)
	}
	times = append(times, 1000)
	s := sim.Scenario{RTTMs: 20, TraceMs: times, QueueBDP: 100, Bytes: 4 << 20, Strategy: "unlimited"}
	within(t, "the time of 4 MiB in seconds", one(t, s).Seconds, 4<<20*8*1.036/6.012e6, 0.1)
}
