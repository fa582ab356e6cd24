package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/h2flow/conformance"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/pipe"
	"example.com/h2flow/internal/rows"
)

// patience is for machines that are busy with something else.
const patience = 30 * time.Second

// wantPass fails unless the verdict is the best there is: what the RFC merely permits is not good enough for us.
func wantPass(t *testing.T, c conformance.Case, res conformance.Result) {
	t.Helper()
	rows.Cover(t, c.Requirements...)
	if res.Verdict != conformance.Pass {
		t.Errorf("%s: %s\n%v: %s\n%s", c.Section, c.Name, res.Verdict, res.Reason, res.Transcript)
	}
}

func TestCore(t *testing.T) {
	for _, chunk := range []int{0, 1} {
		for _, c := range conformance.Cases() {
			t.Run(fmt.Sprintf("%s in pieces of %d", c.ID, chunk), func(t *testing.T) {
				t.Parallel()
				client, server := pipe.New(pipe.Link{})
				wantPass(t, c, conformance.Run(server, newCoreClient(client, chunk), c, patience))
			})
		}
	}
}

func TestRoot(t *testing.T) {
	for _, c := range conformance.Cases() {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			client, server := pipe.New(pipe.Link{})
			root, err := newRootClient(client)
			if err != nil {
				t.Fatal(err)
			}
			wantPass(t, c, conformance.Run(server, root, c, patience))
		})
	}
}

func TestRoundTripper(t *testing.T) {
	for _, c := range conformance.Cases() {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			client, server := pipe.New(pipe.Link{})
			conns := make(chan net.Conn, 1)
			conns <- client
			close(conns)
			transport := &h2http.Transport{
				AllowHTTP: true, MaxConnsPerHost: 1,
				DialContext: func(context.Context, string, string) (net.Conn, error) {
					if nc := <-conns; nc != nil {
						return nc, nil
					}
					return nil, errors.New("a case has one connection")
				},
			}
			defer transport.CloseIdleConnections()
			wantPass(t, c, conformance.Run(server, conformance.NewHTTPClient(transport, "http://example.org", c), c, patience))
		})
	}
}

// A client that does nothing fails every case; one that breaks a rule fails the case of that rule.
func TestCasesFail(t *testing.T) {
	for _, c := range conformance.Cases() {
		server, client := net.Pipe()
		res := conformance.Run(server, newBrokenClient(client, "GET / HTTP/1.1\r\n\r\n1234567890", false), c, 0)
		if res.Verdict != conformance.Fail || !strings.Contains(res.Reason, "not the preface") {
			t.Errorf("%s: %v: %s", c.ID, res.Verdict, res.Reason)
		}
	}
}

// brokenClient says something; then it listens, or is gone.
type brokenClient struct {
	nc net.Conn
	wg sync.WaitGroup
}

func newBrokenClient(nc net.Conn, say string, listen bool) *brokenClient {
	b := &brokenClient{nc: nc}
	b.wg.Go(func() {
		if _, err := io.WriteString(nc, say); err != nil || !listen {
			nc.Close()
		}
	})
	b.wg.Go(func() {
		_, _ = io.Copy(io.Discard, nc) // until one side closes
	})
	return b
}

func (b *brokenClient) Request(_ int, _ conformance.Request, done func(int, int, error)) {
	done(0, 0, errors.New("no"))
}

func (b *brokenClient) Close() {
	b.nc.Close()
	b.wg.Wait()
}
