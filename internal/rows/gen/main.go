package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"example.com/h2flow/internal/rows"
)

// packages are those with tests of rows.
var packages = []string{"./frame", "./stream", "./conn", ".", "./h2http", "./conformance"}

func main() {
	check := flag.Bool("check", false, "write nothing, fail if the file would change")
	from := flag.String("from", "", "a `folder` with records of tests that have run already")
	flag.Parse()
	if err := run(*check, *from); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(check bool, dir string) error {
	if dir == "" {
		temporary, err := os.MkdirTemp("", "h2flow-coverage-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		dir = temporary
		if err := runTests(dir); err != nil {
			return err
		}
	}
	records, err := rows.ReadRecords(dir)
	if err != nil {
		return err
	}
	page := rows.Page(records)
	file := filepath.Join("conformance", "COVERAGE.md")
	if !check {
		return os.WriteFile(file, []byte(page), 0o666)
	}
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if string(old) != page {
		return fmt.Errorf("%s is not what the tests say: run go run ./internal/rows/gen", file)
	}
	return nil
}

// runTests runs the packages' tests and lets them leave their records in dir.
func runTests(dir string) error {
	cmd := exec.Command("go", append([]string{"test", "-count=1"}, packages...)...)
	// The page is the same wherever it is made: tests that run only where third-party vectors or much time are do not count.
	cmd.Env = append(os.Environ(), rows.FolderVariable+"="+dir, "H2FLOW_VECTORS=", "H2FLOW_LONG=")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}
