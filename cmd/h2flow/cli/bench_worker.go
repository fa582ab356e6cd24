package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"example.com/h2flow/cmd/h2flow/internal/load"
	"example.com/h2flow/flow"
)

// workerFlag makes bench do one run: the load.Spec comes on standard input and the load.Result goes to standard output,
// both as JSON. It is for bench itself, and no help tells of it.
const workerFlag = "worker"

// work is bench with workerFlag.
func work(ctx context.Context, in io.Reader, out io.Writer, strategy func(string) (flow.Config, error)) error {
	var spec load.Spec
	err := json.NewDecoder(in).Decode(&spec)
	if err == nil && spec.Strategy != "" {
		spec.Flow, err = strategy(spec.Strategy)
	}
	if err != nil {
		return err
	}
	var result any
	if spec.Held {
		result, err = load.Hold(ctx, spec)
	} else {
		result, err = load.Run(ctx, spec)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(result)
}

// killDelay is how long a process may take to end after an interrupt.
const killDelay = 3 * time.Second

// runWorker does one run in a process of its own.
func runWorker(ctx context.Context, spec load.Spec) (*load.Result, error) {
	result := new(load.Result)
	return result, callWorker(ctx, spec, result)
}

// callWorker has a process of its own do what spec says, and decodes into result what it tells.
func callWorker(ctx context.Context, spec load.Spec, result any) error {
	in, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	cmd, err := again(ctx, "bench", "--"+workerFlag)
	if err != nil {
		return err
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &stdout, &stderr
	err = cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return childError(err, stderr.String())
	}
	if err := json.Unmarshal(stdout.Bytes(), result); err != nil {
		return fmt.Errorf("the process of the client did not say what it did: %w", err)
	}
	return nil
}

// again is a command that runs this program with other arguments.
func again(ctx context.Context, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.WaitDelay = killDelay
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return cmd.Process.Kill() // where there are no interrupts
		}
		return nil
	}
	return cmd, nil
}

// childError is what a process said before it failed, without the words that every failure begins with.
func childError(err error, stderr string) error {
	text := strings.TrimSpace(stderr)
	if text == "" {
		return err
	}
	if verb, rest, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(verb, "h2flow ") {
		text = rest
	}
	return errors.New(text)
}
