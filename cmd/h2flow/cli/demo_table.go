package cli

import (
	"fmt"
	"io"
	"slices"

	"example.com/h2flow/cmd/h2flow/internal/report"
)

// A row sums up the runs of one contender on one cell: medians of the seconds, and the most of the others.
type row struct {
	contender  contender
	cold, warm float64 // seconds; 0 if not measured
	bytes      int64
	updates    *int64 // of the median warm run, or cold
	pings      *int64
	buffered   *int64
	window     *int64
}

func summarise(c contender, results []result) row {
	r := row{contender: c}
	cold, warm := medianRun(results, phaseCold), medianRun(results, phaseWarm)
	if cold != nil {
		r.cold = cold.Seconds
	}
	if warm != nil {
		r.warm = warm.Seconds
	}
	shown := warm
	if shown == nil {
		shown = cold
	}
	if shown == nil {
		return r
	}
	r.bytes, r.updates, r.pings = shown.Bytes, shown.WindowUpdates, shown.Pings
	for i := range results {
		r.buffered = larger(r.buffered, results[i].PeakBufferedBytes)
		r.window = larger(r.window, results[i].PeakWindowBytes)
	}
	return r
}

// medianRun is the run whose time is the median of its phase, the slower one of two; nil without runs.
func medianRun(results []result, phase string) *result {
	var of []*result
	for i := range results {
		if results[i].Phase == phase {
			of = append(of, &results[i])
		}
	}
	if len(of) == 0 {
		return nil
	}
	slices.SortStableFunc(of, func(a, b *result) int {
		switch {
		case a.Seconds < b.Seconds:
			return -1
		case a.Seconds > b.Seconds:
			return 1
		}
		return 0
	})
	return of[len(of)/2]
}

func larger(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// A table prints rows one by one, so the width of its columns is settled before.
type table struct {
	w     io.Writer
	label int // width of the first column
	base  *row
}

func newTable(w io.Writer, contenders []contender) *table {
	t := &table{w: w, label: len("client and strategy")}
	for _, c := range contenders {
		t.label = max(t.label, len(c.label()))
	}
	return t
}

const columns = "  %8s %6s %6s  %8s %6s %6s  %8s %5s %9s %9s\n"

// begin prints the head of one cell's rows.
func (t *table) begin(title string, size int64, note string) {
	t.base = nil
	fmt.Fprintf(t.w, "%s, %s%s\n", title, formatSize(size), note)
	fmt.Fprintf(t.w, "%-*s"+columns, t.label, "", "cold", "MiB/s", "time x", "warm", "MiB/s", "time x",
		"WINDOW_", "PINGs", "peak", "peak")
	fmt.Fprintf(t.w, "%-*s"+columns, t.label, "client and strategy", "", "", "HTTP/1", "", "", "HTTP/1",
		"UPDATEs", "", "unread", "window")
}

// add prints one row. The first one is what the others are compared with.
func (t *table) add(r row) {
	if t.base == nil {
		t.base = &r
	}
	fmt.Fprintf(t.w, "%-*s"+columns, t.label, r.contender.label(),
		showSeconds(r.cold), showRate(r.bytes, r.cold), showRatio(r.cold, t.base.cold),
		showSeconds(r.warm), showRate(r.bytes, r.warm), showRatio(r.warm, t.base.warm),
		showCount(r.updates), showCount(r.pings), showSize(r.buffered), showSize(r.window))
}

// fail prints the row of a contender that failed.
func (t *table) fail(c contender, err error) {
	fmt.Fprintf(t.w, "%-*s  failed: %s\n", t.label, c.label(), oneLine(err))
}

func (t *table) end() { fmt.Fprintln(t.w) }

const none = "-"

func showSeconds(s float64) string {
	switch {
	case s == 0:
		return none
	case s < 0.1:
		return fmt.Sprintf("%.2f ms", 1000*s)
	case s < 1:
		return fmt.Sprintf("%.1f ms", 1000*s)
	}
	return fmt.Sprintf("%.3f s", s)
}

func showRate(bytes int64, s float64) string {
	if s == 0 {
		return none
	}
	return fmt.Sprintf("%.1f", float64(bytes)/(1<<20)/s)
}

func showRatio(s, base float64) string {
	if s == 0 || base == 0 {
		return none
	}
	return fmt.Sprintf("%.2f", s/base)
}

func showCount(n *int64) string {
	if n == nil {
		return none
	}
	return fmt.Sprint(*n)
}

// showSize rounds to three digits or so.
func showSize(n *int64) string {
	if n == nil {
		return none
	}
	return report.Size(*n)
}
