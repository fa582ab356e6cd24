package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

// validPath is what we take for a module path: a host with a dot, then elements that need no escaping anywhere.
var validPath = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)

// rename gives the tree at root the module path to, and returns the files that it changed, relative to root.
func rename(root, to string) (changed []string, err error) {
	if !validPath.MatchString(to) {
		return nil, fmt.Errorf("%q is no module path: want a host name with a dot, then elements of letters, digits and ._~-", to)
	}
	from, err := modulePath(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return filepath.SkipDir
		case !entry.Type().IsRegular() || entry.Name() == ".git":
			return nil
		}
		did, err := renameFile(name, from, to)
		if did {
			rel, _ := filepath.Rel(root, name)
			changed = append(changed, filepath.ToSlash(rel))
		}
		return err
	})
	return changed, err
}

// modulePath returns the module path that the file states.
func modulePath(file string) (string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w; run it from the root of the tree", err)
	} else if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(rest), nil
		}
	}
	return "", fmt.Errorf("%s states no module path", file)
}

// renameFile rewrites one file, if it is text that names the old path, and reports whether it did.
func renameFile(name, from, to string) (bool, error) {
	old, err := os.ReadFile(name)
	if err != nil {
		return false, err
	}
	if bytes.IndexByte(old, 0) >= 0 || !utf8.Valid(old) {
		return false, nil
	}
	text := old
	if filepath.Base(name) == "go.mod" {
		text = dropReplace(text, from)
	}
	text = replacePath(text, from, to)
	if filepath.Ext(name) == ".go" && !bytes.Equal(text, old) {
		if text, err = format.Source(text); err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
	}
	if bytes.Equal(text, old) {
		return false, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return false, err
	}
	return true, os.WriteFile(name, text, info.Mode().Perm())
}

// replacePath replaces the path from in text, on its own or at the front of a longer path, but not where it is only
// part of a longer element.
func replacePath(text []byte, from, to string) []byte {
	var out []byte
	for rest := text; ; {
		i := bytes.Index(rest, []byte(from))
		if i < 0 {
			return append(out, rest...)
		}
		end := i + len(from)
		before := i == 0 || !inElement(rest[i-1])
		after := end == len(rest) || !inElement(rest[end]) || rest[end] == '.' && (end+1 == len(rest) || !inElement(rest[end+1]))
		out = append(out, rest[:i]...)
		if before && after {
			out = append(out, to...)
		} else {
			out = append(out, from...)
		}
		rest = rest[end:]
	}
}

// inElement reports whether c can be within a path element.
func inElement(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c == '~' ||
		'0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// dropReplace removes the one-line replace directives for the module from, and the empty line that each leaves.
func dropReplace(text []byte, from string) []byte {
	directive := regexp.MustCompile(`(?m)\n?^replace ` + regexp.QuoteMeta(from) + `(/\S+)?( v\S+)? => .*\n?`)
	return directive.ReplaceAll(text, nil)
}
