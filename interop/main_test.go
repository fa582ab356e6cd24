package interop

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == superviseArg {
		os.Exit(supervise(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// long says that the tests that take minutes are wanted.
func long() bool { return os.Getenv("H2FLOW_LONG") == "1" }
