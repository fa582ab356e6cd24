package rows_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/h2flow/internal/rows"
)

// Every row for what is received has a mutant, or a reason for having none.
func TestEveryReceivedRowHasAMutant(t *testing.T) {
	mutated := map[string]bool{}
	for _, m := range mutants {
		for _, id := range strings.Fields(m.rows) {
			mutated[id] = true
			if _, err := rows.Find(id); err != nil {
				t.Error(err)
			}
		}
		if _, err := m.apply(); err != nil {
			t.Error(err)
		}
	}
	for _, r := range rows.Table() {
		excused := immutable[r.ID] != "" || rows.Exceptions()[r.ID] != ""
		if r.Receive() && mutated[r.ID] == excused {
			t.Errorf("%s has a mutant: %v, a reason to have none: %v", r.ID, mutated[r.ID], excused)
		}
	}
}

// apply returns the text of the file with the rule turned off.
func (m mutant) apply() (string, error) {
	text, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return "", err
	}
	before, rest := "", string(text)
	if anchor, old, ok := strings.Cut(m.old, "@@"); ok {
		m.old = old
		i := strings.Index(rest, anchor)
		if i < 0 {
			return "", fmt.Errorf("%s: %s has no %q", m.rows, m.file, anchor)
		}
		before, rest = rest[:i], rest[i:]
		if j := strings.Index(rest, old); j >= 0 { // the first after the anchor
			return before + rest[:j] + m.new + rest[j+len(old):], nil
		}
	}
	if n := strings.Count(rest, m.old); n != 1 {
		return "", fmt.Errorf("%s: %s has %d times %q", m.rows, m.file, n, m.old)
	}
	return before + strings.Replace(rest, m.old, m.new, 1), nil
}

// TestRowsBite applies mutants and fails unless a test of each of their rows fails on it. It builds tests anew for each
// mutant, so that it runs when it is asked for alone: H2FLOW_MUTANTS=3/10 takes every tenth mutant from the third on,
// and H2FLOW_LONG=1 all of them. Survivors.txt lists the rows that do not bite; one that does may not be in it.
func TestRowsBite(t *testing.T) {
	from, step := 0, 1
	if part := os.Getenv("H2FLOW_MUTANTS"); part != "" {
		if _, err := fmt.Sscanf(part, "%d/%d", &from, &step); err != nil || step < 1 {
			t.Fatalf("H2FLOW_MUTANTS=%s: want 3/10", part)
		}
	} else if os.Getenv("H2FLOW_LONG") == "" {
		t.Skip("H2FLOW_MUTANTS and H2FLOW_LONG are not set")
	}
	page, err := os.ReadFile(filepath.Join(root, "conformance", "COVERAGE.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed, err := rows.ParsePage(string(page))
	if err != nil {
		t.Fatal(err)
	}
	known, err := os.ReadFile("survivors.txt")
	if err != nil {
		t.Fatal(err)
	}
	survivors := strings.Fields(string(known))
	bitten := 0
	for i := from; i < len(mutants); i += step {
		m := mutants[i]
		t.Run(strconv.Itoa(i)+" "+m.rows, func(t *testing.T) {
			run := newMutantRun(t, m)
			for _, id := range strings.Fields(m.rows) {
				name := strconv.Itoa(i) + ":" + id
				switch bites := run.bites(id, listed[id].Tests); {
				case bites && slices.Contains(survivors, name):
					t.Errorf("%s bites now: take it out of survivors.txt", name)
				case bites:
					bitten++
				case !slices.Contains(survivors, name):
					t.Errorf("%s survives in %s: none of %q fails with\n%s", name, m.file, listed[id].Tests, m.new)
				}
			}
		})
	}
	t.Logf("%d rows bit", bitten)
}

// A mutantRun runs tests over one mutant.
type mutantRun struct {
	t       *testing.T
	overlay string
	failed  map[string]bool // by "package.Test": whether it was run and failed
}

func newMutantRun(t *testing.T, m mutant) *mutantRun {
	t.Helper()
	text, err := m.apply()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	changed := filepath.Join(dir, filepath.Base(m.file))
	original, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		t.Fatal(err)
	}
	run := &mutantRun{t: t, overlay: filepath.Join(dir, "overlay.json"), failed: map[string]bool{}}
	if err := errors.Join(os.WriteFile(changed, []byte(text), 0o666), os.WriteFile(run.overlay, overlay, 0o666)); err != nil {
		t.Fatal(err)
	}
	return run
}

// cheapFirst is the order in which packages are tried.
var cheapFirst = []string{"stream", "frame", "conn", "h2http", "h2flow", "conformance"}

// bites reports whether one of the tests fails.
func (r *mutantRun) bites(id string, tests []string) bool {
	for _, pkg := range cheapFirst {
		var names, fresh []string
		for _, test := range tests {
			if p, name, ok := strings.Cut(test, "."); ok && p == pkg {
				names = append(names, test)
				if _, done := r.failed[test]; !done || r.failed[test] {
					fresh = append(fresh, name)
				}
			}
		}
		if slices.ContainsFunc(names, func(test string) bool { return r.failed[test] }) {
			return true
		}
		switch {
		case len(fresh) == 0:
		case pkg == "conformance":
			// The cases of the row; against the core is enough.
			if r.run(pkg, "^TestCore$/^"+regexp.QuoteMeta(id)+"([^0-9]|$)", nil) {
				return true
			}
		default:
			if r.run(pkg, "^("+strings.Join(fresh, "|")+")$", fresh) {
				return true
			}
		}
	}
	return false
}

var failLine = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// run runs tests of a package and reports whether any failed, which a panic or a hang is too.
func (r *mutantRun) run(pkg, pattern string, names []string) bool {
	r.t.Helper()
	dir := "./" + pkg
	if pkg == "h2flow" {
		dir = "."
	}
	cmd := exec.Command("go", "test", "-count=1", "-timeout=40s", "-vet=off", "-overlay="+r.overlay, "-run="+pattern, dir)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "[build failed]") || strings.Contains(string(out), "[setup failed]") {
		r.t.Fatalf("the mutant does not build:\n%s", out)
	}
	for _, name := range names {
		if err == nil {
			r.failed[pkg+"."+name] = false
		}
	}
	for _, m := range failLine.FindAllStringSubmatch(string(out), -1) {
		r.failed[pkg+"."+m[1]] = true
	}
	return err != nil
}
