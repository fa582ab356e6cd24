package h2flow_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A stranger who follows "Use it in your own module" with the embedding example gets a module that builds.
func TestReadmeStepsInAnotherModule(t *testing.T) {
	if testing.Short() {
		t.Skip("resolves the dependencies of another module")
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	if err := os.Symlink(root, filepath.Join(parent, "h2flow")); err != nil {
		t.Skipf("the steps name ../h2flow, and this system makes no symbolic link: %v", err)
	}
	module := filepath.Join(parent, "yours")
	if err := os.Mkdir(module, 0o755); err != nil {
		t.Fatal(err)
	}
	// All that is needed was downloaded to build this test; the network is not.
	env := []string{"GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off", "GOSUMDB=off"}
	goTool(t, module, env, "mod", "init", "yours.example/program")
	example := embeddingExample(t)
	if err := os.WriteFile(filepath.Join(module, "client.go"), []byte("package program\n\n"+example), 0o644); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(fenced(t, "sh", "go mod edit")) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "go" {
			t.Fatalf("README.md: %q is no go command; this test follows only those", line)
		}
		goTool(t, module, env, words[1:]...)
	}
	goTool(t, module, env, "vet", "./...")
}

// The embedding example is short enough to be read at once.
func TestReadmeExampleHasTwelveLines(t *testing.T) {
	if n := strings.Count(embeddingExample(t), "\n"); n != 12 {
		t.Errorf("the embedding example has %d lines, want 12", n)
	}
}

// The package map names every package that others can import, and no other.
func TestReadmeMapsEveryPackage(t *testing.T) {
	var want []string
	for dir := range production(t) {
		if inModule(dir) && !strings.Contains("/"+dir+"/", "/internal/") {
			want = append(want, dir)
		}
	}
	_, table, ok := strings.Cut(readme(t), "\n## Packages\n")
	if !ok {
		t.Fatal("README.md has no section Packages")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	mapped := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` ").FindAllStringSubmatch(table, -1) {
		switch dir := row[1]; dir {
		case "h2flow":
			mapped["."] = true
		case "cmd/h2flow", "interop": // other modules
		default:
			mapped[dir] = true
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(mapped))); diff != "" {
		t.Errorf("packages in the map (-want +got):\n%s", diff)
	}
}

// readme is the text of README.md.
func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// embeddingExample is the Go code of README.md that puts h2http under an http.Client.
func embeddingExample(t *testing.T) string {
	t.Helper()
	return fenced(t, "go", "h2http.Transport")
}

// fenced returns the first code block of README.md in that language that contains part.
func fenced(t *testing.T, language, part string) string {
	t.Helper()
	for _, block := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(readme(t), -1) {
		if block[1] == language && strings.Contains(block[2], part) {
			return block[2]
		}
	}
	t.Fatalf("README.md has no %s block with %q", language, part)
	return ""
}
