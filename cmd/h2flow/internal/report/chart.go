package report

import (
	"math"
	"strconv"
	"strings"
)

// A Chart is one drawing of curves over time. Coordinates are in units of the drawing, from its upper left corner.
type Chart struct {
	Title                    string
	Width, Height            float64
	Left, Right, Top, Bottom float64 // the edges of the plot within the drawing
	XLabel, YLabel           string
	XTicks, YTicks           []Tick
	Lines                    []Line
}

// A Tick is one mark on an axis.
type Tick struct {
	At    float64
	Label string
}

// A Line is one curve: its name, the class that gives its colour, and its path in SVG.
type Line struct {
	Name, Class, Path string
}

const (
	chartWidth, chartHeight = 520.0, 230.0
	chartLeft, chartRight   = 62.0, 508.0
	chartTop, chartBottom   = 24.0, 184.0
)

// A named curve.
type curve struct {
	name, class string
	points      []Point
}

// A Figure is one run with its charts.
type Figure struct {
	Name, Phase string
	Number      int // of the connection; 0 if there is only one
	Seconds     float64
	Charts      []Chart
}

// charts draws one run: the windows, and what was read, beside that of the same phase of the row to compare with.
func charts(c Cell, row Row, run Run) Figure {
	f := Figure{Name: row.Name(), Phase: run.Phase, Seconds: run.Seconds}
	if len(row.Others()) > 0 {
		f.Number = run.Number
	}
	if windows := drawWindows("Octets at each moment", run.Seconds, run.Curves); len(windows.Lines) > 0 {
		f.Charts = append(f.Charts, windows)
	}
	received := []curve{{"read by the application", "received", run.Curves.Received}}
	length := run.Seconds
	if base := c.Rows[0]; base.Name() != row.Name() {
		for _, r := range base.Typical() {
			if r.Phase == run.Phase {
				received = append(received, curve{base.Name(), "base", r.Curves.Received})
				length = max(length, r.Seconds)
			}
		}
	}
	f.Charts = append(f.Charts, draw("Octets so far", length, received))
	if run.OpeningSeconds > 0 && run.Seconds > 3*run.OpeningSeconds {
		if opening := drawWindows("The beginning", run.OpeningSeconds, run.Opening); len(opening.Lines) > 0 {
			f.Charts = append(f.Charts, opening)
		}
	}
	return f
}

// drawWindows draws what swings, the window on top.
func drawWindows(title string, length float64, c Curves) Chart {
	return draw(title, length, []curve{
		{"in flight on the path, its queue included", "flight", c.InFlight},
		{"unread", "unread", c.Unread},
		{"window (unread + what the server may still send)", "window", c.Window},
	})
}

// draw scales the curves that have points.
func draw(title string, length float64, curves []curve) Chart {
	highest := int64(1)
	for _, c := range curves {
		for _, p := range c.points {
			highest = max(highest, p.Octets)
		}
	}
	chart := Chart{
		Title: title, Width: chartWidth, Height: chartHeight,
		Left: chartLeft, Right: chartRight, Top: chartTop, Bottom: chartBottom,
	}
	xUnit, xName := 1.0, "s"
	if length < 1 {
		xUnit, xName = 1e-3, "ms"
	}
	yUnit, yName := binaryUnit(highest)
	chart.XLabel, chart.YLabel = "time since the request, "+xName, yName
	xMax, yMax := max(length/xUnit, 1e-9), float64(highest)/yUnit*1.04
	x := func(v float64) float64 { return chartLeft + v/xMax*(chartRight-chartLeft) }
	y := func(v float64) float64 { return chartBottom - v/yMax*(chartBottom-chartTop) }
	chart.XTicks, chart.YTicks = ticks(xMax, 6, x), ticks(yMax, 5, y)
	place := func(p Point) (float64, float64) { return x(p.Seconds / xUnit), y(float64(p.Octets) / yUnit) }
	for _, c := range curves {
		if len(c.points) > 0 {
			chart.Lines = append(chart.Lines, Line{Name: c.name, Class: c.class, Path: steps(c.points, length, place)})
		}
	}
	return chart
}

// steps is the path of a number that stays what it is until the next point.
func steps(points []Point, length float64, place func(Point) (x, y float64)) string {
	var b strings.Builder
	number := func(v float64) { b.WriteString(strconv.FormatFloat(v, 'f', 1, 64)) }
	last := points[0]
	for i, p := range points {
		if p.Seconds > length {
			break
		}
		x, y := place(p)
		if i == 0 {
			b.WriteByte('M')
			number(x)
			b.WriteByte(' ')
			number(y)
		} else {
			b.WriteByte('H')
			number(x)
			b.WriteByte('V')
			number(y)
		}
		last = p
	}
	last.Seconds = length
	x, _ := place(last)
	b.WriteByte('H')
	number(x)
	return b.String()
}

// ticks are at most n marks from 0 to limit at round numbers.
func ticks(limit float64, n int, place func(float64) float64) []Tick {
	if limit <= 0 {
		return []Tick{{At: place(0), Label: "0"}}
	}
	step := roundStep(limit / float64(n))
	var list []Tick
	for i := 0; float64(i)*step <= limit*(1+1e-9); i++ {
		v := float64(i) * step
		list = append(list, Tick{At: place(v), Label: strconv.FormatFloat(v, 'g', 6, 64)})
	}
	return list
}

// roundStep is the least of 1, 2 and 5 times a power of ten that is not below v.
func roundStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// binaryUnit is the unit in which n octets are a number of a few digits.
func binaryUnit(n int64) (float64, string) {
	switch {
	case n >= 2<<30:
		return 1 << 30, "GiB"
	case n >= 2<<20:
		return 1 << 20, "MiB"
	case n >= 2<<10:
		return 1 << 10, "KiB"
	}
	return 1, "octets"
}
