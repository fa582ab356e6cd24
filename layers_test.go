package h2flow_test

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const hpackPath = "golang.org/x/net/http2/hpack"

// A layer says what one package may import and what it may do. Imports point down only.
type layer struct {
	imports []string // packages of ours, by directory; "." is the root
	modules []string // import paths of other modules
	without []string // packages of the standard library that are refused, with all below them
	pure    bool     // reads no clock, starts no goroutine, does no I/O, holds no lock
}

// layers has one row for each package of the root module. A package without a row fails TestLayers: a new package is
// a decision about who may import whom.
var layers = map[string]layer{
	"frame":                {pure: true},
	"flow":                 {pure: true},
	"stream":               {pure: true, imports: []string{"frame"}},
	"strategy":             {pure: true, imports: []string{"flow"}},
	"strategy/peers":       {pure: true, imports: []string{"flow"}},
	"conn":                 {pure: true, imports: []string{"frame", "flow", "stream"}},
	"sim":                  {pure: true, imports: []string{"conn", "frame", "flow", "strategy", "internal/plainfields"}},
	"internal/plainfields": {imports: []string{"frame"}},
	"internal/peer":        {imports: []string{"frame", "internal/plainfields"}, modules: []string{hpackPath}},
	"internal/pipe":        {},
	"internal/httpbench":   {imports: []string{"frame"}},
	"internal/rename":      {},
	"internal/hostile":     {imports: []string{".", "conn", "flow", "frame", "internal/peer", "internal/plainfields", "stream"}},
	"internal/rows":        {},
	"internal/rows/gen":    {imports: []string{"internal/rows"}},
	"flow/flowtest":        {imports: []string{"flow"}},
	".": {
		imports: []string{"conn", "frame", "flow", "stream", "strategy"},
		modules: []string{hpackPath}, // TestHPACKStaysInItsAdapter narrows this to one file
		without: []string{"net/http", "net/rpc", "expvar"},
	},
	"h2http":      {imports: []string{".", "frame", "flow", "strategy", "trace"}},
	"trace":       {imports: []string{".", "frame", "flow"}},
	"conformance": {imports: []string{"frame", "internal/peer"}},
	"fuzz":        {},
}

// impure lists the packages that no pure layer may import, each with all below it, because they bring clocks,
// goroutines, locks or I/O.
var impure = []string{"net", "os", "context", "sync", "log", "syscall", "testing", "runtime", "math/rand", "crypto/rand"}

// impureTime lists what a pure layer may not use of package time: whatever reads the clock or waits for it.
var impureTime = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}

// seededRand lists what a pure layer may use of math/rand and math/rand/v2: generators that it seeds itself.
var seededRand = []string{
	"New", "NewSource", "NewPCG", "NewChaCha8", "NewZipf",
	"Rand", "Source", "Source64", "PCG", "ChaCha8", "Zipf",
}

func TestLayers(t *testing.T) {
	for dir, files := range production(t) {
		if !inModule(dir) {
			continue // the nested modules may use all of the library; nothing of the library can import them
		}
		row, ok := layers[dir]
		if !ok {
			t.Errorf("package %s has no row in layers: say what it may import", dir)
			continue
		}
		for _, file := range files {
			for _, complaint := range row.check(file) {
				t.Error(complaint)
			}
		}
	}
}

