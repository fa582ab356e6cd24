package interop

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"
)

const (
	startAttempts = 3
	startTimeout  = 20 * time.Second
	dialInterval  = 5 * time.Millisecond
)

// startProcess runs the command that build returns until the test ends, and returns it with the loopback addresses where it
// listens, one for each port that build was given. A free port may be taken by somebody else before the command binds
// it, so a command that ends at once is tried again on others.
func startProcess(t *testing.T, ports int, build func(ports []string) *exec.Cmd) (p *process, addrs []string) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		free, addrs := freePorts(t, ports)
		p, err := launch(build(free))
		if err != nil {
			t.Fatal(err)
		}
		if err = p.await(addrs); err == nil {
			t.Cleanup(p.stop)
			return p, addrs
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
		_, port := splitAddr(t, addr)
		ports, addrs = append(ports, port), append(addrs, addr)
	}
	return ports, addrs
}

// A process is a running child, or its supervisor.
type process struct {
	cmd    *exec.Cmd
	life   io.Closer    // its standard input; the end of it ends the process and all its children
	output bytes.Buffer // of both streams; complete once exited is closed
	exited chan struct{}
}

// launch starts a command. On Linux none of its children outlives the test, however that ends; see supervise.
func launch(cmd *exec.Cmd) (*process, error) {
	args, err := supervised(append([]string{cmd.Path}, cmd.Args[1:]...))
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(args[0], args[1:]...), exited: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env, p.cmd.SysProcAttr = cmd.Dir, cmd.Env, ownGroup()
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	if p.life, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.exited)
		p.cmd.Wait()
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

// signal asks the process for something. Its supervisor, where there is one, passes it on.
func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// stop ends the process and its children, by their ids, and waits for that.
func (p *process) stop() {
	p.life.Close()
	if !supervises {
		p.cmd.Process.Kill() // an error means that it has ended
	}
	<-p.exited
}
