package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"time"

	"example.com/h2flow/cmd/h2flow/internal/load"
	"example.com/h2flow/cmd/h2flow/internal/relay"
)

// A target is the server of a run, with the path in front of it.
type target struct {
	url      *url.URL
	http1URL string // for http1; empty: url
	dial     string // empty: the URL's host
	cacert   string // PEM
	insecure bool
	beside   int64  // octets to download beside; 0: nothing
	own      bool   // it is h2flow serve in a process of its own
	program  string // or the server program that was started
	closers  []func()
}

// close ends what was started for the target, the last first.
func (t *target) close() {
	for i := len(t.closers) - 1; i >= 0; i-- {
		t.closers[i]()
	}
}

// aim writes into spec where its requests go.
func (t *target) aim(spec *load.Spec) {
	spec.URL, spec.Dial, spec.CACert, spec.Insecure = t.url.String(), t.dial, t.cacert, t.insecure
	if spec.Client == load.HTTP1 && t.http1URL != "" {
		spec.URL = t.http1URL
	}
	if t.beside > 0 {
		if u, err := url.Parse(spec.URL); err == nil {
			u.Path, u.RawQuery = "/bytes/"+strconv.FormatInt(t.beside, 10), ""
			spec.Beside = u.String()
		}
	}
}

// resource is what url means for an operation: a URL without a path is that of a server like h2flow serve's.
func resource(u *url.URL, op string, size int64) *url.URL {
	if u.Path != "" && u.Path != "/" {
		return u
	}
	v := *u
	v.Path = "/sink"
	if op == load.Get {
		v.Path = "/bytes/" + strconv.FormatInt(size, 10)
	}
	return &v
}

// startTarget returns the target that the options ask for. The caller closes it.
func (o *benchOptions) startTarget(ctx context.Context) (*target, error) {
	t := &target{url: o.url, http1URL: o.http1URL, insecure: o.insecure, beside: o.beside}
	if o.cacert != "" {
		pem, err := os.ReadFile(o.cacert)
		if err != nil {
			return nil, err
		}
		t.cacert = string(pem)
	}
	if t.url == nil {
		var err error
		if p := findProgram(o.origin); p != nil {
			err = t.startProgram(ctx, p, o.tls, o.size, o.beside)
		} else {
			err = t.startOrigin(ctx, o.tls, o.streams)
		}
		if err != nil {
			t.close()
			return nil, err
		}
	}
	// A URL that is meant for a server like serve's is known by its empty path and --size or an operation that needs it.
	if o.url == nil || o.sizeGiven || o.op == load.Post {
		t.url = resource(t.url, o.op, o.size)
		if u, err := url.Parse(t.http1URL); err == nil && t.http1URL != "" {
			t.http1URL = resource(u, o.op, o.size).String()
		}
	}
	if o.rtt > 0 || o.rate > 0 {
		if err := t.lengthen(o.rtt, o.rate); err != nil {
			t.close()
			return nil, err
		}
	}
	return t, nil
}

// startOrigin starts h2flow serve in a process of its own.
func (t *target) startOrigin(ctx context.Context, useTLS bool, streams int) error {
	args := []string{"serve", "--json", "--stdin"}
	if useTLS {
		args = append(args, "--tls")
	}
	if streams > 100 {
		args = append(args, "--max-streams", strconv.Itoa(streams))
	}
	cmd, err := again(ctx, args...)
	if err != nil {
		return err
	}
	stdin, err := cmd.StdinPipe() // its end ends the server, whatever becomes of us
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	t.closers = append(t.closers, func() { endProcess(cmd, stdin) })
	var ready readyLine
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &ready)
	}
	if err == nil {
		t.url, err = url.Parse(ready.URL)
	}
	if err != nil {
		endProcess(cmd, stdin)
		t.closers = nil
		return fmt.Errorf("starting a server: %w", childError(err, stderr.String()))
	}
	t.own = true
	if ready.Certificate != nil {
		t.cacert = *ready.Certificate
	}
	return nil
}

func endProcess(cmd *exec.Cmd, stdin io.Closer) {
	stdin.Close()
	cmd.Wait()
}

// lengthen puts an emulated path in front of the target. It runs in this process, which has nothing else to do.
func (t *target) lengthen(rtt time.Duration, rate int64) error {
	port := t.url.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[t.url.Scheme]
	}
	path := relay.Path{Rate: rate, Delay: rtt / 2}
	r, err := relay.Listen(relay.Config{Target: net.JoinHostPort(t.url.Hostname(), port), Up: path, Down: path})
	if err != nil {
		return err
	}
	t.dial = r.Addr()
	t.closers = append(t.closers, func() { r.Close() })
	return nil
}
