package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"

	"example.com/h2flow/cmd/h2flow/internal/stats"
	"example.com/h2flow/cmd/h2flow/internal/sweep"
)

var simSweepCommand = command{
	name:    "sim sweep",
	args:    "[FILE.json|NAME|-]",
	summary: "run a scenario with every combination of lists of values",
	text: `
Every field of a scenario is a flag that takes a list, and so is --strategy; a cell is one combination. A range of
numbers is written FROM..TO*FACTOR or FROM..TO+STEP; for counts, such as seeds, FROM..TO is enough. The options of a
strategy take lists, joined by |, and ranges: 'fixed:stream=64KiB..16MiB*2:conn=16MiB|32MiB'. Quote them for the shell.

Cells run on all cores. Each finished one is appended to a journal in the directory DIR at once; the same command, given
again after a kill, runs only what is missing. When all are finished DIR has records.csv and records.jsonl, one line for
each request with the columns of sim run, and cells.jsonl, one line for each cell with its whole scenario, in the same
order whatever the number of cores. sim report draws them.

--shard 3/16 runs the third of sixteen parts. The shards may share DIR or have one each; --merge DIR... then makes the
files in -o, or says how many cells are missing. With --json the records are also printed.`,
	example: `
h2flow sim sweep -o results --rtt-ms 5..80*2 --rate-mbit 10,100,1000 --loss 0,0.001 --seed 1..5
h2flow sim sweep -o results --rtt-ms 20,50 --strategy 'bdp;unlimited;fixed:stream=64KiB..16MiB*4:conn=16MiB'
h2flow sim sweep -o results --shard 3/16 --rtt-ms 1..300*1.5 --seed 1..100
h2flow sim sweep -o results --merge results`,
	prepare: prepareSimSweep,
}

// A sweepRun is one call of sim sweep.
type sweepRun struct {
	env     *env
	plan    simPlan
	dir     string
	shard   sweep.Shard
	workers int
	merge   bool
	json    bool
}

func prepareSimSweep(fs *flags) runner {
	r := &sweepRun{}
	fs.StringVar(&r.dir, "o", "", "`DIR` of the journals and the results; made if it is not there")
	fs.Var(&value{
		set: func(s string) (err error) { r.shard, err = sweep.ParseShard(s); return err },
		get: func() string { return r.shard.String() },
	}, "shard", "run only part `K/N` of the cells")
	fs.BoolVar(&r.merge, "merge", false, "run nothing: make the results in -o of the journals in the directories DIR...")
	fs.IntVar(&r.workers, "workers", runtime.NumCPU(), "run `N` cells at once")
	fs.Lookup("workers").DefValue = "" // a number of this machine has no place in the help
	fs.Lookup("workers").Usage += " (default all cores)"
	fs.BoolVar(&r.json, "json", false, "print the records as lines of JSON in place of the summary")
	r.plan.declareStrategies(fs, "strategies `NAME;...`, also with ranges; peers means all models\nof other clients; may be repeated (default all that are no models)")
	r.plan.declareFields(fs)
	return func(ctx context.Context, e *env, args []string) error {
		r.env = e
		switch {
		case r.dir == "":
			return usagef("-o DIR is missing")
		case r.workers < 1:
			return usagef("--workers must be at least 1")
		case r.merge && (len(r.plan.axes) > 0 || len(r.plan.strategies) > 0 || r.shard != sweep.Shard{}):
			return usagef("--merge takes the plan from the directories; leave --shard and the lists out")
		case r.merge:
			return r.mergeAll(args)
		}
		return r.run(ctx, args)
	}
}

// run runs what is missing.
func (r *sweepRun) run(ctx context.Context, args []string) (err error) {
	base, err := r.plan.baseScenario(args)
	if err != nil {
		return err
	}
	r.plan.settleStrategies(base, simStrategies(r.plan.flags.configs))
	plan := r.plan.plan(base)
	cells, err := plan.Cells()
	if err != nil {
		return usageError{err}
	}
	store, err := sweep.OpenStore(r.dir, plan, r.shard)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	left := store.Left(cells)
	bar := newCellProgress(r.env, len(left))
	err = sweep.Run(ctx, left, r.workers, func(o sweep.Outcome) error {
		bar.octets.Add(1)
		return store.Add(o)
	})
	bar.finish()
	outcomes, missing := store.Outcomes()
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted; %d of %d cells are finished and kept: the same command goes on", len(outcomes), len(cells))
	}
	if err != nil {
		return err
	}
	if missing > 0 {
		return r.explain(len(outcomes), missing)
	}
	return r.write(outcomes)
}

