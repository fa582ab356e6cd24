package sim_test

import (
	"testing"

	"example.com/h2flow/sim"
)

// One bulk stream at 100 Mbit/s; simulated seconds for each second are what counts.
func BenchmarkBulk(b *testing.B) {
	for _, strategy := range []string{"fixed:stream=65535:conn=65535", "bdp", "unlimited"} {
		b.Run(strategy, func(b *testing.B) {
			b.ReportAllocs()
			simulated := 0.0
			for range b.N {
				r, err := sim.Run(sim.Scenario{RTTMs: 20, RateMbit: 100, Bytes: 100 << 20, Strategy: strategy})
				if err != nil {
					b.Fatal(err)
				}
				simulated += r.Path.SimulatedSeconds
			}
			b.ReportMetric(simulated/b.Elapsed().Seconds(), "simulated-s/s")
		})
	}
}
