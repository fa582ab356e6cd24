package simreport

import (
	"fmt"
	"html"
	"math"
	"slices"

	"example.com/h2flow/cmd/h2flow/internal/plot"
	"example.com/h2flow/cmd/h2flow/internal/sweep"
	"example.com/h2flow/sim"
)

// maxCourses is how many strategies are drawn over time.
const maxCourses = 36

// samples is about how many samples a course has.
const samples = 400

// A course is one cell over time, by one strategy: its first connection.
type course struct {
	strategy string
	series   []sim.Sample
	seconds  float64
}

// course draws one cell over time.
func (b *builder) course() {
	cells := b.exampleCells()
	if len(cells) == 0 {
		return
	}
	first := cells[0].Records[0]
	b.section("Over time",
		fmt.Sprintf("One cell of them all, simulated again: %s, %s, %s, %s, reader %s, seed %d. The first connection, all its requests.",
			html.EscapeString(first.Scenario), byRTT(row{Record: first}), byRate(row{Record: first}), byLoss(row{Record: first}),
			html.EscapeString(first.Reader), first.Seed))
	var courses []course
	for _, o := range cells[:min(len(cells), maxCourses)] {
		c, err := b.simulate(o)
		if err != nil {
			b.printf("<p>%s: %s</p>\n", html.EscapeString(o.Records[0].Strategy), html.EscapeString(err.Error()))
		}
		if len(c.series) > 0 {
			courses = append(courses, c)
		}
	}
	if more := len(cells) - maxCourses; more > 0 {
		b.printf("<p>%d more strategies are not drawn.</p>\n", more)
	}
	if len(courses) == 0 {
		return
	}
	b.printf("<h3>All strategies</h3>\n")
	b.legend(true, false)
	b.printf("<div class=\"grid\">%s%s</div>\n", b.together("Octets that the application has read", courses,
		func(s sim.Sample) int64 { return s.ConsumedBytes }), b.together("Octets in flight", courses,
		func(s sim.Sample) int64 { return s.FlightBytes }))
	b.printf("<h3>Window and flight</h3>\n%s\n", plot.Legend(windowSeries(nil)))
	b.each(courses, func(c course) string { return windowChart(c, first.BDPBytes) })
	b.printf("<h3>Time and sequence</h3>\n<p>Where granted meets received the server has no window left. What lies between "+
		"received and consumed is in memory.</p>\n%s\n", plot.Legend(sequenceSeries(nil)))
	b.each(courses, sequenceChart)
}

func (b *builder) each(courses []course, draw func(course) string) {
	var panels []string
	for _, c := range courses {
		panels = append(panels, draw(c))
	}
	b.grid(panels)
}

// exampleCells are the outcomes of all strategies for the one cell that shows most: without loss, at the highest rate,
// at the middle one of the round-trip times, with the lowest seed.
func (b *builder) exampleCells() []sweep.Outcome {
	withRecords := slices.DeleteFunc(slices.Clone(b.page.Outcomes), func(o sweep.Outcome) bool { return len(o.Records) == 0 })
	rtts := distinct(b.table.rows, func(r row) float64 { return r.RTTMs })
	middle := rtts[len(rtts)/2]
	best := slices.MinFunc(withRecords, func(x, y sweep.Outcome) int {
		a, b := x.Scenario, y.Scenario
		for _, d := range []float64{
			a.Loss - b.Loss, b.RateMbit - a.RateMbit, math.Abs(a.RTTMs-middle) - math.Abs(b.RTTMs-middle),
			float64(a.Seed) - float64(b.Seed),
		} {
			if d != 0 {
				return int(math.Copysign(1, d))
			}
		}
		return 0
	})
	key := cellKey(best.Records[0], 0)
	var cells []sweep.Outcome
	seen := make(map[string]bool)
	for _, o := range withRecords {
		if name := o.Records[0].Strategy; cellKey(o.Records[0], 0) == key && !seen[name] && o.Scenario.Bytes == best.Scenario.Bytes {
			seen[name] = true
			cells = append(cells, o)
		}
	}
	return cells
}

// simulate runs a cell again with a time series. An error with a course says that the result is another one.
func (b *builder) simulate(o sweep.Outcome) (course, error) {
	s := o.Scenario
	cfg, err := b.page.Strategy(o.Records[0].Strategy)
	if err != nil {
		return course{}, err
	}
	s.Flow, s.Strategy = cfg, ""
	length := 0.0
	for _, r := range o.Records {
		length += r.Seconds
	}
	s.SeriesMs = max(length*1000/samples, 0.001)
	result, err := sim.Run(s)
	if err != nil {
		return course{}, err
	}
	c := course{strategy: o.Records[0].Strategy}
	for _, r := range result.Records {
		if r.Connection > 0 {
			continue
		}
		series := r.Series
		// Once the last stream is over there is no window at all, which would be a line down to nothing.
		if n := len(series); n > 1 && series[n-1].WindowBytes == 0 {
			series = series[:n-1]
		}
		c.series = append(c.series, series...)
	}
	if n := len(c.series); n > 0 {
		c.seconds = c.series[n-1].Seconds
	}
	if got, want := result.Records[0].Seconds, o.Records[0].Seconds; got != want {
		err = fmt.Errorf("simulated again the first request takes %.6g s, its record says %.6g s", got, want)
	}
	return c, err
}

