package conformance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A step is one line of a script.
type step struct {
	line string
	kind byte // the sign at its beginning; 'b' for "barrier"

	request Request // '='
	say     sayer   // '<'
	alts    []alternative
	equal   []bool // which alternatives are as good as the first
	may     bool   // '>': the client may say this, and need not
	total   int    // '>': octets of DATA to come; 0: the step is about one frame
}

// An alternative is one thing that the client, or the application, may do: words that must all be there.
type alternative []string

// isRequest says whether s is about the end of a request.
func (s step) isRequest() bool { return s.kind == '!' && s.request.Method != "" }

func (a alternative) String() string { return strings.Join(a, " ") }

// isError says whether a is a frame that ends a stream or the connection for an error.
func (a alternative) isError() bool {
	return (a[0] == "GOAWAY" || a[0] == "RST_STREAM") && !slices.Contains(a, "code=NO_ERROR")
}

// toTheEnd is the total of a step that wants everything up to END_STREAM.
const toTheEnd = -1

func parseStep(line string) (step, error) {
	if line == "barrier" {
		return step{line: line, kind: 'b'}, nil
	}
	s := step{line: line, kind: line[0]}
	text := line[1:]
	if s.kind == '>' {
		text, s.may = strings.CutPrefix(text, "?")
	}
	words := strings.Fields(text)
	if len(words) == 0 || !strings.ContainsRune("=<>!", rune(s.kind)) {
		return step{}, fmt.Errorf("no step: %q", line)
	}
	var err error
	switch s.kind {
	case '=':
		if len(words) != 2 {
			return step{}, fmt.Errorf("a request is a method and a path: %q", line)
		}
		s.request = Request{words[0], words[1]}
	case '<':
		s.say, err = parseSay(words)
	default:
		err = s.parseWant(words)
	}
	return s, err
}

// parseWant parses what the client or the application is to do.
func (s *step) parseWant(words []string) error {
	for part := range strings.SplitSeq(strings.ReplaceAll(strings.Join(words, " "), "||", "|="), "|") {
		part, equal := strings.CutPrefix(part, "=")
		a := alternative(strings.Fields(part))
		if len(a) == 0 {
			return fmt.Errorf("an alternative is empty: %q", s.line)
		}
		s.alts = append(s.alts, a)
		s.equal = append(s.equal, equal || len(s.equal) == 0)
	}
	if s.kind == '!' {
		if s.alts[0][0] == "closed" {
			return nil
		}
		if len(s.alts[0]) < 3 {
			return fmt.Errorf("an outcome is like \"! GET / 200 len=5\": %q", s.line)
		}
		s.request = Request{s.alts[0][0], s.alts[0][1]}
		s.alts[0] = s.alts[0][2:]
		return nil
	}
	text, ok := strings.CutPrefix(words[len(words)-1], "total=")
	if !ok {
		return nil
	}
	if text == "rest" {
		s.total = toTheEnd
		return nil
	}
	var err error
	if s.total, err = strconv.Atoi(text); err != nil || s.total < 1 || len(words) != 3 {
		return fmt.Errorf("a total is asked for by \"> DATA stream=1 total=5\": %q", s.line)
	}
	return nil
}
