package simreport

import (
	"fmt"
	"html"
	"math"
	"slices"

	"example.com/h2flow/cmd/h2flow/internal/plot"
)

// goodput draws the goodput over the round-trip time.
func (b *builder) goodput() {
	b.section("Goodput over the round-trip time",
		"Medians over the seeds, with whiskers from the slowest to the fastest. The dotted line is the rate of the path.")
	several := len(distinct(b.table.rows, func(r row) float64 { return r.RTTMs })) > 1
	if several {
		b.legend(true, true)
	}
	var panels []string
	for _, g := range b.table.panels(byScenario, byRate, byLoss, byReader, byBytes, byWarm) {
		if !several { // nothing to draw over the round-trip time
			panels = append(panels, b.bars(orAll(g.title), plot.Axis{Label: "goodput, Mbit/s"}, g.rows, row.goodput))
			continue
		}
		c := plot.Chart{
			Title: g.title, X: plot.Axis{Label: "round-trip time, ms", Log: allAbove(g.rows, func(r row) float64 { return r.RTTMs })},
			Y: plot.Axis{Label: "goodput, Mbit/s"},
		}
		rates := distinct(g.rows, func(r row) float64 { return r.RateMbit })
		for _, rate := range rates {
			if rate > 0 {
				c.Rules = append(c.Rules, plot.Rule{Y: rate})
			}
		}
		_, groups := groupBy(g.rows, func(r row) string { return r.Strategy })
		for _, s := range b.table.strategies {
			c.Series = append(c.Series, b.overRTT(s, groups[s], row.goodput))
		}
		panels = append(panels, c.SVG())
	}
	b.grid(panels)
}

// overRTT is a value of one strategy at each round-trip time.
func (b *builder) overRTT(strategy string, rows []row, f func(row) float64) plot.Series {
	series := plot.Series{Name: strategy, Style: b.style(strategy), Line: true, Dots: true, Wide: strategy == yardstick}
	for _, rtt := range distinct(rows, func(r row) float64 { return r.RTTMs }) {
		at := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.RTTMs != rtt })
		v := spreadOf(at, f)
		series.Points = append(series.Points, plot.Point{
			X: rtt, Y: v.median, Low: v.low, High: v.high, Title: fmt.Sprintf("%s: %.4g at %v ms", strategy, v.median, rtt),
		})
	}
	return series
}

func allAbove(rows []row, f func(row) float64) bool {
	return !slices.ContainsFunc(rows, func(r row) bool { return f(r) <= 0 })
}

// heat draws which share of the ideal speed each strategy has on each path.
func (b *builder) heat() {
	b.section("Share of the ideal speed, by round-trip time and rate",
		"1 is a transfer at the full rate of the path from the first moment, which TCP's slow start does not allow; what "+
			"<i>unlimited</i> reaches is what the path gives. Medians over the seeds.")
	for i, g := range b.table.panels(byScenario, byLoss, byReader, byBytes, byWarm) {
		panels := b.heatPanels(g)
		open := ""
		if i == 0 {
			open = " open"
		}
		b.printf("<details%s><summary>%s</summary><div class=\"grid\">", open, html.EscapeString(orAll(g.title)))
		for _, p := range panels {
			b.printf("%s", p)
		}
		b.printf("</div></details>\n")
	}
}

// orAll is the title of a panel.
func orAll(title string) string {
	if title == "" {
		return "all cells"
	}
	return title
}

// heatPanels are the heat maps of a group, or bars if it has one path alone.
func (b *builder) heatPanels(g group) []string {
	rtts := distinct(g.rows, func(r row) float64 { return r.RTTMs })
	rates := distinct(g.rows, func(r row) float64 { return r.RateMbit })
	if len(rtts)*len(rates) == 1 {
		return []string{b.bars(orAll(g.title), plot.Axis{Label: "share of the ideal speed"}, g.rows, row.share)}
	}
	var panels []string
	_, groups := groupBy(g.rows, func(r row) string { return r.Strategy })
	for _, s := range b.table.strategies {
		panels = append(panels, heatOf(s, groups[s]).SVG())
	}
	return panels
}