// explain says what remains after a shard. The shard itself is done, so it is no failure.
func (r *sweepRun) explain(finished, missing int) error {
	_, err := fmt.Fprintf(r.env.stderr, "shard %s is done; %d cells are finished in %s, %d are those of other shards\n",
		r.shard, finished, r.dir, missing)
	return err
}

// mergeAll makes the results of the journals in dirs; without any, of those in the directory of the results.
func (r *sweepRun) mergeAll(dirs []string) error {
	if len(dirs) == 0 {
		dirs = []string{r.dir}
	}
	store, err := sweep.ReadStores(dirs...)
	if err != nil {
		return err
	}
	outcomes, missing := store.Outcomes()
	if missing > 0 {
		return fmt.Errorf("%d of %d cells are missing: run the shards that have not finished", missing, missing+len(outcomes))
	}
	return r.write(outcomes)
}

// The files of a sweep.
const (
	cellsFile       = "cells.jsonl"
	recordsFile     = "records.jsonl"
	recordsCSVFile  = "records.csv"
	sweepSummaryTop = 40 // strategies in the summary
)

// write writes the files and prints a summary.
func (r *sweepRun) write(outcomes []sweep.Outcome) error {
	for _, f := range []struct {
		name  string
		write func(io.Writer, []sweep.Outcome) error
	}{
		{cellsFile, sweep.WriteOutcomes}, {recordsFile, sweep.WriteRecords}, {recordsCSVFile, sweep.WriteCSV},
	} {
		if err := writeWhole(filepath.Join(r.dir, f.name), func(w io.Writer) error { return f.write(w, outcomes) }); err != nil {
			return err
		}
	}
	if r.json {
		return sweep.WriteRecords(r.env.stdout, outcomes)
	}
	return printSweep(r.env, outcomes, r.dir)
}

// writeWhole writes a file that appears once it is whole.
func writeWhole(path string, write func(io.Writer) error) error {
	out, err := createOut(path)
	if err != nil {
		return err
	}
	defer out.discard()
	w := bufio.NewWriterSize(out, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return out.commit()
}

// printSweep prints one line for each strategy.
func printSweep(e *env, outcomes []sweep.Outcome, dir string) error {
	groups := make(map[string][]sweep.Outcome)
	var names []string
	for _, o := range outcomes {
		name := o.Scenario.Strategy
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], o)
	}
	t := newGrid(e.stdout, "strategy", "cells", "x ideal: median", "worst", "peak window", "frames per MiB", "not ok")
	for _, name := range names[:min(len(names), sweepSummaryTop)] {
		var ratios []float64
		for _, o := range groups[name] {
			for _, r := range o.Records {
				if r.RatioToIdeal > 0 {
					ratios = append(ratios, r.RatioToIdeal)
				}
			}
		}
		slices.Sort(ratios)
		worst := "-"
		if len(ratios) > 0 {
			worst = fmt.Sprintf("%.3f", ratios[len(ratios)-1])
		}
		c := costOf(groups[name])
		t.row(name, fmt.Sprint(len(groups[name])), orDash("%.3f", stats.Median(ratios)), worst, roundSize(c.window),
			orDash("%.2f", c.perMiB), fmt.Sprint(c.notOK))
	}
	if err := t.end(); err != nil {
		return err
	}
	if more := len(names) - sweepSummaryTop; more > 0 {
		fmt.Fprintf(e.stdout, "and %d more strategies\n", more)
	}
	_, err := fmt.Fprintf(e.stdout, "\n%d cells in %s; h2flow sim report %s draws them\n", len(outcomes), dir, dir)
	return err
}
