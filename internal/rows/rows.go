package rows

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// A Row is one observable behaviour that binds a client.
type Row struct {
	// ID is the RFC, the section and a number, such as "9113-6.9.1-4".
	ID string
	// Level is M (must), MN (must not), S (should), SN (should not), P (may) or D (stated without a keyword).
	Level string
	// Side is S for what the client sends, R for how it takes what it receives, S/R for both, and C for configuration,
	// API and TLS.
	Side string
	// Text is the requirement in our words. CE(x) is an error of the connection with code x, SE(x) one of the stream,
	// malformed is RFC 9113, Section 8.1.1, and (push) is for the time before the server knows that push is off.
	Text string
}

// Receive reports whether the row is about what the client receives.
func (r Row) Receive() bool { return strings.Contains(r.Side, "R") }

// Document returns "RFC 9113" for "9113-6.9.1-4", and Section "6.9.1".
func (r Row) Document() string { return "RFC " + strings.SplitN(r.ID, "-", 2)[0] }

// Section is the section of the RFC; see Document.
func (r Row) Section() string { return strings.Split(r.ID, "-")[1] }

//go:embed rows.txt
var rowsText string

//go:embed exceptions.txt
var exceptionsText string

// Table returns all rows in the order of the RFCs. The slice must not be changed.
var Table = sync.OnceValue(func() []Row {
	var table []Row
	for line := range strings.Lines(rowsText) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != 4 {
			panic("h2flow: bug: rows.txt: " + line)
		}
		table = append(table, Row{cells[0], cells[1], cells[2], cells[3]})
	}
	return table
})

// Exceptions returns the rows that no test can cover, each with the reason. The map must not be changed.
var Exceptions = sync.OnceValue(func() map[string]string {
	reasons := map[string]string{}
	for line := range strings.Lines(exceptionsText) {
		id, reason, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			panic("h2flow: bug: exceptions.txt: " + line)
		}
		reasons[id] = reason
	}
	return reasons
})

// byID finds rows by their identifiers.
var byID = sync.OnceValue(func() map[string]Row {
	m := map[string]Row{}
	for _, r := range Table() {
		m[r.ID] = r
	}
	return m
})

// Find returns the row with that identifier.
func Find(id string) (Row, error) {
	r, ok := byID()[id]
	if !ok {
		return Row{}, fmt.Errorf("there is no row %q", id)
	}
	return r, nil
}
