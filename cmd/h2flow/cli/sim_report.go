package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"example.com/h2flow/cmd/h2flow/internal/simreport"
	"example.com/h2flow/cmd/h2flow/internal/sweep"
)

var simReportCommand = command{
	name:    "sim report",
	args:    "DIR|FILE.jsonl...",
	summary: "draw the results of sweeps as one page of HTML",
	text: `
Draws the records of one or several sweeps, or of files of records that sim run, sim compare or emulate printed with
--json (- is standard input). The page needs no network and no script. It shows goodput over the round-trip time, heat
maps, memory against goodput with the Pareto front, windows and time-sequence of one cell, frames per MiB, fairness. That
cell is simulated again, since the results hold no time series. A sweep that has not finished is drawn as far as it is.

With --json what was drawn is told as one line: cells, records, strategies, file.`,
	example: `
h2flow sim report results -o report.html
h2flow sim compare transatlantic --json | h2flow sim report -`,
	prepare: prepareSimReport,
}

func prepareSimReport(fs *flags) runner {
	var file, title string
	var asJSON bool
	fs.StringVar(&file, "o", defaultReport, "write the page to `FILE`")
	fs.StringVar(&title, "title", "", "`TEXT` above the page")
	fs.BoolVar(&asJSON, "json", false, "tell what was drawn as a line of JSON")
	return func(ctx context.Context, e *env, args []string) error {
		if len(args) == 0 {
			return usagef("want the directory of a sweep, or a file of records")
		}
		var outcomes []sweep.Outcome
		for _, arg := range args {
			more, err := readResults(arg)
			if err != nil {
				return err
			}
			outcomes = append(outcomes, more...)
		}
		if len(outcomes) == 0 {
			return fmt.Errorf("there is no record in %s", strings.Join(args, ", "))
		}
		page := simreport.Page{Title: title, Outcomes: outcomes, Strategy: fs.parseStrategy}
		if err := writeWhole(file, page.Write); err != nil {
			return err
		}
		if !asJSON {
			_, err := fmt.Fprintf(e.stdout, "wrote %s: %d cells\n", file, len(outcomes))
			return err
		}
		return json.NewEncoder(e.stdout).Encode(drawn(outcomes, file))
	}
}

// drawn is what --json tells.
func drawn(outcomes []sweep.Outcome, file string) any {
	records := 0
	strategies := make(map[string]bool)
	for _, o := range outcomes {
		records += len(o.Records)
		for _, r := range o.Records {
			strategies[r.Strategy] = true
		}
	}
	return struct {
		Cells      int    `json:"cells"`
		Records    int    `json:"records"`
		Strategies int    `json:"strategies"`
		File       string `json:"file"`
	}{len(outcomes), records, len(strategies), file}
}

// readResults reads the results of a sweep, its journals if it has not finished, or a file of records.
func readResults(path string) ([]sweep.Outcome, error) {
	if path == "-" {
		return readLines("standard input", os.Stdin)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		cells := filepath.Join(path, cellsFile)
		if _, err := os.Stat(cells); errors.Is(err, os.ErrNotExist) {
			store, err := sweep.ReadStores(path)
			if err != nil {
				return nil, err
			}
			outcomes, _ := store.Outcomes()
			return outcomes, nil
		}
		path = cells
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readLines(path, f)
}

func readLines(name string, r io.Reader) ([]sweep.Outcome, error) {
	outcomes, err := sweep.ReadOutcomes(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return outcomes, nil
}
