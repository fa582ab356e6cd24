package sim_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/sim"
)

var update = flag.Bool("update", false, "rewrite the golden files")

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

// mixed are scenarios in which everything that is modelled happens.
func mixed() []sim.Scenario {
	var all []sim.Scenario
	for i, control := range []string{"cubic", "reno", "bbr"} {
		for j, loss := range []float64{0, 0.001, 0.02} {
			for k, strategy := range []string{"fixed:stream=65535:conn=65535", "threshold", "unlimited"} {
				all = append(all, sim.Scenario{
					Name: fmt.Sprintf("%s %g", control, loss), RTTMs: 7.3 + float64(10*k), RateMbit: 33.3 * float64(1+i), Loss: loss,
					Seed: uint64(j), QueueBDP: 1, Bytes: 2 << 20, Requests: 2, GapMs: float64(700 * k), Strategy: strategy,
					CongestionControl: control, KernelRTT: true, SeriesMs: 50,
				})
			}
		}
	}
	for _, text := range []string{
		"rate:mbit=20", "burst:bytes=64KiB:every=100ms", "burst:every=1s", "pause:after=300ms:for=1s:bytes=64KiB:every=50ms",
	} {
		reader, err := sim.ParseReader(text)
		if err != nil {
			panic(err)
		}
		all = append(all, sim.Scenario{
			RTTMs: 20, RateMbit: 50, Bytes: 1 << 20, Strategy: "threshold:stream=256KiB:conn=1MiB", Reader: reader, Streams: 2,
		})
	}
	return append(all, sim.Scenario{
		Name: "everything", RTTMs: 30, RateMbit: 80, UpRateMbit: 5, Loss: 0.005, Seed: 9, Bytes: 1 << 20, Streams: 5,
		UnreadStreams: 1, Requests: 2, SmallBytes: 3000, SmallEveryMs: 33, Strategy: "threshold:stream=128KiB:conn=2MiB",
		Connections: 3, StaggerMs: 77, HandshakeRTTs: 2, Server: sim.Server{ThinkMs: 3, FrameBytes: 8192},
		CrossTraffic: []sim.CrossTraffic{{RateMbit: 20, StopMs: 900}, {CongestionControl: "bbr", StartMs: 200}},
		Changes:      []sim.Change{{AtMs: 400, RateMbit: 20}, {AtMs: 900, RTTMs: 60, RateMbit: 120}},
	})
}

// transcript is all that a run of s gives, as text.
func transcript(s sim.Scenario) (string, error) {
	r, err := sim.Run(s)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	for _, record := range r.Records {
		encoder.Encode(record)
		encoder.Encode(record.Series)
	}
	encoder.Encode(r.Streams)
	encoder.Encode(r.Errors)
	encoder.Encode(r.Path)
	return b.String(), nil
}

// The records of a fixed set of scenarios are in a file, so that every machine is held to the same octets.
func TestEveryMachineGivesTheSameRecords(t *testing.T) {
	var b strings.Builder
	for _, s := range mixed() {
		r := run(t, s)
		for _, record := range r.Records {
			if record.Outcome != sim.OutcomeOK {
				t.Errorf("%s, %s: %s, %q", record.Scenario, record.Strategy, record.Outcome, r.Errors)
			}
			text, err := json.Marshal(record)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s\n", text)
		}
	}
	const file = "testdata/records.golden"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wantLines, gotLines := strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")
	different := 0
	for i := range max(len(wantLines), len(gotLines)) {
		if i >= len(wantLines) || i >= len(gotLines) || wantLines[i] != gotLines[i] {
			if different++; different == 1 && i < min(len(wantLines), len(gotLines)) {
				t.Errorf("record %d (-want +got):\n%s", i, cmp.Diff(wantLines[i], gotLines[i]))
			}
		}
	}
	if different > 0 {
		t.Errorf("%d of %d records differ from %s; -update rewrites them", different, len(wantLines)-1, file)
	}
}

// The same seed gives the same result, alone and beside others.
func TestRunsAreReproducible(t *testing.T) {
	scenarios := mixed()
	first := make([]string, len(scenarios))
	for i, s := range scenarios {
		var err error
		if first[i], err = transcript(s); err != nil {
			t.Fatal(err)
		}
	}
	again := make([]string, len(scenarios))
	var group sync.WaitGroup
	for i, s := range scenarios {
		group.Go(func() { again[i], _ = transcript(s) })
	}
	group.Wait()
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the second time, in parallel (-first +second):\n%s", diff)
	}
	other := scenarios[len(scenarios)-1]
	other.Seed++
	if text, err := transcript(other); err != nil || text == first[len(first)-1] {
		t.Errorf("another seed gives the same, %v", err)
	}
}
