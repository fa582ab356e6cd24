package h2flow_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The module path is a placeholder. Whoever publishes the tree gives it another with one command; what comes out
// builds, tests included, and knows nothing of the old path.
func TestRenameModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds every package again under another path")
	}
	const to = "renamed.example/somebody/flow"
	root := t.TempDir()
	copyTree(t, root)
	env := []string{"GOWORK=" + filepath.Join(root, "go.work")} // whatever this test itself runs with
	goTool(t, root, env, "run", "./internal/rename", to)

	old := []byte(modulePath())
	eachFile(t, root, func(name string, text []byte) {
		if bytes.Contains(text, old) {
			t.Errorf("%s still names %s", name, old)
		}
		if filepath.Base(name) == "go.mod" && bytes.Contains(text, []byte("replace ")) {
			t.Errorf("%s still has a replace line", name)
		}
	})

	// The modules need each other and no version is published, so the workspace ties them, and interop too, which
	// go.work leaves out on purpose. Vetting by one cheap rule type-checks the tests, for less than building them.
	goTool(t, root, env, "work", "use", "./interop")
	goTool(t, root, env, "build", "work")
	goTool(t, root, env, "vet", "-copylocks", "work")
}

// copyTree copies the tree to dir, without version control and without what tools left behind.
func copyTree(t *testing.T, dir string) {
	t.Helper()
	eachFile(t, ".", func(name string, text []byte) {
		target := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, text, 0o644); err != nil {
			t.Fatal(err)
		}
	})
}

// eachFile calls f for every file below root, with its path relative to root.
func eachFile(t *testing.T, root string, f func(name string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Name() == ".git" { // a directory, or a file in a linked working tree
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		f(rel, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// goTool runs the go command in dir, with env added to ours, and returns what it prints.
func goTool(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
