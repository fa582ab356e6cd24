package plot

import (
	"fmt"
	"html"
	"strings"
)

// A Style is how a series looks.
type Style struct {
	Colour string // as CSS has it
	Dash   string // as SVG's stroke-dasharray has it; empty for a solid line
	Mark   Mark
}

// A Mark is the shape of a dot.
type Mark uint8

// The marks.
const (
	Disc Mark = iota
	Square
	Diamond
	Triangle
	Ring
)

// colours can be told apart, also by most who see colours differently, on white.
var colours = []string{
	"#1f6fb4", "#d95f02", "#1b8a5a", "#c2247f", "#6a51a3", "#8c6d1f", "#4d4d4d", "#c0392b", "#17a2b8", "#7f8c1d",
}

// StyleOf is the style of the n-th series. The first 10 differ in colour, the next ones also in dash and mark.
func StyleOf(n int) Style {
	turn := n / len(colours)
	return Style{
		Colour: colours[n%len(colours)],
		Dash:   []string{"", "6 3", "2 2", "8 3 2 3"}[turn%4],
		Mark:   Mark(turn % 5),
	}
}

// draw is the mark around x, y.
func (s Style) draw(x, y, size float64, title string) string {
	var shape string
	fill := s.Colour
	switch s.Mark {
	case Square:
		shape = fmt.Sprintf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"`, x-size*0.9, y-size*0.9, size*1.8, size*1.8)
	case Diamond:
		d := size * 1.3
		shape = fmt.Sprintf(`<path d="M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fZ"`, x, y-d, x+d, y, x, y+d, x-d, y)
	case Triangle:
		d := size * 1.2
		shape = fmt.Sprintf(`<path d="M%.1f %.1fL%.1f %.1fL%.1f %.1fZ"`, x, y-d, x+d, y+d*0.8, x-d, y+d*0.8)
	default:
		shape = fmt.Sprintf(`<circle cx="%.1f" cy="%.1f" r="%.1f"`, x, y, size)
		if s.Mark == Ring {
			fill = "#fff"
		}
	}
	shape += fmt.Sprintf(` fill="%s" stroke="%s"`, fill, s.Colour)
	if title == "" {
		return shape + "/>"
	}
	closing := shape[1:strings.IndexByte(shape, ' ')]
	return shape + "><title>" + html.EscapeString(title) + "</title></" + closing + ">"
}

// Legend names the series, for a page in which several charts share it.
func Legend(series []Series) string {
	var b strings.Builder
	b.WriteString(`<div class="legend">`)
	for _, s := range series {
		b.WriteString(`<span><svg width="34" height="14" viewBox="0 0 34 14">`)
		if s.Line {
			fmt.Fprintf(&b, `<path d="M1 7H33" fill="none" stroke="%s" stroke-width="%.1f"%s/>`, s.Style.Colour, s.width(), dashed(s.Style.Dash))
		}
		if s.Dots {
			b.WriteString(s.Style.draw(17, 7, 4, ""))
		}
		fmt.Fprintf(&b, `</svg>%s</span>`, html.EscapeString(s.Name))
	}
	b.WriteString("</div>")
	return b.String()
}

func dashed(dash string) string {
	if dash == "" {
		return ""
	}
	return ` stroke-dasharray="` + dash + `"`
}
