package conformance

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// A Case is one rule, as a script. The zero value is no case; they come from Cases or Parse.
type Case struct {
	// ID is unique, such as "9113-6.9-2": the requirement that the case is about first of all.
	ID string
	// Section is where the rule stands, such as "RFC 9113, Section 6.9".
	Section string
	// Name is the rule in our words.
	Name string
	// Requirements are the rows of the table of requirements that the case touches; ID is among them.
	Requirements []string
	// Script is the text of the steps.
	Script string

	steps []step
}

//go:embed cases/*.txt
var files embed.FS

// Cases returns all cases, in the order of their identifiers. The slice is the caller's.
func Cases() []Case {
	names, err := fs.Glob(files, "cases/*.txt")
	if err != nil {
		panic("h2flow: bug: " + err.Error())
	}
	var cases []Case
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic("h2flow: bug: " + err.Error())
		}
		c, err := Parse(strings.TrimSuffix(strings.TrimPrefix(name, "cases/"), ".txt"), string(text))
		if err != nil {
			panic("h2flow: bug: " + err.Error())
		}
		cases = append(cases, c)
	}
	return cases
}

// Parse reads a case from its text, which the package comment describes. The error names the line.
func Parse(id, text string) (Case, error) {
	c := Case{ID: id}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := c.parseLine(line); err != nil {
			return Case{}, fmt.Errorf("case %s, line %d: %w", id, i+1, err)
		}
	}
	if len(c.Requirements) == 0 || len(c.steps) == 0 {
		return Case{}, fmt.Errorf("case %s: it needs requirements and steps", id)
	}
	return c, nil
}

func (c *Case) parseLine(line string) error {
	if c.Section == "" {
		section, name, ok := strings.Cut(line, ": ")
		if !ok || !strings.HasPrefix(section, "RFC ") {
			return fmt.Errorf("the first line is not of the form \"RFC 9113, Section 6.9: the rule\"")
		}
		c.Section, c.Name = section, name
		return nil
	}
	if rest, ok := strings.CutPrefix(line, "req:"); ok {
		c.Requirements = append(c.Requirements, strings.Fields(rest)...)
		return nil
	}
	s, err := parseStep(line)
	if err != nil {
		return err
	}
	c.steps = append(c.steps, s)
	c.Script += line + "\n"
	return nil
}
