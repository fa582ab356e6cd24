package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReplacePath(t *testing.T) {
	tests := []struct {
		name string
		text string
		want string
	}{
		{name: "an import", text: `import "a.test/old/conn"`, want: `import "b.test/new/conn"`},
		{name: "alone, at both ends", text: `a.test/old`, want: `b.test/new`},
		{name: "at the end of a sentence", text: `It is a.test/old. Then`, want: `It is b.test/new. Then`},
		{name: "with a version", text: `a.test/old@v0.0.0`, want: `b.test/new@v0.0.0`},
		{name: "twice in a line", text: `-replace=a.test/old=../here a.test/old`, want: `-replace=b.test/new=../here b.test/new`},
		{name: "in a URL", text: `https://a.test/old/issues`, want: `https://b.test/new/issues`},
		{name: "a longer element", text: `a.test/older a.test/old-tools a.test/old.v2`, want: `a.test/older a.test/old-tools a.test/old.v2`},
		{name: "a longer host", text: `data.test/old`, want: `data.test/old`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, string(replacePath([]byte(tt.text), "a.test/old", "b.test/new"))); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRename(t *testing.T) {
	before := map[string]string{
		"go.mod":       "module a.test/old\n\ngo 1.26.0\n",
		"cmd/x/go.mod": "module a.test/old/cmd/x\n\nrequire a.test/old v0.0.0\n\nreplace a.test/old => ../..\n",
		"p.go":         "package p\n\nimport (\n\t_ \"a.test/old/q\"\n\t_ \"b.test/a\"\n)\n",
		"README.md":    "Import a.test/old.\n",
		"other.txt":    "nothing to do with a.test/older\n",
		"binary":       "a.test/old\x00",
		".git/config":  "a.test/old\n",
	}
	root := t.TempDir()
	for name, text := range before {
		writeFile(t, filepath.Join(root, name), text)
	}
	changed, err := rename(root, "b.test/new")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"README.md", "cmd/x/go.mod", "go.mod", "p.go"}, changed); diff != "" {
		t.Errorf("changed files (-want +got):\n%s", diff)
	}
	want := map[string]string{
		"go.mod":       "module b.test/new\n\ngo 1.26.0\n",
		"cmd/x/go.mod": "module b.test/new/cmd/x\n\nrequire b.test/new v0.0.0\n",
		"p.go":         "package p\n\nimport (\n\t_ \"b.test/a\"\n\t_ \"b.test/new/q\"\n)\n",
		"README.md":    "Import b.test/new.\n",
		"other.txt":    "nothing to do with a.test/older\n",
		"binary":       "a.test/old\x00",
		".git/config":  "a.test/old\n",
	}
	got := make(map[string]string)
	for name := range before {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = string(text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}

func TestRenameRefuses(t *testing.T) {
	good := t.TempDir()
	writeFile(t, filepath.Join(good, "go.mod"), "module a.test/old\n")
	pathless := t.TempDir()
	writeFile(t, filepath.Join(pathless, "go.mod"), "go 1.26.0\n")
	tests := []struct {
		name string
		root string
		to   string
	}{
		{name: "no host", root: good, to: "h2flow"},
		{name: "a URL", root: good, to: "https://b.test/new"},
		{name: "a slash at the end", root: good, to: "b.test/new/"},
		{name: "a space", root: good, to: "b.test/my flow"},
		{name: "a place without go.mod", root: t.TempDir(), to: "b.test/new"},
		{name: "a go.mod without a path", root: pathless, to: "b.test/new"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if changed, err := rename(tt.root, tt.to); err == nil {
				t.Errorf("rename to %q was accepted and changed %v", tt.to, changed)
			}
		})
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
