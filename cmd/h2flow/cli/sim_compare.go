package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"

	"example.com/h2flow/cmd/h2flow/internal/stats"
	"example.com/h2flow/cmd/h2flow/internal/sweep"
	"example.com/h2flow/flow"
	"example.com/h2flow/sim"
	"example.com/h2flow/strategy"
)

var simCompareCommand = command{
	name:    "sim compare",
	args:    "[FILE.json|NAME|-]",
	summary: "compare strategies side by side on one scenario",
	text: `
Runs the scenario with each strategy and prints a line for each. "x unlimited" is the time as a multiple of that of
unlimited, which has a window of 2^31-1 octets on both levels and is always there. With several seeds all numbers are
medians; ratios are taken for each seed before the median. "peak window" is the most that was unread or allowed to come
at any instant, the worst of all requests; "x BDP" the same in bandwidth-delay products of the path.

An option of a strategy may have several values, joined by |, or a range: fixed:stream=64KiB..4MiB*2:conn=16MiB. Quote
it for the shell. With --json the records of sim run are printed.`,
	example: `
h2flow sim compare transatlantic
h2flow sim compare wifi-lossy --seed 1..20 --strategy 'bdp:max=1MiB..64MiB*4'`,
	prepare: prepareSimCompare,
}

func prepareSimCompare(fs *flags) runner {
	var p simPlan
	var asJSON bool
	p.declareStrategies(fs, "strategies `NAME;...`, also with ranges; peers means all models\nof other clients; may be repeated (default all that are no models)")
	p.declareFields(fs)
	fs.BoolVar(&asJSON, "json", false, "print a record for each request as a line of JSON")
	return func(ctx context.Context, e *env, args []string) error {
		if err := p.fixed("sim compare", "seed"); err != nil {
			return err
		}
		base, err := p.baseScenario(args)
		if err != nil {
			return err
		}
		all := simStrategies(fs.configs)
		if base.Flow != nil {
			all = appendStrategy(all, base.Flow)
		}
		if len(p.strategies) == 0 {
			p.strategies = all
		}
		first := []flow.Config{strategy.Unlimited{}}
		for _, cfg := range p.strategies {
			first = appendStrategy(first, cfg)
		}
		p.strategies = first
		outcomes, err := runPlan(ctx, e, p.plan(base), runtime.NumCPU())
		if err != nil {
			return err
		}
		if asJSON {
			return sweep.WriteRecords(e.stdout, outcomes)
		}
		return printCompare(e, outcomes, p.strategies)
	}
}

// runPlan runs all cells of a plan and returns their outcomes in order.
func runPlan(ctx context.Context, e *env, plan sweep.Plan, workers int) ([]sweep.Outcome, error) {
	cells, err := plan.Cells()
	if err != nil {
		return nil, usageError{err}
	}
	outcomes := make([]sweep.Outcome, len(cells))
	bar := newCellProgress(e, len(cells))
	defer bar.finish()
	err = sweep.Run(ctx, cells, workers, func(o sweep.Outcome) error {
		outcomes[o.Cell] = o
		bar.octets.Add(1)
		return nil
	})
	return outcomes, err
}

// printCompare prints one line for each strategy.
func printCompare(e *env, outcomes []sweep.Outcome, strategies []flow.Config) error {
	if len(outcomes) == 0 {
		return errors.New("nothing was run")
	}
	s := outcomes[0].Scenario
	fmt.Fprintf(e.stdout, "%s: %s\n\n", s.Title(), describePath(s))
	n := len(strategies)
	yardstick := strideOutcomes(outcomes, 0, n)
	t := newGrid(e.stdout, "strategy", "cold", "x unlimited", "warm", "x unlimited", "peak window", "x BDP", "peak unread",
		"frames", "per MiB", "not ok")
	for i, cfg := range strategies {
		own := strideOutcomes(outcomes, i, n)
		cold, coldRatio := medianTimes(own, yardstick, false)
		warm, warmRatio := medianTimes(own, yardstick, true)
		c := costOf(own)
		bdp := "-"
		if b := s.BDPBytes(); b > 0 {
			bdp = fmt.Sprintf("%.2f", float64(c.window)/float64(b))
		}
		t.row(cfg.String(), orDash("%.3f s", cold), orDash("%.3f", coldRatio), orDash("%.3f s", warm), orDash("%.3f", warmRatio),
			roundSize(c.window), bdp, roundSize(c.unread), strconv.FormatInt(c.frames, 10), orDash("%.2f", c.perMiB),
			strconv.Itoa(c.notOK))
	}
	return t.end()
}

// strideOutcomes are the outcomes of one strategy: every n-th.
func strideOutcomes(outcomes []sweep.Outcome, first, n int) []sweep.Outcome {
	var own []sweep.Outcome
	for i := first; i < len(outcomes); i += n {
		own = append(own, outcomes[i])
	}
	return own
}

// medianTimes are the median seconds of the cold or warm requests, and the median of their ratio to the yardstick's.
// NaN where there are none.
func medianTimes(own, yardstick []sweep.Outcome, warm bool) (seconds, ratio float64) {
	var times, ratios []float64
	for i, o := range own {
		for j, r := range o.Records {
			if r.Warm != warm || r.Outcome != sim.OutcomeOK {
				continue
			}
			times = append(times, r.Seconds)
			if y := yardstick[i].Records; j < len(y) && y[j].Outcome == sim.OutcomeOK && y[j].Seconds > 0 {
				ratios = append(ratios, r.Seconds/y[j].Seconds)
			}
		}
	}
	return stats.Median(times), stats.Median(ratios)
}

// A cost is what a strategy took for its results.
type cost struct {
	window, unread int64 // the worst peaks, in octets
	frames         int64 // WINDOW_UPDATE and PING, all together
	perMiB         float64
	notOK          int // requests
}

func costOf(outcomes []sweep.Outcome) cost {
	var c cost
	var octets int64
	for _, o := range outcomes {
		for _, r := range o.Records {
			c.window, c.unread = max(c.window, r.PeakWindowBytes), max(c.unread, r.PeakBufferedBytes)
			c.frames += r.WindowUpdates + r.Pings
			octets += r.Bytes
			if r.Outcome != sim.OutcomeOK {
				c.notOK++
			}
		}
	}
	c.perMiB = math.NaN()
	if octets > 0 {
		c.perMiB = float64(c.frames) / (float64(octets) / (1 << 20))
	}
	return c
}

// orDash formats v, or a dash if there is none.
func orDash(format string, v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf(format, v)
}
