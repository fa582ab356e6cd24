package cli

import (
	"path/filepath"
	"testing"
)

// TestDemoFindsOutFirstThatItCannotWriteTheReport: nobody is to wait for measurements of half a minute to learn that.
func TestDemoFindsOutFirstThatItCannotWriteTheReport(t *testing.T) {
	s := call(t.Context(), nil, "demo", "--size", "1KiB", "--rtt", "0", "-o", filepath.Join(t.TempDir(), "no", "report.html"))
	s.wantFailure(t, 1, "no such file or directory|cannot find the path")
}
