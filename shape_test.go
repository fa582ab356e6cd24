package h2flow_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	maxFileLines     = 600
	maxFunctionLines = 70
)

// longFunctions names functions above maxFunctionLines that are better whole, as "dir: name", each with the reason.
var longFunctions = map[string]string{}

// doc.go is the first thing read in each package.
func TestEveryPackageHasADoc(t *testing.T) {
	for dir, files := range production(t) {
		name := files[0].file.Name.Name
		want := "Package " + name + " "
		if name == "main" {
			want = "Command " + path.Base(dir) + " "
		}
		i := slices.IndexFunc(files, func(file source) bool { return path.Base(file.path) == "doc.go" })
		switch {
		case i < 0:
			t.Errorf("package %s has no doc.go", dir)
		case !strings.HasPrefix(files[i].file.Doc.Text(), want):
			t.Errorf("%s: the package comment does not begin with %q", files[i].path, want)
		}
	}
}

// A package that others import shows how, in an example that runs.
func TestEveryExportedPackageHasAnExample(t *testing.T) {
	tests := make(map[string][]*ast.File)
	for _, file := range tree(t) {
		if file.test {
			tests[file.dir()] = append(tests[file.dir()], file.file)
		}
	}
	for dir, files := range production(t) {
		if files[0].file.Name.Name == "main" || strings.Contains("/"+dir+"/", "/internal/") || !exports(files) {
			continue
		}
		runs := slices.ContainsFunc(doc.Examples(tests[dir]...), func(e *doc.Example) bool {
			return e.Output != "" || e.EmptyOutput
		})
		if !runs {
			t.Errorf("package %s has no example with an output comment", dir)
		}
	}
}

// exports reports whether the files declare a function, type, constant or variable that another package can use.
func exports(files []source) bool {
	return slices.ContainsFunc(files, func(file source) bool {
		return slices.ContainsFunc(file.file.Decls, func(decl ast.Decl) bool {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				return decl.Recv == nil && decl.Name.IsExported()
			case *ast.GenDecl:
				return slices.ContainsFunc(decl.Specs, exportedSpec)
			}
			return false
		})
	})
}

// exportedSpec reports whether spec declares an exported name.
func exportedSpec(spec ast.Spec) bool {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return spec.Name.IsExported()
	case *ast.ValueSpec:
		return slices.ContainsFunc(spec.Names, (*ast.Ident).IsExported)
	}
	return false
}

// Small files and small functions; tests may have long functions, since tables are data.
func TestFilesAndFunctionsStaySmall(t *testing.T) {
	for _, file := range tree(t) {
		for _, complaint := range tooLong(file) {
			t.Error(complaint)
		}
	}
}

func TestFilesAndFunctionsStaySmallCatches(t *testing.T) {
	const calls = "\tg()\n"
	arms := func(arm string) string {
		return "\tswitch x {\n" + strings.Repeat(arm, 40) + "\t}\n"
	}
	tests := []struct {
		name string
		path string
		body string
		want []string
	}{
		{name: "68 statements", path: "p.go", body: strings.Repeat(calls, 68)},
		{name: "69 statements", path: "p.go", body: strings.Repeat(calls, 69), want: []string{"p.go:2: f has 71 lines"}},
		{name: "a long test", path: "p_test.go", body: strings.Repeat(calls, 69)},
		{name: "a flat switch", path: "p.go", body: arms("\tcase 1:\n\t\tg()\n")},
		{
			name: "a switch that works",
			path: "p.go",
			body: arms("\tcase 1:\n\t\tg()\n\t\tg()\n"),
			want: []string{"p.go:2: f has 124 lines"},
		},
		{
			name: "a flat switch and more",
			path: "p.go",
			body: strings.Repeat(calls, 69) + arms("\tcase 1:\n"),
			want: []string{"p.go:2: f has 113 lines"},
		},
		{
			name: "a long test file",
			path: "p_test.go",
			body: strings.Repeat(calls, 600),
			want: []string{"p_test.go has 603 lines"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file, err := parseFile(tt.path, []byte("package p\nfunc f() {\n"+tt.body+"}\n"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, tooLong(file)); diff != "" {
				t.Errorf("complaints (-want +got):\n%s", diff)
			}
		})
	}
}

// tooLong says what of file is too long, one line each.
func tooLong(file source) []string {
	var complaints []string
	if file.lines > maxFileLines {
		complaints = append(complaints, fmt.Sprintf("%s has %d lines", file.path, file.lines))
	}
	if file.test {
		return complaints
	}
	for _, decl := range file.file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || longFunctions[file.dir()+": "+fn.Name.Name] != "" {
			continue
		}
		lines := file.span(fn)
		if lines-file.flatSwitches(fn) > maxFunctionLines {
			complaints = append(complaints, fmt.Sprintf("%s: %s has %d lines", file.at(fn), fn.Name.Name, lines))
		}
	}
	return complaints
}

// span is how many lines node covers, without its doc comment.
func (s source) span(node ast.Node) int {
	return s.fset.Position(node.End()).Line - s.fset.Position(node.Pos()).Line + 1
}

// flatSwitches counts the lines of switches in fn that only dispatch: at most one statement an arm.
func (s source) flatSwitches(fn *ast.FuncDecl) int {
	lines := 0
	ast.Inspect(fn, func(node ast.Node) bool {
		var body *ast.BlockStmt
		switch node := node.(type) {
		case *ast.SwitchStmt:
			body = node.Body
		case *ast.TypeSwitchStmt:
			body = node.Body
		default:
			return true
		}
		works := slices.ContainsFunc(body.List, func(arm ast.Stmt) bool { return len(arm.(*ast.CaseClause).Body) > 1 })
		if works {
			return true
		}
		lines += s.span(body)
		return false
	})
	return lines
}
