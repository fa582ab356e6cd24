package cli

import (
	"fmt"
	"io"
	"math"
	"strings"

	"example.com/h2flow/cmd/h2flow/internal/load"
	"example.com/h2flow/cmd/h2flow/internal/stats"
)

// A measure is one figure of a run; nil where it is not known.
type measure struct {
	title string
	of    func(r *benchRow) *float64
	show  func(float64) string
}

var (
	speedMeasures = []measure{
		{"MiB/s", func(r *benchRow) *float64 { return &r.MiBPerS }, digits},
		{"req/s", func(r *benchRow) *float64 { return &r.ReqPerS }, digits},
		{"p50 ms", func(r *benchRow) *float64 { return r.P50Ms }, digits},
		{"p90 ms", func(r *benchRow) *float64 { return r.P90Ms }, digits},
		{"p99 ms", func(r *benchRow) *float64 { return r.P99Ms }, digits},
		{"failures", func(r *benchRow) *float64 { return number(r.Failures) }, digits},
	}
	costMeasures = []measure{
		{"user s/GiB", func(r *benchRow) *float64 { return perGiB(r, r.UserS) }, digits},
		{"sys s/GiB", func(r *benchRow) *float64 { return perGiB(r, r.SysS) }, digits},
		{"CPU s/GiB", func(r *benchRow) *float64 { return perGiB(r, r.cpu()) }, digits},
		{"CPU s/1000 req", func(r *benchRow) *float64 { return per1000(r, r.cpu()) }, digits},
		{"allocs/req", func(r *benchRow) *float64 { return r.AllocsPerReq }, digits},
		{"bytes/req", func(r *benchRow) *float64 { return r.BytesPerReq }, digits},
		{"peak RSS", func(r *benchRow) *float64 { return optional(r.PeakRSSBytes) }, octets},
	}
	ratioMeasures = []measure{
		{"speed", func(r *benchRow) *float64 { return &r.ReqPerS }, digits},
		{"CPU/req", func(r *benchRow) *float64 { return per1000(r, r.cpu()) }, digits},
		{"allocs/req", func(r *benchRow) *float64 { return r.AllocsPerReq }, digits},
		{"p99", func(r *benchRow) *float64 { return r.P99Ms }, digits},
	}
)

func number(n int64) *float64 { f := float64(n); return &f }

func optional(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return number(*n)
}

func perGiB(r *benchRow, seconds *float64) *float64 {
	if seconds == nil {
		return nil
	}
	return quotient(*seconds*(1<<30), float64(r.Bytes))
}

func per1000(r *benchRow, seconds *float64) *float64 {
	if seconds == nil {
		return nil
	}
	return quotient(*seconds*1000, float64(r.Requests))
}

// median is that of the rounds in which the figure is known; NaN if there are none.
func (m measure) median(rows []benchRow) float64 {
	var values []float64
	for i := range rows {
		if v := m.of(&rows[i]); v != nil {
			values = append(values, *v)
		}
	}
	return stats.Median(values)
}

// ratio sums up the ratios of two variants in the same rounds.
func (m measure) ratio(rows, base []benchRow) stats.Summary {
	var ratios []float64
	for i := range min(len(rows), len(base)) {
		a, b := m.of(&rows[i]), m.of(&base[i])
		if a == nil || b == nil || *b == 0 {
			continue
		}
		ratios = append(ratios, *a / *b)
	}
	return stats.Summarise(ratios)
}

// printOutcomes prints the medians, and the ratios to net/http where it was compared with.
func printOutcomes(w io.Writer, outcomes []outcome) {
	printMedians(w, "speed and latency", outcomes, speedMeasures, nil)
	printMedians(w, "cost of the client", outcomes, costMeasures, peakHeap)
	for _, base := range []string{load.HTTP1, load.NetH2} {
		for i := range outcomes {
			if outcomes[i].variant.client == base && outcomes[i].failure == nil {
				printRatios(w, outcomes, i)
				break
			}
		}
	}
	for _, o := range outcomes {
		if o.failure != nil {
			fmt.Fprintf(w, "%s failed: %s\n", o.variant.label, oneLine(o.failure))
		}
	}
}

// peakHeap is the column that only the tables have.
func peakHeap(o *outcome) (title, cell string) {
	return "peak heap", octets(stats.Median(o.heaps))
}

func printMedians(
	w io.Writer, title string, outcomes []outcome, measures []measure, more func(*outcome) (title, cell string),
) {
	head := []string{title}
	for _, m := range measures {
		head = append(head, m.title)
	}
	rows := [][]string{head}
	for i := range outcomes {
		o := &outcomes[i]
		if len(o.rows) == 0 {
			continue
		}
		row := []string{o.variant.label}
		for _, m := range measures {
			row = append(row, m.cell(o.rows))
		}
		if more != nil {
			column, cell := more(o)
			if len(rows) == 1 {
				rows[0] = append(rows[0], column)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	if len(rows) > 1 {
		printAligned(w, rows)
		fmt.Fprintln(w)
	}
}

func (m measure) cell(rows []benchRow) string { return orNone(m.median(rows), m.show) }

// printRatios compares all variants with one of them.
func printRatios(w io.Writer, outcomes []outcome, base int) {
	name := outcomes[base].variant.label
	head := []string{"ratio to " + name}
	for _, m := range ratioMeasures {
		head = append(head, m.title)
	}
	rows := [][]string{head}
	for i, o := range outcomes {
		if i == base || len(o.rows) == 0 {
			continue
		}
		row := []string{o.variant.label}
		for _, m := range ratioMeasures {
			row = append(row, showSummary(m.ratio(o.rows, outcomes[base].rows)))
		}
		rows = append(rows, row)
	}
	if len(rows) == 1 {
		return
	}
	printAligned(w, rows)
	if n := len(outcomes[base].rows); n > 1 {
		fmt.Fprintf(w, "median of the ratios of %d pairs, with its 95 %% interval by bootstrap\n", n)
	}
	fmt.Fprintln(w)
}

func showSummary(s stats.Summary) string {
	text := orNone(s.Median, func(f float64) string { return fmt.Sprintf("%.3f", f) })
	if !math.IsNaN(s.Low) {
		text += fmt.Sprintf(" [%.3f, %.3f]", s.Low, s.High)
	}
	return text
}

// printAligned prints rows of cells: the first column to the left, the others to the right.
func printAligned(w io.Writer, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			if i == 0 {
				fmt.Fprintf(&line, "%-*s", widths[i], cell)
			} else {
				fmt.Fprintf(&line, "  %*s", widths[i], cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

func orNone(f float64, show func(float64) string) string {
	if math.IsNaN(f) {
		return none
	}
	return show(f)
}

// digits shows about four digits.
func digits(f float64) string {
	switch abs := math.Abs(f); {
	case f == 0:
		return "0"
	case abs >= 1000:
		return fmt.Sprintf("%.0f", f)
	case abs >= 100:
		return fmt.Sprintf("%.1f", f)
	case abs >= 10:
		return fmt.Sprintf("%.2f", f)
	case abs >= 0.1:
		return fmt.Sprintf("%.3f", f)
	}
	return fmt.Sprintf("%.3g", f)
}

func octets(f float64) string {
	if math.IsNaN(f) {
		return none
	}
	n := int64(f)
	return showSize(&n)
}
