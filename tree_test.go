package h2flow_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A source is one parsed Go file of the tree, of whatever module.
type source struct {
	path  string // slash-separated, relative to the root
	fset  *token.FileSet
	file  *ast.File
	lines int
	test  bool
}

// dir is the file's directory relative to the root; "." is the root itself.
func (s source) dir() string { return path.Dir(s.path) }

// at is the position of node as path:line.
func (s source) at(node ast.Node) string {
	p := s.fset.Position(node.Pos())
	p.Filename, p.Column = s.path, 0
	return p.String()
}

// modulePath is the module path that go.mod states.
var modulePath = sync.OnceValue(func() string {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(rest)
		}
	}
	panic("go.mod states no module path")
})

// ours returns the directory, relative to the root, of an import path of this project.
func ours(importPath string) (dir string, ok bool) {
	if importPath == modulePath() {
		return ".", true
	}
	return strings.CutPrefix(importPath, modulePath()+"/")
}

// parseTree parses every Go file below the root, once: the layering, doc and length rules all look at the same files.
var parseTree = sync.OnceValues(func() ([]source, error) {
	var sources []source
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") {
			return nil
		}
		src, err := parseFile(name, nil)
		sources = append(sources, src)
		return err
	})
	return sources, err
})

// parseFile parses one file, or text under its name if text is not nil.
func parseFile(name string, text []byte) (source, error) {
	if text == nil {
		var err error
		if text, err = os.ReadFile(name); err != nil {
			return source{}, err
		}
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return source{
		path:  filepath.ToSlash(name),
		fset:  fset,
		file:  file,
		lines: strings.Count(string(text), "\n"),
		test:  strings.HasSuffix(name, "_test.go"),
	}, err
}

// tree returns every Go file below the root.
func tree(t *testing.T) []source {
	t.Helper()
	sources, err := parseTree()
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

// production returns the files that are not tests, by directory.
func production(t *testing.T) map[string][]source {
	t.Helper()
	byDir := make(map[string][]source)
	for _, s := range tree(t) {
		if !s.test {
			byDir[s.dir()] = append(byDir[s.dir()], s)
		}
	}
	return byDir
}

// inModule reports whether dir belongs to the root module and not to a nested one.
func inModule(dir string) bool {
	return !slices.ContainsFunc([]string{"cmd", "interop"}, func(nested string) bool {
		return dir == nested || strings.HasPrefix(dir, nested+"/")
	})
}
