package simreport

import (
	"fmt"
	"math"
	"slices"

	"example.com/h2flow/cmd/h2flow/internal/plot"
)

// frames draws how many frames the strategies send.
func (b *builder) frames() {
	b.section("Frames per MiB",
		"WINDOW_UPDATE and PING, on both levels together, for each MiB of body. The bar is the median of all requests, the line "+
			"goes from the least to the most.")
	b.printf("<div class=\"grid\">%s</div>\n",
		b.bars("WINDOW_UPDATE and PING", plot.Axis{Label: "frames per MiB"}, b.table.rows, row.framesPerMiB))
	if rtts := distinct(b.table.rows, func(r row) float64 { return r.RTTMs }); len(rtts) > 1 {
		b.legend(true, true)
		var panels []string
		for _, g := range b.table.panels(byScenario, byRate, byLoss, byReader, byBytes) {
			c := plot.Chart{
				Title: g.title,
				X:     plot.Axis{Label: "round-trip time, ms", Log: allAbove(g.rows, func(r row) float64 { return r.RTTMs })},
				Y:     plot.Axis{Label: "frames per MiB", Log: true},
			}
			_, groups := groupBy(g.rows, func(r row) string { return r.Strategy })
			for _, s := range b.table.strategies {
				series := b.overRTT(s, groups[s], row.framesPerMiB)
				for i := range series.Points {
					series.Points[i].Low, series.Points[i].High = 0, 0
				}
				c.Series = append(c.Series, series)
			}
			panels = append(panels, c.SVG())
		}
		b.grid(panels)
	}
}

// bars draws one bar for each strategy.
func (b *builder) bars(title string, axis plot.Axis, rows []row, f func(row) float64) string {
	c := plot.Bars{Title: title, X: axis}
	_, groups := groupBy(rows, func(r row) string { return r.Strategy })
	for _, s := range b.table.strategies {
		if v := spreadOf(groups[s], f); !math.IsNaN(v.median) {
			c.Bars = append(c.Bars, plot.Bar{Name: s, Style: b.style(s), Value: v.median, Low: v.low, High: v.high})
		}
	}
	return c.SVG()
}

// fairness draws how equal the streams are, and what the small responses beside them wait.
func (b *builder) fairness() {
	rows := slices.DeleteFunc(slices.Clone(b.table.rows), func(r row) bool { return r.number > 0 }) // one for each cell
	several := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.streams < 2 || r.jain == 0 })
	b.section("Fairness", "Jain's index of the goodputs of the streams: 1 if all are equal, 1/n if one of n has it all.")
	if len(several) == 0 {
		b.printf("<p>No cell has several streams or connections.</p>\n")
	} else if counts := distinct(several, func(r row) int { return r.streams }); len(counts) > 1 {
		b.legend(true, true)
		b.printf("<div class=\"grid\">%s</div>\n", b.overStreams(several, counts))
	} else {
		title := fmt.Sprintf("%d streams", counts[0])
		b.printf("<div class=\"grid\">%s</div>\n", b.bars(title, plot.Axis{Label: "Jain's index", Max: 1},
			several, func(r row) float64 { return r.jain }))
	}
	if slices.ContainsFunc(rows, func(r row) bool { return !math.IsNaN(r.smallP99) }) {
		b.printf("<h3>Small responses beside the bulk</h3>\n<div class=\"grid\">%s</div>\n",
			b.bars("99th percentile of their times", plot.Axis{Label: "ms"}, rows, func(r row) float64 { return r.smallP99 }))
	}
}

// overStreams draws Jain's index over the number of streams.
func (b *builder) overStreams(rows []row, counts []int) string {
	axis := plot.Axis{Label: "Jain's index", Max: 1.02}
	if spreadOf(rows, func(r row) float64 { return r.jain }).low >= 0.9 { // or no difference could be seen
		axis.Min, axis.Max = 0.9, 1.002
	}
	c := plot.Chart{
		Title: "Equality of the streams", X: plot.Axis{Label: "streams", Log: true}, Y: axis, Width: 690, Height: 340,
	}
	_, groups := groupBy(rows, func(r row) string { return r.Strategy })
	for _, s := range b.table.strategies {
		series := plot.Series{Name: s, Style: b.style(s), Line: true, Dots: true, Wide: s == yardstick}
		for _, n := range counts {
			at := slices.DeleteFunc(slices.Clone(groups[s]), func(r row) bool { return r.streams != n })
			v := spreadOf(at, func(r row) float64 { return r.jain })
			series.Points = append(series.Points, plot.Point{X: float64(n), Y: v.median, Low: v.low, High: v.high})
		}
		c.Series = append(c.Series, series)
	}
	return c.SVG()
}
