package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"example.com/h2flow/cmd/h2flow/internal/report"
)

// A grid prints rows below each other, each column as wide as its widest cell: the first one set to the left, the others
// to the right.
type grid struct {
	w    io.Writer
	rows [][]string
}

func newGrid(w io.Writer, heads ...string) *grid { return &grid{w, [][]string{heads}} }

func (c *grid) row(cells ...string) { c.rows = append(c.rows, cells) }

// end prints the rows.
func (c *grid) end() error {
	widths := make([]int, len(c.rows[0]))
	for _, row := range c.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range c.rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch {
			case i == 0:
				line.WriteString(cell + pad)
			default:
				line.WriteString("  " + pad + cell)
			}
		}
		if _, err := fmt.Fprintln(c.w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// roundSize is n octets with three digits or so.
func roundSize(n int64) string { return report.Size(n) }