// curve is one number of the samples over time.
func curve(series []sim.Sample, f func(sim.Sample) int64) []plot.Point {
	var points []plot.Point
	for _, s := range series {
		points = append(points, plot.Point{X: s.Seconds, Y: float64(f(s))})
	}
	return points
}

// together draws one number of all courses.
func (b *builder) together(title string, courses []course, f func(sim.Sample) int64) string {
	c := plot.Chart{Title: title, X: plot.Axis{Label: "time, s"}, Y: plot.Axis{Label: "octets", Octets: true}, Width: 690, Height: 340}
	fastest, slowest := math.Inf(1), 0.0
	for _, one := range courses {
		fastest, slowest = min(fastest, one.seconds), max(slowest, one.seconds)
	}
	// One that takes many times as long would press all others against the axis.
	if c.X.Max = slowest; slowest > 4*fastest {
		c.X.Max = 4 * fastest
		c.Title += fmt.Sprintf(" (cut off; the slowest takes %.3g s)", slowest)
	}
	for _, one := range courses {
		c.Series = append(c.Series, plot.Series{
			Name: one.strategy, Style: b.style(one.strategy), Points: curve(one.series, f), Line: true, Wide: one.strategy == yardstick,
		})
	}
	return c.SVG()
}

// windowSeries are the curves of windowChart.
func windowSeries(series []sim.Sample) []plot.Series {
	return []plot.Series{
		{Name: "congestion window", Style: plot.Style{Colour: "#999999", Dash: "2 2"}, Line: true, Thin: true,
			Points: curve(series, func(s sim.Sample) int64 { return s.CongestionBytes })},
		{Name: "queue at the bottleneck", Style: plot.Style{Colour: "#1b8a5a", Dash: "5 3"}, Line: true, Thin: true,
			Points: curve(series, func(s sim.Sample) int64 { return s.QueueBytes })},
		{Name: "unread", Style: plot.Style{Colour: "#d95f02"}, Line: true,
			Points: curve(series, func(s sim.Sample) int64 { return s.UnreadBytes })},
		{Name: "in flight", Style: plot.Style{Colour: "#1f6fb4"}, Line: true,
			Points: curve(series, func(s sim.Sample) int64 { return s.FlightBytes })},
		{Name: "window (unread + credit)", Style: plot.Style{Colour: "#c2247f"}, Line: true, Steps: true,
			Points: curve(series, func(s sim.Sample) int64 { return s.WindowBytes })},
	}
}

// windowChart draws the windows of one course. A window far above what is in flight, such as that of unlimited, is cut
// off, or nothing else could be seen.
func windowChart(c course, bdp int64) string {
	most, window := 0.0, 0.0
	for _, s := range c.series {
		most = max(most, float64(s.FlightBytes)*1.1, float64(s.UnreadBytes)*1.1)
		window = max(window, float64(s.WindowBytes))
	}
	title := c.strategy
	farOff := float64(bdp) > 4*max(most, window)
	if !farOff {
		most = max(most, float64(bdp)*1.2)
	}
	if limit := most * 4; window > limit {
		title += " (window cut off: up to " + plot.Octets(window) + ")"
	} else {
		most = max(most, window*1.05)
	}
	chart := plot.Chart{
		Title: title, X: plot.Axis{Label: "time, s"}, Y: plot.Axis{Label: "octets", Octets: true, Max: max(most, 1)},
		Series: windowSeries(c.series),
	}
	switch {
	case farOff:
		chart.Title += " (BDP " + plot.Octets(float64(bdp)) + ")"
	case bdp > 0:
		chart.Rules = []plot.Rule{{Y: float64(bdp), Name: "BDP"}}
	}
	return chart.SVG()
}

// sequenceSeries are the curves of sequenceChart.
func sequenceSeries(series []sim.Sample) []plot.Series {
	return []plot.Series{
		{Name: "granted", Style: plot.Style{Colour: "#c2247f"}, Line: true, Steps: true,
			Points: curve(series, func(s sim.Sample) int64 { return s.GrantedBytes })},
		{Name: "received", Style: plot.Style{Colour: "#1f6fb4"}, Line: true,
			Points: curve(series, func(s sim.Sample) int64 { return s.ReceivedBytes })},
		{Name: "consumed", Style: plot.Style{Colour: "#d95f02", Dash: "4 3"}, Line: true,
			Points: curve(series, func(s sim.Sample) int64 { return s.ConsumedBytes })},
	}
}

// sequenceChart draws how far one course has come. What is granted far beyond the end is cut off.
func sequenceChart(c course) string {
	last := c.series[len(c.series)-1]
	return plot.Chart{
		Title: c.strategy, X: plot.Axis{Label: "time, s"},
		Y:      plot.Axis{Label: "octets since the start", Octets: true, Max: float64(max(last.ReceivedBytes, 1)) * 1.15},
		Series: sequenceSeries(c.series),
	}.SVG()
}
