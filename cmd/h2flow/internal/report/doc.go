// Package report draws the results of measurements as one HTML file that needs nothing else: no network, no script.
//
// A [Report] has a [Cell] for each path that was measured, a cell has a [Row] for each client, and a row has a [Run]
// for each download, with its curves:
//
//	r := report.Report{Size: 10 << 20, Cells: cells}
//	err := r.Write(w)
//
// Everything is drawn in Go, as SVG within the page, in colours that suit a light and a dark screen. The package
// measures nothing and decides nothing: what it is given is what it shows.
package report
