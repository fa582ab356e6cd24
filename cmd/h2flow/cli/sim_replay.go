package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"example.com/h2flow/flow"
)

var simReplayCommand = command{
	name:    "sim replay",
	args:    "LOG",
	summary: "tell a strategy the events of a recorded connection",
	text: `
Reads a log of flow.Recorder, which sim run --record writes and a program records on real connections (- is standard
input), and tells its events to other strategies. What they decide is set beside what was decided then. The octets come
when they came under the recorded strategy, so the result is about decisions and frames, not about times.

With --json each strategy is one line: recorded and replayed (strategy, stream and conn, the windows at the start,
grants, stream_octets, conn_octets, settings, pings), events, differences, beyond (DATA frames that came and were not
granted).`,
	example: `
h2flow sim replay log.jsonl --strategy 'unlimited;fixed:stream=64KiB..1MiB*2:conn=16MiB'
h2flow sim run transatlantic --record log.jsonl && h2flow sim replay log.jsonl`,
	prepare: prepareSimReplay,
}

func prepareSimReplay(fs *flags) runner {
	var p simPlan
	var asJSON bool
	p.declareStrategies(fs, "strategies `NAME;...`, also with ranges; may be repeated (default that of the log)")
	fs.BoolVar(&asJSON, "json", false, "print one line of JSON for each strategy")
	return func(ctx context.Context, e *env, args []string) error {
		if len(args) != 1 {
			return usagef("want one log, got %d arguments", len(args))
		}
		log, err := readLog(args[0])
		if err != nil {
			return err
		}
		if len(p.strategies) == 0 {
			cfg, err := fs.parseStrategy(log.Strategy)
			if err != nil {
				return fmt.Errorf("the strategy of the log: %w", err)
			}
			p.strategies = []flow.Config{cfg}
		}
		for i, cfg := range p.strategies {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := printReplay(e, i, log.Replay(cfg), asJSON); err != nil {
				return err
			}
		}
		return nil
	}
}

func readLog(path string) (*flow.Log, error) {
	var in io.Reader = os.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	log, err := flow.ReadLog(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return log, nil
}

// printReplay prints what the i-th strategy made of the log.
func printReplay(e *env, i int, r flow.Replay, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(e.stdout).Encode(struct {
			Recorded    replayTotals `json:"recorded"`
			Replayed    replayTotals `json:"replayed"`
			Events      int          `json:"events"`
			Differences int          `json:"differences"`
			Beyond      int          `json:"beyond"`
		}{newReplayTotals(r.Recorded), newReplayTotals(r.Replayed), r.Events, len(r.Differences), r.Beyond})
	}
	if i > 0 {
		fmt.Fprintln(e.stdout)
	}
	_, err := fmt.Fprint(e.stdout, r.String())
	return err
}

// replayTotals are flow.Totals as JSON.
type replayTotals struct {
	Strategy     string `json:"strategy"`
	Stream       int64  `json:"stream"`
	Conn         int64  `json:"conn"`
	Grants       int    `json:"grants"`
	StreamOctets int64  `json:"stream_octets"`
	ConnOctets   int64  `json:"conn_octets"`
	Settings     int    `json:"settings"`
	Pings        int    `json:"pings"`
}

func newReplayTotals(t flow.Totals) replayTotals {
	return replayTotals{
		t.Strategy, t.Windows.Stream, t.Windows.Conn, t.Grants, t.StreamOctets, t.ConnOctets, t.Settings, t.Pings,
	}
}
