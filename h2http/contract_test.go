package h2http_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updateContract = flag.Bool("update-contract", false, "write docs/contract.md")

// TestContractHasATestForEachStatement makes docs/contract.md from the table and the comments of the tests. Each statement
// needs a test, and no test may name a statement that there is not. The page is written by -update-contract.
func TestContractHasATestForEachStatement(t *testing.T) {
	covered, err := coveringTests("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range contract {
		if len(covered[s.id]) == 0 {
			t.Errorf("no test checks %s: %s", s.id, s.text)
		}
	}
	known := map[string]bool{}
	for _, s := range contract {
		if known[s.id] {
			t.Errorf("two statements are called %s", s.id)
		}
		known[s.id] = true
	}
	for id, tests := range covered {
		if !known[id] {
			t.Errorf("%v: there is no statement %s", tests, id)
		}
	}
	page := contractPage(covered)
	const path = "../docs/contract.md"
	if *updateContract {
		if err := os.WriteFile(path, page, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if on, err := os.ReadFile(path); err != nil || !bytes.Equal(on, page) {
		t.Errorf("docs/contract.md is not what the tests say; run this test with -update-contract (%v)", err)
	}
}

func contractPage(covered map[string][]string) []byte {
	var b bytes.Buffer
	b.WriteString("# What callers rely on, and the tests of it\n\n" +
		"Made by `go test ./h2http -run TestContract -update-contract`; edit `h2http/contract_table_test.go`, or the\n" +
		"comments of the tests, instead. That test fails if a statement has no test.\n\n" +
		"| id | statement | tests |\n|---|---|---|\n")
	for _, s := range contract {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s.id, s.text, strings.Join(covered[s.id], "<br>"))
	}
	return b.Bytes()
}

// coveringTests finds the tests below root, as "directory: name", by the statements that they check.
func coveringTests(root string) (map[string][]string, error) {
	covered := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() != ".." && strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && isTest(fn.Name.Name) {
				for _, id := range statementsOf(fn) {
					covered[id] = append(covered[id], "`"+rel+": "+fn.Name.Name+"`")
				}
			}
		}
		return nil
	})
	for _, tests := range covered {
		slices.Sort(tests)
	}
	return covered, err
}

func isTest(name string) bool {
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Example") || strings.HasPrefix(name, "Fuzz")
}

var (
	behaviourName = regexp.MustCompile(`^TestB[0-9]{2}`)
	contractLine  = regexp.MustCompile(`(?m)^Contract: (.*)$`)
	statementID   = regexp.MustCompile(`^[A-Z][0-9]+[a-z]?$`)
)

// statementsOf is what a test says it checks.
func statementsOf(fn *ast.FuncDecl) []string {
	var ids []string
	if m := behaviourName.FindString(fn.Name.Name); m != "" {
		ids = append(ids, strings.TrimPrefix(m, "Test"))
	}
	for _, m := range contractLine.FindAllStringSubmatch(fn.Doc.Text(), -1) {
		for id := range strings.SplitSeq(strings.TrimSuffix(m[1], "."), ",") {
			ids = append(ids, strings.TrimSpace(id))
		}
	}
	return ids
}

// TestStatementsOfCatches shows that a statement is found where it is named, and that a line which names none is not
// taken for one.
func TestStatementsOfCatches(t *testing.T) {
	const src = `package p
// TestB12Queue waits.
//
// Contract: P4, P5.
func TestB12Queue(t *testing.T) {}

// TestOther is about the Contract: of others.
func TestOther(t *testing.T) {}
`
	f, err := parser.ParseFile(token.NewFileSet(), "p_test.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, decl := range f.Decls {
		got = append(got, strings.Join(statementsOf(decl.(*ast.FuncDecl)), " "))
	}
	if want := []string{"B12 P4 P5", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, s := range contract {
		if !statementID.MatchString(s.id) || s.text == "" {
			t.Errorf("statement %q: %q", s.id, s.text)
		}
	}
}
