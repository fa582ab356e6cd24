package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOutFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"first", "second"} {
		f, err := createOut(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if text == "first" {
			if _, err := os.Stat(path); err == nil {
				t.Error("the file has its name before it is whole")
			}
		} else {
			wantFile(t, path, []byte("first"))
		}
		if err := f.commit(); err != nil {
			t.Fatal(err)
		}
		f.discard()
		wantFile(t, path, []byte(text))
	}
	if diff := cmp.Diff([]string{"file"}, files(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestOutFileKeepsModeAndLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes, and links need a privilege")
	}
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", link); err != nil {
		t.Fatal(err)
	}
	f, err := createOut(link)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	if err := f.commit(); err != nil {
		t.Fatal(err)
	}
	wantFile(t, target, []byte("text"))
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v (%v), want what it was", info.Mode(), err)
	}
	if got, err := os.Readlink(link); err != nil || got != "target" {
		t.Errorf("the link leads to %q (%v), want to where it did", got, err)
	}
}

func TestOutFileThatIsNoFile(t *testing.T) {
	if _, err := createOut(t.TempDir()); err == nil {
		t.Error("a directory was accepted")
	}
	f, err := createOut(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	f.discard()
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("the device is no device any more: %v, %v", info, err)
	}
}
