package peers_test

import (
	"bytes"
	"testing"

	"example.com/h2flow/flow"
	"example.com/h2flow/sim"
	"example.com/h2flow/strategy"
	"example.com/h2flow/strategy/peers"
)

// What was recorded on a connection, replayed to the same strategy, gives the same actions; to another one, others.
func TestRecordingsReplay(t *testing.T) {
	for _, spec := range append(peers.Names(), "bdp", "fixed", "peer:grpc-go:message=1MiB", "peer:dart:stream=1MiB") {
		t.Run(spec, func(t *testing.T) {
			cfg, err := peers.Lookup(spec, strategy.Parse)
			if err != nil {
				t.Fatal(err)
			}
			var rec *flow.Recorder
			_, err = sim.Run(sim.Scenario{
				RTTMs: 20, RateMbit: 100, Bytes: 1 << 20, Requests: 2, Streams: 2,
				Flow: flow.Record(cfg, func(r *flow.Recorder) { rec = r }),
			})
			if err != nil {
				t.Fatal(err)
			}
			log, err := flow.ReadLog(bytes.NewReader(rec.Lines()))
			if err != nil {
				t.Fatal(err)
			}
			if r := log.Replay(cfg); len(r.Differences) > 0 || r.Recorded != r.Replayed {
				t.Errorf("a strategy differs from itself:\n%s", r)
			}
			if r := log.Replay(strategy.Threshold{Stream: 70_000, Conn: 99_000}); len(r.Differences) == 0 {
				t.Errorf("another strategy does not differ:\n%s", r)
			}
		})
	}
}
