package rows

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// FolderVariable names the environment variable with the folder that Cover writes to.
const FolderVariable = "H2FLOW_COVERAGE"

// Cover says that the test t asserts the rows with these identifiers. An identifier without a row fails the test. It is
// called from the package of the test, or from a helper there. What follows the identifier after a space is ignored, so
// that the name of a subtest may be given.
func Cover(t testing.TB, ids ...string) {
	t.Helper()
	ids = slices.Clone(ids)
	for i, id := range ids {
		ids[i], _, _ = strings.Cut(id, " ")
		if _, err := Find(ids[i]); err != nil {
			t.Error(err)
		}
	}
	dir := os.Getenv(FolderVariable)
	if dir == "" {
		return
	}
	pkg := callersPackage()
	t.Cleanup(func() {
		if t.Failed() || t.Skipped() {
			return
		}
		if err := record(dir, pkg, t.Name(), ids); err != nil {
			t.Error(err)
		}
	})
}

// record appends to the file of this process, one write for all lines, since tests run side by side.
func record(dir, pkg, name string, ids []string) error {
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%d.txt", os.Getpid())), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&lines, "%s\t%s\t%s\n", id, pkg, name)
	}
	_, err = f.WriteString(lines.String())
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// callersPackage is the folder, relative to the module, of the package that called Cover; "." is the root.
func callersPackage() string {
	pcs := make([]uintptr, 1)
	runtime.Callers(3, pcs) // past itself, this function and Cover
	caller, _ := runtime.CallersFrames(pcs).Next()
	module := strings.TrimSuffix(reflect.TypeFor[Row]().PkgPath(), "/internal/rows")
	dir := strings.TrimSuffix(strings.TrimPrefix(packageOf(caller.Function), module), "_test")
	if dir == "" {
		return "."
	}
	return strings.TrimPrefix(dir, "/")
}

// packageOf cuts "example.com/m/p.F.func1" to "example.com/m/p".
func packageOf(function string) string {
	slash := strings.LastIndex(function, "/") + 1
	pkg, _, _ := strings.Cut(function[slash:], ".")
	return function[:slash] + pkg
}

// A Record says that a test covered a row.
type Record struct {
	ID string
	// Package is a folder, relative to the module; "." is the root.
	Package string
	// Test is the name of the test, with those of its subtests.
	Test string
}

// Function is the function that the test is, such as "TestZeroIncrement".
func (r Record) Function() string {
	name, _, _ := strings.Cut(r.Test, "/")
	return name
}

// ReadRecords reads what tests have written to dir.
func ReadRecords(dir string) ([]Record, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	var list []Record
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(cells) != 3 {
				return nil, fmt.Errorf("%s: %q", file, line)
			}
			list = append(list, Record{cells[0], cells[1], cells[2]})
		}
	}
	slices.SortFunc(list, func(a, b Record) int {
		return strings.Compare(a.ID+"\t"+a.Package+"\t"+a.Test, b.ID+"\t"+b.Package+"\t"+b.Test)
	})
	return slices.Compact(list), nil
}
