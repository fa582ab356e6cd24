// Package plot draws curves, dots, bars and heat maps as SVG that stands alone within a page of HTML.
//
// A [Chart] has two axes and any number of [Series]; [Chart.SVG] is the drawing. [Bars] and [Heat] are the other kinds.
//
//	c := plot.Chart{Title: "100 Mbit/s", X: plot.Axis{Label: "RTT, ms", Log: true}, Y: plot.Axis{Label: "Mbit/s"}}
//	c.Series = append(c.Series, plot.Series{Name: "bdp", Style: plot.StyleOf(0), Points: points, Line: true})
//	page.WriteString(c.SVG())
//
// Styles differ in colour, dash and mark at once, so that many series can be told apart, also in print. [Legend] is one
// for several charts that share their series.
//
// Numbers are rounded to a tenth of a unit of the drawing, and nothing depends on a map's order: equal charts give equal
// text. The package knows nothing of what it draws.
package plot
