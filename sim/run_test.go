package sim_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/sim"
)

// run runs s with every invariant checked.
func run(t *testing.T, s sim.Scenario) sim.Result {
	t.Helper()
	s.CheckInvariants = true
	r, err := sim.Run(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEqualScenariosGiveEqualResults(t *testing.T) {
	s := sim.Scenario{
		RTTMs: 20, RateMbit: 50, Bytes: 2 << 20, Requests: 2, Streams: 3, Connections: 2, StaggerMs: 30, Loss: 0.01, Seed: 7,
		SeriesMs: 10, Strategy: "bdp",
		CrossTraffic: []sim.CrossTraffic{{RateMbit: 5}, {StartMs: 100, StopMs: 400}},
	}
	if diff := cmp.Diff(run(t, s), run(t, s)); diff != "" {
		t.Errorf("two runs differ (-first +second):\n%s", diff)
	}
	other := s
	other.Seed++
	if cmp.Equal(run(t, s), run(t, other)) {
		t.Error("another seed lost the same octets")
	}
}
