package strategy_test

import (
	"testing"
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/flow/flowtest"
	"example.com/h2flow/strategy"
)

var fast = flowtest.Path{RTT: 50 * time.Millisecond, Rate: 125_000_000}

func download(cfg flow.Config, sizes ...int64) ([]flowtest.Result, error) {
	return flowtest.Download(cfg, fast, sizes...)
}

// A constant window moves its size per round trip, no more, and not much less for holding grants back.
func TestConstantWindowPerRoundTrip(t *testing.T) {
	tests := []struct {
		cfg    flow.Config
		window int64
		least  float64 // of window a round trip
	}{
		{strategy.Fixed{}, 65535, 0.87},
		{strategy.Fixed{Stream: 1 << 20, Conn: 1 << 20}, 1 << 20, 0.87},
		{strategy.Fixed{Stream: 32 << 20}, 65535, 0.87},
		{strategy.Threshold{Stream: 1 << 20, Conn: 1 << 20}, 1 << 20, 0.7},
	}
	const size = 10 << 20
	for _, tt := range tests {
		t.Run(tt.cfg.String(), func(t *testing.T) {
			got, err := download(tt.cfg, size)
			if err != nil {
				t.Fatal(err)
			}
			roundTrips := float64(got[0].Took) / float64(fast.RTT)
			perRoundTrip := size / roundTrips / float64(tt.window)
			if perRoundTrip < tt.least || perRoundTrip > 1.02 {
				t.Errorf("want %.2f to 1.02 of the window each round trip, got %.3f in %.1f round trips",
					tt.least, perRoundTrip, roundTrips)
			}
		})
	}
}

// A window of 32 MiB on both levels never makes a body of 10 MiB wait.
func TestLargeWindowsNeverWait(t *testing.T) {
	best, err := download(strategy.Unlimited{}, 10<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []flow.Config{strategy.Fixed{Stream: 32 << 20, Conn: 32 << 20}, strategy.Threshold{}} {
		got, err := download(cfg, 10<<20)
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Took != best[0].Took {
			t.Errorf("%s: want %s as without limit, got %s", cfg, best[0].Took, got[0].Took)
		}
	}
}
