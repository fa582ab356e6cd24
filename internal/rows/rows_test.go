package rows_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/internal/rows"
)

const root = "../.."

func TestTable(t *testing.T) {
	levels, sides := []string{"M", "MN", "S", "SN", "P", "D"}, []string{"S", "R", "S/R", "C"}
	id := regexp.MustCompile(`^(9113|7541|9110|8441|7838|8336|9218)-([0-9]+|A)(\.[0-9]+)*-[0-9]+$`)
	seen := map[string]bool{}
	receive := 0
	for _, r := range rows.Table() {
		switch {
		case !id.MatchString(r.ID), seen[r.ID]:
			t.Errorf("identifier %q, twice: %v", r.ID, seen[r.ID])
		case !slices.Contains(levels, r.Level), !slices.Contains(sides, r.Side), !strings.HasSuffix(r.Text, ".") && !strings.HasSuffix(r.Text, ")"):
			t.Errorf("%+v", r)
		}
		seen[r.ID] = true
		if r.Receive() {
			receive++
		}
	}
	if len(seen) != 357 || receive != 219 {
		t.Errorf("%d rows, %d of them for what is received; want 357 and 219", len(seen), receive)
	}
	for id, reason := range rows.Exceptions() {
		if !seen[id] || len(reason) < 20 {
			t.Errorf("exception %q: %q", id, reason)
		}
	}
}

// Cover writes a line for each row of a test that passed, and none for one that failed or was skipped.
func TestCover(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(rows.FolderVariable, dir)
	t.Run("passes", func(t *testing.T) { rows.Cover(t, "9113-6.9-2", "7541-A-1") })
	t.Run("is skipped", func(t *testing.T) {
		rows.Cover(t, "9113-6.9-3")
		t.Skip("to see that it does not count")
	})
	failing := &failing{TB: t}
	rows.Cover(failing, "9113-6.9-4")
	rows.Cover(failing, "9113-0-0")
	for _, f := range failing.cleanups {
		f()
	}
	got, err := rows.ReadRecords(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []rows.Record{
		{ID: "7541-A-1", Package: "internal/rows", Test: "TestCover/passes"},
		{ID: "9113-6.9-2", Package: "internal/rows", Test: "TestCover/passes"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`there is no row "9113-0-0"`}, failing.errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

// failing is a test that has failed.
type failing struct {
	testing.TB
	errors   []string
	cleanups []func()
}

func (f *failing) Failed() bool       { return true }
func (f *failing) Cleanup(fun func()) { f.cleanups = append(f.cleanups, fun) }
func (f *failing) Error(args ...any)  { f.errors = append(f.errors, args[0].(error).Error()) }

// COVERAGE.md has each row once, with tests that there are, or with the reason that exceptions.txt has.
func TestEveryRowIsCovered(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "conformance", "COVERAGE.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed, err := rows.ParsePage(string(page))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows.Table() {
		l, ok := listed[r.ID]
		reason := rows.Exceptions()[r.ID]
		switch {
		case !ok:
			t.Errorf("%s is not in COVERAGE.md: generate it again", r.ID)
		case l.Text != r.Text || l.Reason != reason:
			t.Errorf("%s differs in COVERAGE.md: generate it again\n%+v", r.ID, l)
		case (len(l.Tests) == 0) == (reason == ""):
			t.Errorf("%s is covered by %q, its exception is %q; want one of the two", r.ID, l.Tests, reason)
		}
		for _, test := range l.Tests {
			if !exists(t, test) {
				t.Errorf("%s: there is no test %s", r.ID, test)
			}
		}
		delete(listed, r.ID)
	}
	for id := range listed {
		t.Errorf("COVERAGE.md has %s, which is no row", id)
	}
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)

// functions are the tests of each package that was asked for.
var functions = map[string][]string{}

// exists reports whether there is a test "conn.TestTour".
func exists(t *testing.T, test string) bool {
	t.Helper()
	dir, name, _ := strings.Cut(test, ".Test")
	if dir == "h2flow" {
		dir = "."
	}
	if functions[dir] == nil {
		files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests in %s: %v", dir, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range testFunction.FindAllStringSubmatch(string(text), -1) {
				functions[dir] = append(functions[dir], m[1])
			}
		}
	}
	return slices.Contains(functions[dir], "Test"+name)
}
