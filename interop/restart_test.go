package interop

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/h2http"
)

const (
	restarts          = 3
	requestsInBetween = 150
)

// A server that restarts gracefully under load loses no request: those that it took are answered, those that it did not
// take go to its successor.
func TestRestart(t *testing.T) {
	o := newOrigin(t)
	for _, s := range servers {
		if s.name == "go" {
			continue // see below
		}
		t.Run(s.name, func(t *testing.T) {
			if s.noRestart != "" {
				t.Skip(s.noRestart)
			}
			r := s.start(t, o)
			for _, to := range r.targets(o) {
				t.Run(to.scheme, func(t *testing.T) { testRestart(t, to, o, func() { r.reload(t) }) })
			}
		})
	}
	t.Run("go", func(t *testing.T) {
		s := newPhoenix(t, o)
		testRestart(t, target{scheme: "https", addr: s.addr, trust: o.trust}, o, s.restart)
	})
}

// testRestart has eight goroutines make requests, small and large ones, and restarts the server in between.
func testRestart(t *testing.T, to target, o *origin, restart func()) {
	ctx, cancel := context.WithTimeout(t.Context(), transferTimeout)
	defer cancel()
	transport := &h2http.Transport{TLSClientConfig: to.trust, AllowHTTP: true}
	defer transport.CloseIdleConnections()
	transfer := roundTrip(transport, to)
	var done atomic.Int64
	progress := make(chan struct{}, 1)
	load, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := 0; load.Err() == nil; i++ {
				path, want := smallPath, o.small
				if i%16 == worker {
					path, want = downloadPath, o.download
				}
				var got digest
				err := transfer(ctx, path, nil, 0, func(body io.Reader) (err error) {
					got, err = digestOf(body)
					return err
				})
				if err != nil {
					t.Errorf("GET %s: %v", path, err)
				} else if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("downloaded octets (-want +got):\n%s", diff)
				}
				done.Add(1)
				select {
				case progress <- struct{}{}:
				default:
				}
			}
		})
	}
	for range restarts + 1 {
		for until := done.Load() + requestsInBetween; done.Load() < until; {
			select {
			case <-progress:
			case <-ctx.Done():
				t.Fatal("no progress")
			}
		}
		restart()
	}
	stop()
	wg.Wait()
}

// A phoenix is net/http's server that shuts down and is replaced by another at the same address. The new one listens
// before the old one stops to.
type phoenix struct {
	addr    string
	t       *testing.T
	o       *origin
	current *http.Server
	wg      sync.WaitGroup // the old ones that are shutting down
}

func newPhoenix(t *testing.T, o *origin) *phoenix {
	p := &phoenix{t: t, o: o, addr: "127.0.0.1:0"}
	l := p.listen()
	p.addr = l.Addr().String()
	p.current = p.serve(l)
	t.Cleanup(func() {
		p.current.Close()
		p.wg.Wait()
	})
	return p
}

// listen lets several servers listen at the address: the kernel gives each connection to one of them.
func (p *phoenix) listen() net.Listener {
	const soReusePort = 15
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		return errors.Join(c.Control(func(fd uintptr) {
			err = os.NewSyscallError("setsockopt", syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, soReusePort, 1))
		}), err)
	}}
	l, err := config.Listen(p.t.Context(), "tcp", p.addr)
	if err != nil {
		p.t.Fatal(err)
	}
	return l
}

func (p *phoenix) serve(l net.Listener) *http.Server {
	s := &http.Server{Handler: p.o.handler()}
	go s.ServeTLS(l, p.o.cert, p.o.key)
	return s
}

// restart puts a new server in the place of the current one, which goes on until it has answered what it took.
func (p *phoenix) restart() {
	old := p.current
	p.current = p.serve(p.listen())
	p.wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), transferTimeout)
		defer cancel()
		if err := old.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			p.t.Error(err)
		}
	})
}