// heatOf is the heat map of one strategy.
func heatOf(strategy string, rows []row) plot.Heat {
	rtts := distinct(rows, func(r row) float64 { return r.RTTMs })
	rates := distinct(rows, func(r row) float64 { return r.RateMbit })
	h := plot.Heat{Title: strategy, XLabel: "round-trip time, ms", YLabel: "Mbit/s"}
	for _, rtt := range rtts {
		h.Columns = append(h.Columns, fmt.Sprint(rtt))
	}
	for _, rate := range rates {
		h.Rows = append(h.Rows, fmt.Sprint(rate))
		values := make([]float64, len(rtts))
		for i, rtt := range rtts {
			at := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.RTTMs != rtt || r.RateMbit != rate })
			values[i] = spreadOf(at, row.share).median
		}
		h.Values = append(h.Values, values)
	}
	return h
}

// memory draws the peak window against the goodput.
func (b *builder) memory() {
	b.section("Memory against goodput",
		"Up and to the left is better: the most that had to be held, against the speed. The line is the Pareto front: what lies "+
			"below or to the right of it is beaten on both. The first chart is over all cells, the others are single paths.")
	b.legend(false, true)
	panels := []string{b.memoryOverall()}
	groups := b.table.panels(byScenario, byRTT, byRate, byLoss, byReader, byBytes, byWarm)
	slices.SortStableFunc(groups, func(x, y group) int { return int(min(max(y.rows[0].BDPBytes-x.rows[0].BDPBytes, -1), 1)) })
	for _, g := range groups {
		if len(groups) == 1 {
			g.title = "the path"
		}
		panels = append(panels, b.pareto(g.title, "peak window", true, "goodput, Mbit/s", g.rows,
			func(r row) float64 { return float64(r.PeakWindowBytes) }, row.goodput))
	}
	b.grid(panels)
}

// memoryOverall is over all cells, in terms of each path.
func (b *builder) memoryOverall() string {
	share, label := row.share, "share of the ideal speed"
	if slices.Contains(b.table.strategies, yardstick) {
		share = func(r row) float64 { return 1 / r.versus }
		label = "share of unlimited's speed"
	}
	return b.pareto("all cells, medians", "peak window, × BDP", false, label, b.table.rows, row.windowPerBDP, share)
}

// pareto draws one dot for each strategy, and the front.
func (b *builder) pareto(title, xLabel string, octets bool, yLabel string, rows []row, x, y func(row) float64) string {
	c := plot.Chart{
		Title: title, X: plot.Axis{Label: xLabel, Log: true, Octets: octets}, Y: plot.Axis{Label: yLabel},
	}
	_, groups := groupBy(rows, func(r row) string { return r.Strategy })
	var dots []plot.Point
	for _, s := range b.table.strategies {
		p := plot.Point{X: spreadOf(groups[s], x).median, Y: spreadOf(groups[s], y).median}
		if math.IsNaN(p.X) || math.IsNaN(p.Y) {
			continue
		}
		size := fmt.Sprintf("%.3g", p.X)
		if octets {
			size = plot.Octets(p.X)
		}
		p.Title = fmt.Sprintf("%s: %s, %.4g", s, size, p.Y)
		dots = append(dots, p)
		c.Series = append(c.Series, plot.Series{Name: s, Style: b.style(s), Points: []plot.Point{p}, Dots: true})
	}
	front := plot.Series{Name: "front", Style: plot.Style{Colour: "#999"}, Points: paretoFront(dots), Line: true, Steps: true}
	c.Series = append([]plot.Series{front}, c.Series...)
	return c.SVG()
}

// paretoFront are the points that no other one beats: none has at most their X and more Y, or less X and at least their
// Y. They are in the order of X.
func paretoFront(points []plot.Point) []plot.Point {
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b plot.Point) int {
		switch {
		case a.X < b.X || a.X == b.X && a.Y > b.Y:
			return -1
		case a.X == b.X && a.Y == b.Y:
			return 0
		}
		return 1
	})
	var front []plot.Point
	for _, p := range sorted {
		if len(front) == 0 || p.Y > front[len(front)-1].Y {
			front = append(front, p)
		}
	}
	return front
}
