package interop

import (
	"bytes"
	"errors"
	"net"
	"os/exec"
	"testing"
	"time"
)

const (
	startAttempts = 3
	startTimeout  = 10 * time.Second
	dialInterval  = 5 * time.Millisecond
)

// startProcess runs the command that build returns until the test ends, and returns the loopback addresses where it
// listens, one for each port that build was given. A free port may be taken by somebody else before the command binds
// it, so a command that ends at once is tried again on others.
func startProcess(t *testing.T, ports int, build func(ports []string) *exec.Cmd) (addrs []string) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		free, addrs := freePorts(t, ports)
		p, err := launch(build(free))
		if err != nil {
			t.Fatal(err)
		}
		if err = p.await(addrs); err == nil {
			t.Cleanup(p.stop)
			return addrs
		}
		p.stop()
		if attempt == startAttempts {
			t.Fatalf("%s: %v\n%s", p.cmd, err, p.output.String())
		}
	}
}

// freePorts returns ports of the loopback interface on which nobody listens, and their addresses.
func freePorts(t *testing.T, n int) (ports, addrs []string) {
	t.Helper()
	for range n {
		l := listen(t)
		defer l.Close() // not before all are chosen, or one could come twice
		addr := l.Addr().String()
		_, port, err := net.SplitHostPort(addr)
		if err != nil {
			t.Fatal(err)
		}
		ports, addrs = append(ports, port), append(addrs, addr)
	}
	return ports, addrs
}

// A process is a running child.
type process struct {
	cmd    *exec.Cmd
	output bytes.Buffer // of both streams; complete once exited is closed
	exited chan struct{}
}

func launch(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.exited)
		cmd.Wait()
	}()
	return p, nil
}

// await returns once somebody accepts connections at every address, or an error if the process ends before or takes
// too long.
func (p *process) await(addrs []string) error {
	deadline := time.After(startTimeout)
	retry := time.NewTicker(dialInterval)
	defer retry.Stop()
	for _, addr := range addrs {
		for {
			if nc, err := net.Dial("tcp", addr); err == nil {
				nc.Close()
				break
			}
			select {
			case <-retry.C:
			case <-p.exited:
				return errors.New("it ended by itself")
			case <-deadline:
				return errors.New("it does not listen")
			}
		}
	}
	return nil
}

// stop ends the process, by its id, and waits for that.
func (p *process) stop() {
	p.cmd.Process.Kill() // an error means that it has ended
	<-p.exited
}
