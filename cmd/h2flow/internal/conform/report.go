package conform

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"example.com/h2flow/conformance"
)

// A Report counts outcomes by section. The zero value is not ready; use NewReport.
type Report struct {
	Outcomes []Outcome
	sections []*Score
	index    map[string]*Score
}

// A Score is what the cases of one section, or all of them, came to.
type Score struct {
	Section string `json:"section"`
	Cases   int    `json:"cases"`
	Pass    int    `json:"pass"`
	Allowed int    `json:"allowed"`
	GaveUp  int    `json:"gave_up"`
	Fail    int    `json:"fail"`
	Skipped int    `json:"skipped"`
	// Should is how many of GaveUp and Fail are about what the RFC recommends, or leaves to the client.
	Should int `json:"should"`
	// Known is how many of GaveUp and Fail were expected.
	Known int `json:"known"`
}

// NewReport returns an empty Report.
func NewReport() *Report { return &Report{index: map[string]*Score{}} }

// Add counts o.
func (r *Report) Add(o Outcome) {
	r.Outcomes = append(r.Outcomes, o)
	s := r.index[o.Section]
	if s == nil {
		s = &Score{Section: o.Section}
		r.index[o.Section] = s
		r.sections = append(r.sections, s)
	}
	s.add(o)
}

func (s *Score) add(o Outcome) {
	s.Cases++
	switch o.Verdict {
	case conformance.Pass:
		s.Pass++
	case conformance.Allowed:
		s.Allowed++
	case conformance.GaveUp:
		s.GaveUp++
	case conformance.Skipped:
		s.Skipped++
	default:
		s.Fail++
	}
	if !o.Verdict.Good() && o.Verdict != conformance.Skipped {
		if o.Should {
			s.Should++
		}
		if o.Known != "" {
			s.Known++
		}
	}
}

// Sections are the scores of the sections, in the order of the cases.
func (r *Report) Sections() []Score {
	var all []Score
	for _, s := range r.sections {
		all = append(all, *s)
	}
	return all
}

// Total is the score of all cases.
func (r *Report) Total() Score {
	total := Score{Section: "all"}
	for _, o := range r.Outcomes {
		total.add(o)
	}
	return total
}

// Played is how many cases were played.
func (s Score) Played() int { return s.Cases - s.Skipped }

// Percent is how many of the cases that were played the client kept, in percent, or "-" if none was.
func (s Score) Percent() string {
	if s.Played() == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(s.Pass+s.Allowed)/float64(s.Played()))
}

// WriteOutcome writes one outcome for people: a line, and if the client broke the rule what happened.
func WriteOutcome(w io.Writer, o Outcome) {
	verdict := o.Verdict.String()
	if o.Known != "" && !o.Verdict.Good() {
		verdict = "known"
	}
	level := ""
	if o.Should {
		level = " (should)"
	}
	fmt.Fprintf(w, "%-8s %s%s: %s\n", verdict, o.ID, level, o.Name)
	switch {
	case o.Verdict == conformance.Pass:
	case o.Verdict == conformance.Allowed, o.Verdict == conformance.Skipped:
		fmt.Fprintf(w, "         %s\n", firstLine(o.Reason))
	case o.Known != "":
		fmt.Fprintf(w, "         known: %s\n", o.Known)
	default:
		fmt.Fprintf(w, "         of %s; requirements %s\n", o.Section, strings.Join(o.Requirements, ", "))
		writeIndented(w, o.Reason)
		writeIndented(w, shorten(o.Transcript))
		if o.Output != "" {
			writeIndented(w, "the command printed:\n"+o.Output)
		}
	}
	if o.Known != "" && o.Verdict.Good() {
		fmt.Fprintf(w, "         is no longer a known failure: %s\n", o.Known)
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func writeIndented(w io.Writer, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(w, "         %s\n", strings.TrimRight(line, "\n"))
	}
}

// transcriptEnds is how many lines of a long transcript are shown at either end.
const transcriptEnds = 20

func shorten(transcript string) string {
	lines := strings.Split(transcript, "\n")
	if len(lines) <= 2*transcriptEnds+1 {
		return transcript
	}
	gap := fmt.Sprintf("... %d lines ...", len(lines)-2*transcriptEnds)
	lines = append(append(lines[:transcriptEnds:transcriptEnds], gap), lines[len(lines)-transcriptEnds:]...)
	return strings.Join(lines, "\n")
}

// WriteScores writes the table of scores for people.
func (r *Report) WriteScores(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "cases\tpass\tallowed\tgave up\tfail\tskipped\tscore\t  section")
	for _, s := range append(r.Sections(), r.Total()) {
		fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t%d\t%s\t  %s\n", s.Cases, s.Pass, s.Allowed, s.GaveUp, s.Fail, s.Skipped,
			s.Percent(), s.Section)
	}
	t.Flush()
	if total := r.Total(); total.Should > 0 || total.Known > 0 {
		fmt.Fprintf(w, "\nOf the %d that were not kept, %d are recommendations or limits of the client's own; %d were known.\n",
			total.GaveUp+total.Fail, total.Should, total.Known)
	}
}
