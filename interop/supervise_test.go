//go:build linux

package interop

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// panics is set in the environment of a test that is to panic.
const panics = "H2FLOW_INTEROP_PANICS"

// A server's worker ends although the test that started the server panics and nobody stops anything.
func TestNothingOutlivesAPanic(t *testing.T) {
	if os.Getenv(panics) != "" {
		startAndPanic()
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestNothingOutlivesAPanic$")
	cmd.Env = append(os.Environ(), panics+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("it did not panic:\n%s", out)
	}
	_, rest, _ := strings.Cut(string(out), "worker ")
	number, _, _ := strings.Cut(rest, "\n")
	worker, err := strconv.Atoi(number)
	if err != nil {
		t.Fatalf("no worker in its output:\n%s", out)
	}
	deadline := time.After(startTimeout)
	retry := time.NewTicker(dialInterval)
	defer retry.Stop()
	for syscall.Kill(worker, 0) == nil {
		select {
		case <-retry.C:
		case <-deadline:
			syscall.Kill(worker, syscall.SIGKILL)
			t.Fatal("the worker outlived the test")
		}
	}
}

// startAndPanic runs a shell with a worker in the background, prints the id of that, and panics.
func startAndPanic() {
	said, say, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command("/bin/sh", "-c", "sleep 600 & echo $! >"+fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), say.Fd())+"; wait")
	if _, err := launch(cmd); err != nil {
		panic(err)
	}
	b := make([]byte, 16)
	n, err := said.Read(b)
	if err != nil {
		panic(err)
	}
	fmt.Printf("worker %s\n", strings.TrimSpace(string(b[:n])))
	panic("as asked")
}