// TestLayersCatch shows that each rule finds what it is there for.
func TestLayersCatch(t *testing.T) {
	tests := []struct {
		name string
		row  layer
		code string
		want []string
	}{
		{
			name: "an import upwards",
			row:  layer{imports: []string{"frame"}},
			code: "package p\nimport _ \"" + modulePath() + "/conn\"\nimport _ \"" + modulePath() + "/frame\"",
			want: []string{"p.go:2: imports conn; it may import only [frame]"},
		},
		{
			name: "another module",
			row:  layer{modules: []string{"golang.org/x/net/http2/hpack"}},
			code: "package p\nimport _ \"golang.org/x/net/http2\"\nimport _ \"golang.org/x/net/http2/hpack\"",
			want: []string{"p.go:2: imports golang.org/x/net/http2, of another module"},
		},
		{
			name: "net/http below the root",
			row:  layer{without: []string{"net/http"}},
			code: "package p\nimport _ \"net\"\nimport _ \"net/http/httptrace\"",
			want: []string{"p.go:3: imports net/http/httptrace"},
		},
		{
			name: "impure imports",
			row:  layer{pure: true},
			code: "package p\nimport (\n\t_ \"bytes\"\n\t_ \"context\"\n\t_ \"sync/atomic\"\n\t. \"time\"\n)",
			want: []string{
				"p.go:4: imports context, and is pure",
				"p.go:5: imports sync/atomic, and is pure",
				"p.go:6: imports time by a dot, which hides what is used",
			},
		},
		{
			name: "the clock under another name, and a goroutine",
			row:  layer{pure: true},
			code: "package p\nimport clock \"time\"\nvar now clock.Time\nvar read = clock.Now\nfunc f() { go f() }",
			want: []string{"p.go:4: uses time.Now, and is pure", "p.go:5: starts a goroutine, and is pure"},
		},
		{
			name: "the global random numbers",
			row:  layer{pure: true},
			code: "package p\nimport \"math/rand/v2\"\nvar r = rand.New(rand.NewPCG(1, 2))\nvar n = rand.IntN(3)",
			want: []string{"p.go:4: uses rand.IntN, and is pure"},
		},
		{
			name: "clock and goroutine where they belong",
			code: "package p\nimport \"time\"\nfunc f() { go time.Sleep(1) }",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file, err := parseFile("p.go", []byte(tt.code))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, tt.row.check(file)); diff != "" {
				t.Errorf("complaints (-want +got):\n%s", diff)
			}
		})
	}
}

// check returns what file does against the row, one line each.
func (l layer) check(file source) []string {
	var complaints []string
	complain := func(node ast.Node, format string, args ...any) {
		complaints = append(complaints, file.at(node)+": "+fmt.Sprintf(format, args...))
	}
	for _, spec := range file.file.Imports {
		importPath := importedPath(spec)
		if dir, ok := ours(importPath); ok {
			if !slices.Contains(l.imports, dir) {
				complain(spec, "imports %s; it may import only %v", dir, l.imports)
			}
			continue
		}
		switch {
		case strings.Contains(strings.SplitN(importPath, "/", 2)[0], "."):
			if !slices.Contains(l.modules, importPath) {
				complain(spec, "imports %s, of another module", importPath)
			}
		case below(importPath, l.without):
			complain(spec, "imports %s", importPath)
		case l.pure && below(importPath, impure) && !below(importPath, []string{"math/rand"}):
			complain(spec, "imports %s, and is pure", importPath)
		case l.pure && spec.Name != nil && spec.Name.Name == ".":
			complain(spec, "imports %s by a dot, which hides what is used", importPath)
		}
	}
	if l.pure {
		names := importNames(file.file)
		ast.Inspect(file.file, func(node ast.Node) bool {
			if reason := impurity(node, names); reason != "" {
				complain(node, "%s, and is pure", reason)
			}
			return true
		})
	}
	return complaints
}

// impurity says what node does that a pure package must not, or nothing. Names tells the import path of each name by
// which the file knows a package.
func impurity(node ast.Node, names map[string]string) string {
	switch node := node.(type) {
	case *ast.GoStmt:
		return "starts a goroutine"
	case *ast.SelectorExpr:
		pkg, ok := node.X.(*ast.Ident)
		if !ok {
			return ""
		}
		switch used := node.Sel.Name; names[pkg.Name] {
		case "time":
			if slices.Contains(impureTime, used) {
				return "uses time." + used
			}
		case "math/rand", "math/rand/v2":
			if !slices.Contains(seededRand, used) {
				return "uses rand." + used
			}
		}
	}
	return ""
}

// importedPath is the import path of spec.
func importedPath(spec *ast.ImportSpec) string {
	importPath, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic(err) // the parser has accepted it
	}
	return importPath
}

// importNames maps the names by which file knows packages to their import paths.
func importNames(file *ast.File) map[string]string {
	names := make(map[string]string)
	for _, spec := range file.Imports {
		importPath := importedPath(spec)
		name := path.Base(importPath)
		if name == "v2" {
			name = path.Base(path.Dir(importPath))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = importPath
	}
	return names
}

// below reports whether importPath is one of the roots or lies below one.
func below(importPath string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return importPath == root || strings.HasPrefix(importPath, root+"/")
	})
}

// x/net's HPACK is an implementation behind two interfaces: in the root one file knows it, and nothing else of x/net
// is used outside tests.
func TestHPACKStaysInItsAdapter(t *testing.T) {
	for _, file := range production(t)["."] {
		for _, spec := range file.file.Imports {
			if importPath := importedPath(spec); below(importPath, []string{"golang.org/x/net"}) &&
				(importPath != hpackPath || file.path != "hpack_adapter.go") {
				t.Errorf("%s: imports %s; only hpack_adapter.go may, and only %s", file.at(spec), importPath, hpackPath)
			}
		}
	}
}

