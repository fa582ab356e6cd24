// Command gen runs the tests that say which requirements they cover and writes conformance/COVERAGE.md. It is run from
// the root of the module:
//
//	go run ./internal/rows/gen
//
// With -check it writes nothing and fails if the file is not what it would write.
package main
