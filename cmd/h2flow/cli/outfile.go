package cli

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// An outFile is a file that appears under its name only once it is whole: until then it is written under a temporary
// name in the same directory. Something that is there already and is no regular file, such as a device or a pipe, is
// written to directly, and a symbolic link stays one: its target is replaced.
type outFile struct {
	*os.File
	path string // where the file goes; empty if it is written there already
	over bool   // it was committed or discarded
}

// createOut opens the file for path. The caller ends it with commit or discard.
func createOut(path string) (*outFile, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(0o666)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, &fs.PathError{Op: "write", Path: path, Err: errors.New("it is a directory")}
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &outFile{File: f}, nil
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()[:8]+".part")
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	return &outFile{File: f, path: path}, nil
}

// commit gives the file its name.
func (f *outFile) commit() error {
	f.over = true
	err := f.Close()
	if f.path == "" {
		return err
	}
	if err == nil {
		err = os.Rename(f.Name(), f.path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// discard removes what was written. After commit it does nothing.
func (f *outFile) discard() {
	if f.over {
		return
	}
	f.over = true
	f.Close()
	if f.path != "" {
		os.Remove(f.Name())
	}
}
