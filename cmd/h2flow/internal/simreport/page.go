package simreport

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"

	"example.com/h2flow/cmd/h2flow/internal/plot"
	"example.com/h2flow/cmd/h2flow/internal/sweep"
	"example.com/h2flow/flow"
	"example.com/h2flow/sim"
)

// A Page is the whole report.
type Page struct {
	Title    string // empty means a general one
	Outcomes []sweep.Outcome
	// Strategy reads the name of a strategy, to simulate one cell again. Strategies that it does not know have no
	// course over time.
	Strategy func(string) (flow.Config, error)
}

//go:embed page.css
var styleSheet string

// Write writes the page.
func (p Page) Write(w io.Writer) error {
	title := p.Title
	if title == "" {
		title = "Flow control in virtual time"
	}
	b := &builder{table: newTable(p.Outcomes), page: p}
	b.printf(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>%s</title><style>%s</style></head><body>
<h1>%s</h1>
`, html.EscapeString(title), styleSheet, html.EscapeString(title))
	if len(b.table.rows) == 0 {
		b.printf("<p>There is no record to draw.</p>")
	} else {
		b.summary()
		b.goodput()
		b.heat()
		b.memory()
		b.course()
		b.frames()
		b.fairness()
	}
	b.printf("</body></html>\n")
	_, err := io.WriteString(w, b.text.String())
	return err
}

// A builder collects the page.
type builder struct {
	page  Page
	table *table
	text  strings.Builder
}

func (b *builder) printf(format string, args ...any) { fmt.Fprintf(&b.text, format, args...) }

func (b *builder) section(title, about string) {
	b.printf("<h2>%s</h2>\n<p>%s</p>\n", title, about)
}

// shownPanels is how many panels of a section are shown at once; the others are shown on demand.
const shownPanels = 9

// grid puts panels side by side.
func (b *builder) grid(panels []string) {
	b.printf("<div class=\"grid\">%s</div>\n", strings.Join(panels[:min(len(panels), shownPanels)], ""))
	if rest := panels[min(len(panels), shownPanels):]; len(rest) > 0 {
		b.printf("<details><summary>%d more</summary><div class=\"grid\">%s</div></details>\n", len(rest), strings.Join(rest, ""))
	}
}

// style is the style of a strategy, the same in all charts.
func (b *builder) style(strategy string) plot.Style {
	if strategy == yardstick { // what the others are compared with lies behind them
		return plot.Style{Colour: "#b8b8b8"}
	}
	i := 0
	for _, s := range b.table.strategies {
		if s == strategy {
			return plot.StyleOf(i)
		}
		if s != yardstick {
			i++
		}
	}
	return plot.Style{Colour: "#888"}
}

// legend names all strategies.
func (b *builder) legend(line, dots bool) {
	var list []plot.Series
	for _, s := range b.table.strategies {
		list = append(list, plot.Series{Name: s, Style: b.style(s), Line: line, Dots: dots, Wide: s == yardstick})
	}
	b.printf("%s\n", plot.Legend(list))
}

// summary is the table of the strategies.
func (b *builder) summary() {
	b.printf("<p>%d cells, %d requests, %d strategies. Times of several cells are medians; a window is what was unread plus "+
		"what the server might still send.</p>\n", len(b.page.Outcomes), len(b.table.rows), len(b.table.strategies))
	b.printf(`<div class="wide"><table><tr><th>strategy</th><th>requests</th><th>not ok</th><th>time, × unlimited<br>median</th>` +
		`<th>× unlimited<br>worst</th><th>time, × ideal<br>median</th><th>peak window</th><th>peak window, × BDP<br>median</th>` +
		`<th>peak unread</th><th>frames per MiB<br>median</th></tr>` + "\n")
	_, groups := groupBy(b.table.rows, func(r row) string { return r.Strategy })
	for _, s := range b.table.strategies {
		rows := groups[s]
		notOK := 0
		for _, r := range rows {
			if r.Outcome != sim.OutcomeOK {
				notOK++
			}
		}
		versus := spreadOf(rows, func(r row) float64 { return r.versus })
		window := spreadOf(rows, func(r row) float64 { return float64(r.PeakWindowBytes) })
		unread := spreadOf(rows, func(r row) float64 { return float64(r.PeakBufferedBytes) })
		b.printf("<tr><td>%s</td><td>%d</td><td>%d</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
			html.EscapeString(s), len(rows), notOK, number(versus.median, 4), number(versus.high, 4),
			number(spreadOf(rows, func(r row) float64 { return r.RatioToIdeal }).median, 4), plot.Octets(window.high),
			number(spreadOf(rows, row.windowPerBDP).median, 3), plot.Octets(unread.high),
			number(spreadOf(rows, row.framesPerMiB).median, 3))
	}
	b.printf("</table></div>\n")
}

// number is v with that many digits, or a dash.
func number(v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}
