package conform

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"time"

	"example.com/h2flow/conformance"
)

// Placeholders are what is replaced in the arguments of a command, and by what.
const Placeholders = `{url} the URL to ask for, {url2} the second one of a pair, {host} and {port} of the server,
{ca} the file with its certificate, {body} the file with the body of a POST`

// killDelay is how long a command may take to end when the case is over, before its pipes are given up.
const killDelay = time.Second

// maxOutput is what is kept of the end of a command's output, in octets.
const maxOutput = 4 << 10

// A command is a client that is a process. All its requests begin with it, and end with its exit: it succeeds with 0.
type command struct {
	cmd    *exec.Cmd
	cancel context.CancelFunc
	output tail
	over   chan struct{} // closed when err is known
	err    error
	wg     sync.WaitGroup
}

func startCommand(ctx context.Context, s *Suite, c conformance.Case, argv []string, base string) *command {
	a := &command{over: make(chan struct{})}
	ctx, a.cancel = context.WithCancel(ctx)
	args := expand(argv, s, c, base)
	a.cmd = exec.CommandContext(ctx, args[0], args[1:]...)
	a.cmd.Stdout, a.cmd.Stderr = &a.output, &a.output
	a.cmd.WaitDelay = killDelay
	err := a.cmd.Start()
	if err != nil {
		a.err = err
		close(a.over)
		return a
	}
	a.wg.Go(func() {
		a.err = a.cmd.Wait()
		if a.err == nil && s.FailOn != "" && a.output.contains(s.FailOn) {
			a.err = fmt.Errorf("exit status 0, with the text %q", s.FailOn)
		}
		close(a.over)
	})
	return a
}

// expand puts values in the place of placeholders.
func expand(argv []string, s *Suite, c conformance.Case, base string) []string {
	requests := c.Requests()
	host, port := "", ""
	if u, err := url.Parse(base); err == nil {
		host, port, _ = net.SplitHostPort(u.Host)
	}
	second := ""
	if len(requests) > 1 {
		second = base + requests[1].Path
	}
	r := strings.NewReplacer("{url}", base+requests[0].Path, "{url2}", second, "{host}", host, "{port}", port,
		"{ca}", s.CA, "{body}", s.Body)
	var args []string
	for _, arg := range argv {
		args = append(args, r.Replace(arg))
	}
	return args
}

func (a *command) Request(_ int, _ conformance.Request, done func(status, bodyLength int, err error)) {
	a.wg.Go(func() {
		<-a.over
		done(conformance.Unknown, conformance.Unknown, a.err)
	})
}

func (a *command) Close() {
	a.cancel()
	a.wg.Wait()
}

// Joint says that all requests end with the command.
func (a *command) Joint() bool { return true }

func (a *command) ended() <-chan struct{} { return a.over }

// A tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
	cut bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if n := len(t.buf) - maxOutput; n > 0 {
		t.buf, t.cut = append([]byte(nil), t.buf[n:]...), true
	}
	return len(p), nil
}

func (t *tail) contains(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Contains(t.buf, []byte(text))
}

// String is the text that was kept, without what is no text.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.Map(func(r rune) rune {
		if r == 0xfffd || r < ' ' && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, string(t.buf))
	if t.cut {
		text = fmt.Sprintf("... (the last %d octets)\n%s", maxOutput, text)
	}
	return strings.TrimSpace(text)
}

// inProcess is a client of this process.
type inProcess struct {
	conformance.Client
	rt RoundTripper
}

func (a *inProcess) ended() <-chan struct{} { return nil }

func (a *inProcess) Close() {
	a.Client.Close()
	a.rt.CloseIdleConnections()
}

// A stranger is a client that comes by itself, and does not tell how its requests ended.
type stranger struct{}

func (*stranger) Request(_ int, _ conformance.Request, done func(status, bodyLength int, err error)) {
	done(conformance.Unknown, conformance.Unknown, conformance.ErrUnknown)
}

func (*stranger) Close() {}

func (*stranger) ended() <-chan struct{} { return nil }
