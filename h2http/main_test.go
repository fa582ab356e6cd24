package h2http_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain fails the run if goroutines of this module outlive the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	if leaked := leakedGoroutines(5 * time.Second); code == 0 && leaked != "" {
		fmt.Fprintln(os.Stderr, "goroutines left after the tests:\n\n"+leaked)
		code = 1
	}
	os.Exit(code)
}

// leakedGoroutines returns the stacks of goroutines that run, or were started by, code of this module, once they had
// patience to end.
func leakedGoroutines(patience time.Duration) string {
	deadline := time.Now().Add(patience)
	for {
		var leaked []string
		buf := make([]byte, 1<<20)
		for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "example.com/h2flow") && !strings.Contains(g, "h2http_test.TestMain") {
				leaked = append(leaked, g)
			}
		}
		if len(leaked) == 0 || time.Now().After(deadline) {
			return strings.Join(leaked, "\n\n")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
