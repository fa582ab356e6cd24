package stream

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/internal/rows"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; -update rewrites it (-want +got):\n%s", path, diff)
	}
}

// TestTransitions prints every pair of state and input, so that a change of the table is seen in review.
func TestTransitions(t *testing.T) {
	rows.Cover(t, "9113-5.1-5")
	var b strings.Builder
	for s := range numStates {
		fmt.Fprintf(&b, "%s\n", s)
		for in := range numInputs {
			next, v := Next(s, in)
			line := fmt.Sprintf("  %-20s %-36s", in, v)
			if v.Kind == Accept {
				line += " -> " + next.String()
			}
			fmt.Fprintln(&b, strings.TrimRight(line, " "))
		}
	}
	golden(t, "transitions.txt", b.String())
}

func TestPhases(t *testing.T) {
	var b strings.Builder
	for p := range numPhases {
		fmt.Fprintf(&b, "%s\n", p)
		for part := range numParts {
			verdict := "malformed"
			if next, ok := p.Next(part); ok {
				verdict = next.String()
			}
			fmt.Fprintf(&b, "  %-30s %s\n", part, verdict)
		}
	}
	golden(t, "phases.txt", b.String())
}

// TestTableLaws checks what must hold for every pair, whatever the table says.
func TestTableLaws(t *testing.T) {
	for s := range numStates {
		for in := range numInputs {
			next, v := Next(s, in)
			send := in <= SendWindowUpdate
			if send && v.Kind != Accept && v.Kind != Illegal {
				t.Errorf("%s, %s: a local input got the verdict %q of the peer's", s, in, v)
			}
			if !send && v.Kind == Illegal {
				t.Errorf("%s, %s: the peer's input has no verdict", s, in)
			}
			if s.Closed() && (next != s || v.Kind == Accept) {
				t.Errorf("%s, %s: a closed stream moved to %s with verdict %q", s, in, next, v)
			}
			if in == RecvPriority && v.Kind != Accept && v.Kind != Ignore {
				t.Errorf("%s: PRIORITY got %q, though it is acceptable in every state", s, v)
			}
			if s != Idle && v.Kind == Accept && next == Idle {
				t.Errorf("%s, %s: the stream became idle again", s, in)
			}
		}
	}
}
