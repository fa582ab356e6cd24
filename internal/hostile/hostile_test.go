package hostile_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"example.com/h2flow/internal/hostile"
)

// number reads an environment variable.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s=%s", name, text)
	}
	return n
}

// life plays the life of one seed.
func life(t *testing.T, seed uint64, tally *hostile.Tally) hostile.Report {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("seed %d panics", seed)
			panic(p)
		}
	}()
	tally.Seeding(seed)
	report := hostile.Run(hostile.Seed(seed), tally)
	if report.Err != nil {
		t.Errorf("seed %d: %v\nrepeat it: H2FLOW_SEED=%d go test ./internal/hostile -run TestSeed -v\n%s", seed, report.Err, seed,
			hostile.Tell(hostile.Seed(seed), hostile.NewTally()).Transcript())
	}
	return report
}

// A few hundred lives; with H2FLOW_LONG=1 a hundred thousand, which have to reach every rare state and every cell.
// H2FLOW_SEEDS and H2FLOW_FIRST_SEED choose others.
func TestCampaign(t *testing.T) {
	long := os.Getenv("H2FLOW_LONG") != ""
	seeds := 400
	if long {
		seeds = 100000
	}
	seeds = number(t, "H2FLOW_SEEDS", seeds)
	first := number(t, "H2FLOW_FIRST_SEED", 0)
	tally := hostile.NewTally()
	steps, requests, failed := 0, 0, 0
	for seed := uint64(first); seed < uint64(first+seeds); seed++ {
		report := life(t, seed, tally)
		steps, requests = steps+report.Steps, requests+report.Requests
		if report.Err != nil {
			if failed++; failed > 4 {
				t.Fatal("enough")
			}
		}
	}
	table, empty, illegal := tally.Table()
	t.Logf("%d seeds from %d: %d steps, %d requests\n%s\n%s", seeds, first, steps, requests, tally.Text(), table)
	if len(illegal) > 0 {
		t.Errorf("the client sent what it may not: %q", illegal)
	}
	if !long && seeds < 20000 {
		return
	}
	if missing := tally.Missing(); len(missing) > 0 {
		t.Errorf("never reached: %q", missing)
	}
	if len(empty) > 0 {
		t.Errorf("cells never hit: %q", empty)
	}
	if len(tally.Rare) < 60 {
		t.Errorf("%d rare states, want at least 60", len(tally.Rare))
	}
}

// TestSeed plays the one seed of H2FLOW_SEED, and prints it with -v.
func TestSeed(t *testing.T) {
	if os.Getenv("H2FLOW_SEED") == "" {
		t.Skip("H2FLOW_SEED is not set")
	}
	report := hostile.Tell(hostile.Seed(uint64(number(t, "H2FLOW_SEED", 0))), hostile.NewTally())
	t.Logf("%d steps\n%s", report.Steps, report.Transcript())
	if report.Err != nil {
		t.Error(report.Err)
	}
}

// The same decisions give the same life.
func TestLivesRepeat(t *testing.T) {
	for seed := range uint64(40) {
		a, b := life(t, seed, hostile.NewTally()), life(t, seed, hostile.NewTally())
		if a.Digest != b.Digest || a.Steps != b.Steps {
			t.Errorf("seed %d: two lives, %+v and %+v", seed, a, b)
		}
	}
}

// Decisions from octets that run out come to an end too.
func TestLivesOfOctets(t *testing.T) {
	for _, octets := range [][]byte{nil, {0}, []byte("any octets whatever, and a few more of them")} {
		if report := hostile.Run(hostile.Octets(octets), hostile.NewTally()); report.Err != nil {
			t.Errorf("%q: %v", octets, report.Err)
		}
	}
}

func Example() {
	report := hostile.Run(hostile.Seed(1), hostile.NewTally())
	fmt.Println(report.Err)
	// Output: <nil>
}
