package conformance

import (
	_ "embed"
	"strings"
)

// Rows are requirements for which there is no case, and why.
type Rows struct {
	Reason string
	IDs    []string
}

//go:embed rows.txt
var rowsText string

// Always returns the requirements that are checked of every frame in every case.
func Always() []string {
	var ids []string
	for _, r := range parseRows("always: ") {
		ids = append(ids, r.IDs...)
	}
	return ids
}

// Unshown returns the requirements that a server cannot see kept or broken, or that the cases do not reach.
func Unshown() []Rows { return parseRows("unshown: ") }

func parseRows(kind string) []Rows {
	var all []Rows
	wanted := false
	for line := range strings.Lines(rowsText) {
		line = strings.TrimSpace(line)
		reason, begins := strings.CutPrefix(line, kind)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case begins:
			wanted = true
			all = append(all, Rows{Reason: reason})
		case strings.Contains(line, ": "):
			wanted = false
		case wanted:
			last := &all[len(all)-1]
			last.IDs = append(last.IDs, strings.Fields(line)...)
		}
	}
	return all
}