// Every WINDOW_UPDATE is a recorded action of the strategy: one function of conn appends the frame, and nobody else in
// the engine does. Packages that play the server are not the engine.
func TestOneFunctionSendsWindowUpdates(t *testing.T) {
	var senders []string
	opens := false // conn has its constructor, so it must also grant
	for dir, files := range production(t) {
		if !inModule(dir) || slices.Contains([]string{"frame", "internal/peer", "internal/hostile", "conformance", "sim"}, dir) {
			continue
		}
		for _, file := range files {
			senders = slices.Concat(senders, windowUpdateSenders(file))
			opens = opens || dir == "conn" && declares(file.file, "New")
		}
	}
	slices.Sort(senders)
	switch {
	case len(senders) == 0 && !opens:
		t.Skip("conn has no constructor, so nothing grants")
	case len(senders) != 1 || !strings.HasPrefix(senders[0], "conn/"):
		t.Errorf("functions that append WINDOW_UPDATE: %q; want exactly one, in conn", senders)
	}
}

func TestOneFunctionSendsWindowUpdatesCatches(t *testing.T) {
	code := `package p
import "example.com/frame"
func call(dst []byte) []byte { return frame.AppendWindowUpdate(dst, 0, 1) }
func value(dst []byte) []byte { return frame.WindowUpdate{Increment: 1}.AppendTo(dst) }
func byHand(dst []byte) []byte { return frame.AppendHeader(dst, frame.Header{Type: frame.TypeWindowUpdate}) }
func reads(h frame.Header) bool { return h.Type == frame.TypeWindowUpdate }
var later = func(dst []byte) []byte { return frame.AppendWindowUpdate(dst, 0, 1) }
`
	file, err := parseFile("p.go", []byte(code))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"p.go:3: call", "p.go:4: value", "p.go:5: byHand", "p.go:7: a declaration"}
	if diff := cmp.Diff(want, windowUpdateSenders(file)); diff != "" {
		t.Errorf("senders (-want +got):\n%s", diff)
	}
}

// windowUpdateSenders returns the functions of file that make a WINDOW_UPDATE frame in any of the three ways: by the
// append function, by the value, by a header of that type.
func windowUpdateSenders(file source) []string {
	var senders []string
	for _, decl := range file.file.Decls {
		makes := false
		ast.Inspect(decl, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.SelectorExpr:
				makes = makes || node.Sel.Name == "AppendWindowUpdate"
			case *ast.CompositeLit:
				makes = makes || selects(node.Type, "WindowUpdate")
			case *ast.CallExpr:
				makes = makes || selects(node.Fun, "AppendHeader") && mentions(node, "TypeWindowUpdate")
			}
			return !makes
		})
		if makes {
			name := "a declaration"
			if fn, ok := decl.(*ast.FuncDecl); ok {
				name = fn.Name.Name
			}
			senders = append(senders, file.at(decl)+": "+name)
		}
	}
	return senders
}

// selects reports whether expr is x.name for some x.
func selects(expr ast.Expr, name string) bool {
	sel, ok := expr.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == name
}

// mentions reports whether x.name for some x occurs in node.
func mentions(node ast.Node, name string) bool {
	found := false
	ast.Inspect(node, func(node ast.Node) bool {
		if expr, ok := node.(ast.Expr); ok && selects(expr, name) {
			found = true
		}
		return !found
	})
	return found
}

// declares reports whether file declares the function name.
func declares(file *ast.File, name string) bool {
	return slices.ContainsFunc(file.Decls, func(decl ast.Decl) bool {
		fn, ok := decl.(*ast.FuncDecl)
		return ok && fn.Recv == nil && fn.Name.Name == name
	})
}

// Every row of layers stays honest: it names only packages that have rows themselves, and nothing above itself.
func TestLayersHaveNoCycle(t *testing.T) {
	var visit func(dir string, above []string)
	visit = func(dir string, above []string) {
		if slices.Contains(above, dir) {
			t.Errorf("layers allow an import cycle: %s", strings.Join(append(above, dir), " -> "))
			return
		}
		row, ok := layers[dir]
		if !ok {
			t.Errorf("layers let %s import %s, which has no row", above[len(above)-1], dir)
		}
		for _, next := range row.imports {
			visit(next, append(slices.Clone(above), dir))
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(layers)) {
		visit(dir, nil)
	}
}
