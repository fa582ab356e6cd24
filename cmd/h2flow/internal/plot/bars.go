package plot

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// Bars are horizontal bars, one for each name.
type Bars struct {
	Title string
	X     Axis
	Bars  []Bar
}

// A Bar is a value, with the parts it is made of, and how far single ones are from it.
type Bar struct {
	Name      string
	Style     Style
	Value     float64
	Low, High float64
}

// rowHeight is the height of a bar with its gap, in pixels.
const rowHeight = 20.0

// SVG is the drawing.
func (c Bars) SVG() string {
	longest := 0
	var values []float64
	for _, bar := range c.Bars {
		longest = max(longest, utf8.RuneCountInString(bar.Name))
		values = append(values, bar.Value, bar.Low, bar.High)
	}
	left := 14 + 6.3*float64(longest)
	width, height := left+560, marginTop+rowHeight*float64(len(c.Bars))+marginBottom
	f := frame{left: left, right: width - 70, top: marginTop, bottom: height - marginBottom, x: c.X.fit(values)}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s">`,
		width, height, width, height, html.EscapeString(c.Title))
	drawTitle(&b, c.Title, f.left, width)
	place := func(v float64) float64 { return f.left + f.x.place(max(v, f.x.Min))*(f.right-f.left) }
	for _, t := range f.x.ticks(8) {
		fmt.Fprintf(&b, `<path class="grid" d="M%.1f %.1fV%.1f"/>`, place(t.value), f.top, f.bottom)
		fmt.Fprintf(&b, `<text class="tick" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`, place(t.value), f.bottom+15, t.label)
	}
	for i, bar := range c.Bars {
		y := f.top + rowHeight*float64(i)
		fmt.Fprintf(&b, `<text class="tick" text-anchor="end" x="%.1f" y="%.1f">%s</text>`, f.left-6, y+14, html.EscapeString(bar.Name))
		if !f.x.drawable(bar.Value) {
			fmt.Fprintf(&b, `<text class="tick" x="%.1f" y="%.1f">none</text>`, f.left+4, y+14)
			continue
		}
		end := place(bar.Value)
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" fill-opacity="0.75"/>`,
			f.left, y+4, max(end-f.left, 0.5), rowHeight-8, bar.Style.Colour)
		right := end
		if bar.High > bar.Low {
			right = max(end, place(bar.High))
			fmt.Fprintf(&b, `<path d="M%.1f %.1fH%.1f" stroke="#222" stroke-width="1"/>`, place(bar.Low), y+rowHeight/2, place(bar.High))
		}
		fmt.Fprintf(&b, `<text class="tick" x="%.1f" y="%.1f">%.3g</text>`, right+5, y+14, bar.Value)
	}
	fmt.Fprintf(&b, `<path class="axis" d="M%.1f %.1fV%.1fH%.1f"/>`, f.left, f.top, f.bottom, f.right)
	fmt.Fprintf(&b, `<text class="label" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`,
		(f.left+f.right)/2, f.bottom+35, html.EscapeString(c.X.Label))
	b.WriteString("</svg>\n")
	return b.String()
}
