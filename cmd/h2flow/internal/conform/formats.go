package conform

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"

	"example.com/h2flow/conformance"
)

// jsonOutcome is the line of JSON for one case.
type jsonOutcome struct {
	Case         string              `json:"case"`
	Section      string              `json:"section"`
	Requirements []string            `json:"requirements"`
	Rule         string              `json:"rule"`
	Level        string              `json:"level"`
	Verdict      conformance.Verdict `json:"verdict"`
	Known        string              `json:"known"`
	Reason       string              `json:"reason"`
	Seconds      float64             `json:"seconds"`
	Transcript   string              `json:"transcript"`
	Output       string              `json:"output"`
}

// WriteJSON writes one outcome as a line of JSON. Transcript and output are empty unless the client broke the rule.
func WriteJSON(w io.Writer, o Outcome) error {
	line := jsonOutcome{
		Case: o.ID, Section: o.Section, Requirements: o.Requirements, Rule: o.Name, Level: Level(o.Case),
		Verdict: o.Verdict, Known: o.Known, Reason: o.Reason, Seconds: o.Time.Seconds(),
	}
	if o.Err() != nil {
		line.Transcript, line.Output = shorten(o.Transcript), o.Output
	}
	return json.NewEncoder(w).Encode(line)
}

// Level is "must", or "should" for what is recommended or left to the client.
func Level(c conformance.Case) string {
	if c.Should {
		return "should"
	}
	return "must"
}

// WriteJSON writes the scores as one line of JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	return json.NewEncoder(w).Encode(struct {
		Total    Score   `json:"total"`
		Sections []Score `json:"sections"`
	}{r.Total(), r.Sections()})
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes all outcomes as JUnit's XML, a suite for each section. A known failure counts as skipped.
func (r *Report) WriteJUnit(w io.Writer) error {
	var all junitSuites
	for _, o := range r.Outcomes {
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != o.Section {
			all.Suites = append(all.Suites, junitSuite{Name: o.Section})
		}
		s := &all.Suites[len(all.Suites)-1]
		c := junitCase{Class: o.Section, Name: o.ID + ": " + o.Name, Time: fmt.Sprintf("%.3f", o.Time.Seconds())}
		switch {
		case o.Bad():
			c.Failure = &junitMessage{Message: o.Verdict.String() + ": " + firstLine(o.Reason),
				Text: o.Reason + "\n" + shorten(o.Transcript)}
			c.Output = o.Output
			s.Failures++
			all.Failures++
		case !o.Verdict.Good():
			reason := o.Reason
			if o.Known != "" {
				reason = "known: " + o.Known
			}
			c.Skipped = &junitMessage{Message: reason}
			s.Skipped++
			all.Skipped++
		}
		s.Tests++
		all.Tests++
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
