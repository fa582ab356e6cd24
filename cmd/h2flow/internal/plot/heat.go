package plot

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// A Heat is a table in which a colour says how large each value is, from 0 to 1.
type Heat struct {
	Title          string
	XLabel, YLabel string
	Columns, Rows  []string    // the first row is at the bottom
	Values         [][]float64 // by row, then by column; NaN if there is none
}

// The size of a cell of a heat map, in pixels.
const heatWidth, heatHeight = 46.0, 26.0

// SVG is the drawing.
func (h Heat) SVG() string {
	left := marginLeft - 8
	width := left + heatWidth*float64(len(h.Columns)) + 12
	width = max(width, left+170, left+8.4*float64(len(h.Title)))
	bottom := marginTop + heatHeight*float64(len(h.Rows))
	height := bottom + marginBottom
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s">`,
		width, height, width, height, html.EscapeString(h.Title))
	drawTitle(&b, h.Title, left, width+100)
	for i, row := range h.Rows {
		y := bottom - heatHeight*float64(i+1)
		fmt.Fprintf(&b, `<text class="tick" text-anchor="end" x="%.1f" y="%.1f">%s</text>`, left-6, y+17, html.EscapeString(row))
		for j := range h.Columns {
			x, v := left+heatWidth*float64(j), h.Values[i][j]
			fill, ink, text := heatColour(v)
			fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, x, y, heatWidth-1, heatHeight-1, fill)
			fmt.Fprintf(&b, `<text class="tick" text-anchor="middle" x="%.1f" y="%.1f" style="fill:%s">%s</text>`,
				x+heatWidth/2, y+17, ink, text)
		}
	}
	for j, column := range h.Columns {
		fmt.Fprintf(&b, `<text class="tick" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`,
			left+heatWidth*(float64(j)+0.5), bottom+15, html.EscapeString(column))
	}
	fmt.Fprintf(&b, `<text class="label" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`,
		left+heatWidth*float64(len(h.Columns))/2, bottom+35, html.EscapeString(h.XLabel))
	fmt.Fprintf(&b, `<text class="label" text-anchor="middle" transform="translate(13 %.1f) rotate(-90)">%s</text>`,
		(marginTop+bottom)/2, html.EscapeString(h.YLabel))
	b.WriteString("</svg>\n")
	return b.String()
}

// stops are the colours of 0, 1/4, 1/2, 3/4 and 1, from dark to light, so that they keep their order in grey.
var stops = [][3]float64{{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}

// heatColour is the colour of v, that of what is written on it, and the text.
func heatColour(v float64) (fill, ink, text string) {
	if math.IsNaN(v) {
		return "#eee", "#666", "–"
	}
	at := min(max(v, 0), 1) * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	part := at - float64(i)
	var c [3]int
	for k := range c {
		c[k] = int(math.Round(stops[i][k] + part*(stops[i+1][k]-stops[i][k])))
	}
	ink = "#fff"
	if v > 0.6 {
		ink = "#111"
	}
	return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2]), ink, fmt.Sprintf("%.2f", v)
}
