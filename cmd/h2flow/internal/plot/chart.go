package plot

import (
	"fmt"
	"html"
	"strings"
)

// A Point is one value. Low and High, if they are not both 0, are the ends of a whisker.
type Point struct {
	X, Y      float64
	Low, High float64
	Title     string // shown where the pointer rests on a dot
}

// A Series is the points of one name.
type Series struct {
	Name   string
	Style  Style
	Points []Point
	Line   bool // join the points
	Steps  bool // with Line: a value holds until the next point
	Dots   bool // draw each point
	Thin   bool // a thin line
	Wide   bool // a wide line, for what others lie upon
}

// A Rule is a line across the chart, at a height.
type Rule struct {
	Y    float64
	Name string // written at its left end
}

// A Chart is a drawing with two axes.
type Chart struct {
	Title  string
	X, Y   Axis
	Series []Series
	Rules  []Rule
	// Width and Height are of the drawing, in pixels; 0 means 460 and 300.
	Width, Height float64
}

// The edges around the area of the plot, in units of the drawing.
const (
	marginLeft, marginRight = 74.0, 16.0
	marginTop, marginBottom = 30.0, 46.0
)

// A frame is where the area of the plot is.
type frame struct {
	left, right, top, bottom float64
	x, y                     Axis
}

// at is where a point is in the drawing.
func (f frame) at(x, y float64) (float64, float64) {
	return f.left + f.x.place(x)*(f.right-f.left), f.bottom - f.y.place(y)*(f.bottom-f.top)
}

// inside says whether the point can be drawn.
func (f frame) inside(x, y float64) bool {
	if !f.x.drawable(x) || !f.y.drawable(y) {
		return false
	}
	px, py := f.x.place(x), f.y.place(y)
	return px >= -1e-6 && px <= 1+1e-6 && py >= -1e-6 && py <= 1+1e-6
}

// SVG is the drawing.
func (c Chart) SVG() string {
	if c.Width == 0 {
		c.Width, c.Height = 460, 300
	}
	f := c.frame()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s">`,
		c.Width, c.Height, c.Width, c.Height, html.EscapeString(c.Title))
	drawTitle(&b, c.Title, f.left, c.Width)
	f.drawAxes(&b)
	for _, r := range c.Rules {
		f.drawRule(&b, r)
	}
	for _, s := range c.Series {
		f.drawSeries(&b, s)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// frame fits the axes to the data.
func (c Chart) frame() frame {
	var xs, ys []float64
	for _, s := range c.Series {
		for _, p := range s.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
			if p.Low != 0 || p.High != 0 {
				ys = append(ys, p.Low, p.High)
			}
		}
	}
	for _, r := range c.Rules {
		ys = append(ys, r.Y)
	}
	return frame{
		left: marginLeft, right: c.Width - marginRight, top: marginTop, bottom: c.Height - marginBottom,
		x: c.X.fit(xs), y: c.Y.fit(ys),
	}
}

// drawTitle writes the title from left on. What does not fit is cut off, and shown where the pointer rests.
func drawTitle(b *strings.Builder, title string, left, width float64) {
	short := []rune(title)
	if most := int((width - left) / 7.4); len(short) > most {
		short = append(short[:most-1], '…')
	}
	fmt.Fprintf(b, `<text class="title" x="%.1f" y="16">%s<title>%s</title></text>`,
		left, html.EscapeString(string(short)), html.EscapeString(title))
}

// drawAxes draws the grid, the marks and the labels.
func (f frame) drawAxes(b *strings.Builder) {
	for _, t := range f.x.ticks(int((f.right - f.left) / 52)) {
		x, _ := f.at(t.value, f.y.Min)
		fmt.Fprintf(b, `<path class="grid" d="M%.1f %.1fV%.1f"/>`, x, f.top, f.bottom)
		fmt.Fprintf(b, `<text class="tick" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`, x, f.bottom+15, t.label)
	}
	for _, t := range f.y.ticks(int((f.bottom - f.top) / 32)) {
		_, y := f.at(f.x.Min, t.value)
		fmt.Fprintf(b, `<path class="grid" d="M%.1f %.1fH%.1f"/>`, f.left, y, f.right)
		fmt.Fprintf(b, `<text class="tick" text-anchor="end" x="%.1f" y="%.1f">%s</text>`, f.left-6, y+4, t.label)
	}
	fmt.Fprintf(b, `<path class="axis" d="M%.1f %.1fV%.1fH%.1f"/>`, f.left, f.top, f.bottom, f.right)
	fmt.Fprintf(b, `<text class="label" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`,
		(f.left+f.right)/2, f.bottom+35, html.EscapeString(f.x.Label))
	fmt.Fprintf(b, `<text class="label" text-anchor="middle" transform="translate(13 %.1f) rotate(-90)">%s</text>`,
		(f.top+f.bottom)/2, html.EscapeString(f.y.Label))
}

func (f frame) drawRule(b *strings.Builder, r Rule) {
	if !f.inside(f.x.Min, r.Y) {
		return
	}
	_, y := f.at(f.x.Min, r.Y)
	fmt.Fprintf(b, `<path class="rule" d="M%.1f %.1fH%.1f"/>`, f.left, y, f.right)
	fmt.Fprintf(b, `<text class="rule" x="%.1f" y="%.1f">%s</text>`, f.left+4, y-3, html.EscapeString(r.Name))
}

func (f frame) drawSeries(b *strings.Builder, s Series) {
	if s.Line {
		fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s" stroke-width="%.1f" stroke-linejoin="round"%s/>`,
			f.line(s), s.Style.Colour, s.width(), dashed(s.Style.Dash))
	}
	for _, p := range s.Points {
		if !f.inside(p.X, p.Y) {
			continue
		}
		x, y := f.at(p.X, p.Y)
		if (p.Low != 0 || p.High != 0) && p.High > p.Low && f.inside(p.X, p.Low) && f.inside(p.X, p.High) {
			_, low := f.at(p.X, p.Low)
			_, high := f.at(p.X, p.High)
			fmt.Fprintf(b, `<path d="M%.1f %.1fV%.1f" stroke="%s" stroke-width="1"/>`, x, low, high, s.Style.Colour)
		}
		if s.Dots {
			title := p.Title
			if title == "" {
				title = s.Name
			}
			b.WriteString(s.Style.draw(x, y, 3, title))
		}
	}
}

// width is that of the line, in pixels.
func (s Series) width() float64 {
	switch {
	case s.Thin:
		return 1
	case s.Wide:
		return 5
	}
	return 1.8
}

// line is the path of the points that can be drawn, with a gap where one cannot.
func (f frame) line(s Series) string {
	var b strings.Builder
	pen := false
	for _, p := range s.Points {
		if !f.inside(p.X, p.Y) {
			pen = false
			continue
		}
		x, y := f.at(p.X, p.Y)
		switch {
		case !pen:
			fmt.Fprintf(&b, "M%.1f %.1f", x, y)
		case s.Steps:
			fmt.Fprintf(&b, "H%.1fV%.1f", x, y)
		default:
			fmt.Fprintf(&b, "L%.1f %.1f", x, y)
		}
		pen = true
	}
	return b.String()
}
