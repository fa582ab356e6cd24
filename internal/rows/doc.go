// Package rows is the table of what RFC 9113, and what it builds on, asks of an HTTP/2 client, and the record of which
// test covers which row.
//
// A [Row] has an identifier such as 9113-6.9.1-4: the RFC, the section, a number. [Table] lists them all in our words;
// the RFC decides. A test says by [Cover] which rows it asserts:
//
//	func TestZeroIncrement(t *testing.T) {
//		rows.Cover(t, "9113-6.9-2", "9113-6.9-3")
//		...
//	}
//
// When the environment variable H2FLOW_COVERAGE names a folder, each test that passed leaves a line there for each of
// its rows; otherwise Cover only checks that the rows exist. The command in gen runs the tests that way and writes
// conformance/COVERAGE.md.
//
// # Invariants
//
// Every row is covered by a test or is in [Exceptions] with a reason, never both; TestEveryRowIsCovered looks at
// COVERAGE.md for that, and at the tests that it names.
//
// # What it does not do
//
// It cannot tell whether a test asserts what it says it covers. The mutants beside the tests of this package can: each
// turns one rule off, and a test of the row must fail.
package rows
