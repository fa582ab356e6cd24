package h2flow_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain fails the run if goroutines of this package are left when all tests have ended.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if left := leaked(5 * time.Second); left != "" {
			fmt.Fprintln(os.Stderr, "goroutines left after all tests:\n\n"+left)
			code = 1
		}
	}
	os.Exit(code)
}

// leaked returns the stacks of goroutines of this module that have not ended within the time.
func leaked(within time.Duration) string {
	deadline := time.Now().Add(within)
	for {
		var left []string
		buf := make([]byte, 4<<20)
		for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "example.com/h2flow.(") {
				left = append(left, g)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return strings.Join(left, "\n\n")
		}
		runtime.Gosched()
	}
}
