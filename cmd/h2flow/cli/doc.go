// Package cli is the command line of h2flow as a package, so that a program with a flow-control strategy of its own
// has every verb for it:
//
//	package main
//
//	import (
//		"os"
//
//		"example.com/h2flow/cmd/h2flow/cli"
//	)
//
//	func main() { os.Exit(cli.Main(os.Args[1:], mine.Config{})) }
//
// The command line is a module beside the engine's. With the tree in ../h2flow, the program's module needs both:
//
//	go mod edit -require=example.com/h2flow@v0.0.0 -replace=example.com/h2flow=../h2flow
//	go mod edit -require=example.com/h2flow/cmd/h2flow@v0.0.0 -replace=example.com/h2flow/cmd/h2flow=../h2flow/cmd/h2flow
//	go mod tidy
//
// There, `demo` compares mine.Config with the built-in strategies, and `get --strategy mine URL` downloads with it, if
// the String of mine.Config is "mine" or begins with "mine:".
//
// Every verb keeps to the same rules. What it was asked for goes to standard output, and nothing else does; with --json
// that is JSON, one object a line. Progress goes to standard error, and only to a terminal. A failure is one line on
// standard error. The exit status is 0 for success, 1 if what was asked failed, 2 for a mistake in the command line.
// Sizes, rates and times are written as people write them (64KiB, 100Mbit, 50ms); lists are comma-separated; the
// options of a strategy are joined by colons; what is printed parses back.
//
// [Main] is all there is to call; the verbs live in files of their names.
package cli
