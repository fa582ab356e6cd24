package strategy_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/h2flow/flow/flowtest"
	"example.com/h2flow/strategy"
)

// On a connection that has carried one body, the next takes at most a tenth longer than without any limit.
func TestBDPWarm(t *testing.T) {
	for _, slowStart := range []bool{false, true} {
		for _, mbit := range []int64{100, 1000} {
			for _, rtt := range []time.Duration{10, 50, 100} {
				path := flowtest.Path{RTT: rtt * time.Millisecond, Rate: mbit * 125_000, SlowStart: slowStart}
				t.Run(fmt.Sprintf("%dMbit,%s,slow start %t", mbit, path.RTT, slowStart), func(t *testing.T) {
					const size = 10 << 20
					best, err := flowtest.Download(strategy.Unlimited{}, path, size, size, size)
					if err != nil {
						t.Fatal(err)
					}
					got, err := flowtest.Download(strategy.BDP{}, path, size, size, size)
					if err != nil {
						t.Fatal(err)
					}
					for i := range got {
						ratio := float64(got[i].Took) / float64(best[i].Took)
						t.Logf("download %d: %s, unlimited %s: %.3f; %d grants, peak %d",
							i+1, got[i].Took, best[i].Took, ratio, got[i].Grants, got[i].PeakStream)
						if i > 0 && ratio > 1.1 {
							t.Errorf("download %d took %.2f times as long as without a limit", i+1, ratio)
						}
					}
				})
			}
		}
	}
}
