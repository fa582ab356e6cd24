package interop

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
		s := newPhoenix(t, o, o.handler())
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

// A phoenix is net/http's server that shuts down and is replaced by another at the same address. The socket that listens
// stays, so that no connection is lost between the two.
type phoenix struct {
	addr    string
	t       *testing.T
	o       *origin
	handler http.Handler
	sockets chan net.Conn
	current *http.Server
	wg      sync.WaitGroup // the old ones that are shutting down
}

func newPhoenix(t *testing.T, o *origin, handler http.Handler) *phoenix {
	l := listen(t)
	p := &phoenix{t: t, o: o, handler: handler, addr: l.Addr().String(), sockets: make(chan net.Conn)}
	go func() {
		defer close(p.sockets)
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			p.sockets <- nc
		}
	}()
	p.current = p.serve()
	t.Cleanup(func() {
		l.Close()
		p.current.Close()
		p.wg.Wait()
	})
	return p
}

func (p *phoenix) serve() *http.Server {
	s := &http.Server{Handler: p.handler, ErrorLog: log.New(io.Discard, "", 0)}
	l := &inheritor{sockets: p.sockets, closed: make(chan struct{})}
	go s.ServeTLS(l, p.o.cert, p.o.key)
	return s
}

// An inheritor is a listener that shares the connections which arrive with those before and after it.
type inheritor struct {
	sockets <-chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (l *inheritor) Accept() (net.Conn, error) {
	select {
	case nc, ok := <-l.sockets:
		if ok {
			return nc, nil
		}
	case <-l.closed:
	}
	return nil, net.ErrClosed
}

func (l *inheritor) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *inheritor) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// restart puts a new server in the place of the current one, which goes on until it has answered what it took.
func (p *phoenix) restart() {
	old := p.current
	p.current = p.serve()
	p.wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), transferTimeout)
		defer cancel()
		if err := old.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			p.t.Error(err)
		}
	})
}

// restartEvery restarts the server again and again until ctx ends, and returns how often.
func (p *phoenix) restartEvery(ctx context.Context, pause time.Duration) (n int) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return n
		case <-tick.C:
			p.restart()
			n++
		}
	}
}
