package conformance

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"example.com/h2flow/frame"
)

// A Case is one rule, as a script. The zero value is no case; they come from Cases or Parse.
type Case struct {
	// ID is unique: the requirement that the case is about first of all, and a name where there are several cases of
	// one requirement, such as "9113-6.9-2" or "9113-8.2.2-2/upgrade".
	ID string
	// Section is where the rule stands, such as "RFC 9113, Section 6.9".
	Section string
	// Name is the rule in our words.
	Name string
	// Requirements are the rows of the table of requirements that the case touches; that of the ID comes first.
	Requirements []string
	// Should says that the rule is a recommendation, or a limit that the RFC leaves to the client.
	Should bool
	// Script is the text of the steps.
	Script string

	requests  []Request
	steps     []step
	greeting  []frame.Setting
	ungreeted bool
	needs     string // "no-push", "table-4096": what the client's SETTINGS must say
	steered   bool
}

// A Request is one that a case asks of the client.
type Request struct {
	Method, Path string
}

// What a case may need the client's SETTINGS to say.
const (
	needsNoPush = "no-push"
	needsTable  = "table-4096"
)

// Unread says whether the application leaves the body of the response unread until the end of the case.
func (r Request) Unread() bool { return strings.HasPrefix(r.Path, "/unread") }

// BodyLength is the length of the body of a POST, in octets; other methods have none.
const BodyLength = 100000

// Requests returns what the case asks for, in order. The slice is the caller's.
func (c Case) Requests() []Request { return slices.Clone(c.requests) }

// Steered says whether the client has to be led in the course of the case: to begin a second request only after the
// server has said something, or to leave a body unread. A command that is merely run cannot be.
func (c Case) Steered() bool { return c.steered }

//go:embed cases/*.txt
var files embed.FS

// Cases returns all cases, those of one section together. The slice is the caller's.
func Cases() []Case {
	names, err := fs.Glob(files, "cases/*.txt")
	if err != nil {
		panic("h2flow: bug: " + err.Error())
	}
	slices.SortFunc(names, compareSections)
	var cases []Case
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic("h2flow: bug: " + err.Error())
		}
		list, err := Parse(string(text))
		if err != nil {
			panic("h2flow: bug: " + name + ": " + err.Error())
		}
		cases = append(cases, list...)
	}
	return cases
}

// compareSections sorts by document, RFC 9113 first, and then by section number as people count.
func compareSections(a, b string) int {
	key := func(s string) string {
		s = strings.TrimSuffix(s, ".txt")
		s = strings.TrimPrefix(s, "cases/")
		doc, section, _ := strings.Cut(s, "-")
		if doc == "9113" {
			doc = "0000"
		}
		for _, part := range strings.Split(section, ".") {
			doc += fmt.Sprintf(".%3s", part)
		}
		return doc
	}
	return strings.Compare(key(a), key(b))
}

// Match says whether the case belongs to filter: the beginning of an identifier that ends where a number or a name
// ends, so that 9113-6.1 is not 9113-6.10.
func (c Case) Match(filter string) bool {
	rest, ok := strings.CutPrefix(c.ID, filter)
	return ok && (rest == "" || filter == "" || strings.ContainsRune(".-/", rune(rest[0])) ||
		strings.ContainsRune(".-/", rune(filter[len(filter)-1])))
}

// Parse reads the cases of one section from their text, which the package comment describes. The error names the line.
func Parse(text string) ([]Case, error) {
	p := parser{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	err := p.finish()
	return p.cases, err
}

// A parser reads a file of cases.
//
// Model: the lines of a case are kept until its end, since a case with "each" lines is several: in each of them the
// text of one such line takes the place of "$".
type parser struct {
	section string
	cases   []Case

	id, name string
	lines    []string
	each     [][2]string // name and text
}

func (p *parser) line(line string) error {
	if p.section == "" {
		if !strings.HasPrefix(line, "RFC ") || !strings.Contains(line, ", ") {
			return fmt.Errorf("the first line is not of the form \"RFC 9113, Section 6.9\": %q", line)
		}
		p.section = line
		return nil
	}
	if rest, ok := strings.CutPrefix(line, "case "); ok {
		if err := p.finish(); err != nil {
			return err
		}
		if p.id, p.name, ok = strings.Cut(rest, ": "); !ok {
			return fmt.Errorf("a case begins like \"case 9113-6.9-2: the rule\": %q", line)
		}
		return nil
	}
	if p.id == "" {
		return fmt.Errorf("a step without a case: %q", line)
	}
	if rest, ok := strings.CutPrefix(line, "each "); ok {
		name, text, ok := strings.Cut(rest, ":")
		if !ok {
			return fmt.Errorf("\"each\" is like \"each name: text\": %q", line)
		}
		p.each = append(p.each, [2]string{name, strings.TrimSpace(text)})
		return nil
	}
	p.lines = append(p.lines, line)
	return nil
}

// finish ends the case that is being read.
func (p *parser) finish() error {
	if p.id == "" {
		return nil
	}
	each := p.each
	if len(each) == 0 {
		each = [][2]string{{}}
	}
	for _, e := range each {
		id := p.id
		switch {
		case e[0] == "":
		case strings.Contains(id, "/"):
			id += "-" + e[0]
		default:
			id += "/" + e[0]
		}
		row, _, _ := strings.Cut(p.id, "/")
		c := Case{ID: id, Section: p.section, Name: p.name, Requirements: []string{row}}
		for _, line := range p.lines {
			if err := c.parseLine(strings.ReplaceAll(line, "$", e[1])); err != nil {
				return fmt.Errorf("case %s: %w", id, err)
			}
		}
		if len(c.requests) == 0 || len(c.steps) == 0 {
			return fmt.Errorf("case %s: it needs a request and steps", id)
		}
		p.cases = append(p.cases, c)
	}
	p.id, p.lines, p.each = "", nil, nil
	return nil
}

func (c *Case) parseLine(line string) error {
	key, rest, _ := strings.Cut(line, " ")
	var err error
	switch key {
	case "req:":
		c.Requirements = append(c.Requirements, strings.Fields(rest)...)
	case "level:":
		if c.Should = rest == "should"; !c.Should {
			err = fmt.Errorf("no level %q", rest)
		}
	case "needs:":
		if c.needs = rest; rest != needsNoPush && rest != needsTable {
			err = fmt.Errorf("nothing to need: %q", rest)
		}
	case "greet:":
		c.greeting, err = parseSettings(strings.Fields(rest))
	case "ungreeted":
		c.ungreeted = true
	default:
		err = c.parseStep(line)
	}
	return err
}

func (c *Case) parseStep(line string) error {
	s, err := parseStep(line)
	if err != nil {
		return err
	}
	if s.kind == '=' {
		c.requests = append(c.requests, s.request)
		said := slices.ContainsFunc(c.steps, func(s step) bool { return s.kind != '=' && s.kind != '>' })
		c.steered = c.steered || s.request.Unread() || said && len(c.requests) > 1
	}
	c.steps = append(c.steps, s)
	c.Script += line + "\n"
	return nil
}
