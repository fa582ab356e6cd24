package h2flow_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/flow"
	"example.com/h2flow/strategy"
)

// testHandler serves /bytes/N, echoes /echo, and sinks /sink.
func testHandler(t testing.TB) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/bytes/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("n"))
		w.Header().Set("Content-Length", strconv.Itoa(n))
		w.Write(testBody(n))
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		io.Copy(w, r.Body)
	})
	mux.HandleFunc("/sink", func(w http.ResponseWriter, r *http.Request) {
		h := sha256.New()
		n, _ := io.Copy(h, r.Body)
		fmt.Fprintf(w, "%d %x", n, h.Sum(nil))
	})
	return mux
}

var testBodies sync.Map

func testBody(n int) []byte {
	if b, ok := testBodies.Load(n); ok {
		return b.([]byte)
	}
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	testBodies.Store(n, b)
	return b
}

// server starts Go's HTTP/2 server on loopback and returns a function that connects to it.
func server(t testing.TB, useTLS bool) (addr string, dial func(cfg *h2flow.Config) *h2flow.ClientConn) {
	srv := httptest.NewUnstartedServer(testHandler(t))
	srv.EnableHTTP2 = true
	if useTLS {
		srv.StartTLS()
	} else {
		srv.Config.Protocols = new(http.Protocols)
		srv.Config.Protocols.SetUnencryptedHTTP2(true)
		srv.Start()
	}
	t.Cleanup(srv.Close)
	addr = srv.Listener.Addr().String()
	return addr, func(cfg *h2flow.Config) *h2flow.ClientConn {
		t.Helper()
		if cfg == nil {
			cfg = &h2flow.Config{}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		var c *h2flow.ClientConn
		var err error
		if useTLS {
			with := *cfg
			with.TLSConfig = &tls.Config{RootCAs: srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, ServerName: "example.com"}
			c, err = h2flow.Dial(ctx, addr, &with)
		} else {
			c, err = h2flow.DialCleartext(ctx, addr, cfg)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
}

func get(t testing.TB, c *h2flow.ClientConn, path string) []byte {
	t.Helper()
	s, err := c.OpenStream(context.Background(), &h2flow.Request{Method: "GET", Scheme: "http", Authority: "x", Path: path, EndStream: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if head, err := s.ReadHead(); err != nil || head.Status != 200 {
		t.Fatal(head, err)
	}
	body, err := io.ReadAll(s)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// everyWay runs a test over TLS and cleartext, with the reading shared and in the background.
func everyWay(t *testing.T, f func(t *testing.T, dial func(*h2flow.Config) *h2flow.ClientConn, cfg h2flow.Config)) {
	for _, useTLS := range []bool{false, true} {
		for _, mode := range []h2flow.ReaderMode{h2flow.ReaderShared, h2flow.ReaderBackground} {
			t.Run(fmt.Sprintf("tls=%v/reader=%d", useTLS, mode), func(t *testing.T) {
				_, dial := server(t, useTLS)
				f(t, dial, h2flow.Config{Reader: mode})
			})
		}
	}
}

func TestDownload(t *testing.T) {
	everyWay(t, func(t *testing.T, dial func(*h2flow.Config) *h2flow.ClientConn, cfg h2flow.Config) {
		for _, fc := range []flow.Config{strategy.Fixed{}, strategy.Threshold{}, strategy.Auto{}, strategy.BDP{}, nil} {
			cfg.Flow = fc
			c := dial(&cfg)
			for _, n := range []int{0, 1, 1000, 70000, 10 << 20} {
				if got := get(t, c, fmt.Sprintf("/bytes/%d", n)); !bytes.Equal(got, testBody(n)) {
					t.Fatalf("%v: %d octets came back wrong: %d", fc, n, len(got))
				}
			}
		}
	})
}

func TestUpload(t *testing.T) {
	everyWay(t, func(t *testing.T, dial func(*h2flow.Config) *h2flow.ClientConn, cfg h2flow.Config) {
		c := dial(&cfg)
		for _, n := range []int{0, 1, 70000, 8 << 20} {
			s, err := c.OpenStream(context.Background(), &h2flow.Request{Method: "POST", Scheme: "http", Authority: "x", Path: "/sink"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(s, bytes.NewReader(testBody(n))); err != nil {
				t.Fatal(err)
			}
			if err := s.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if _, err := s.ReadHead(); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(s)
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("%d %x", n, sha256.Sum256(testBody(n))); string(got) != want {
				t.Fatalf("the server got %s, want %s", got, want)
			}
			s.Close()
		}
	})
}

// TestManyStreams has more goroutines than there may be streams, some of which cancel and some of which do not read.
func TestManyStreams(t *testing.T) {
	everyWay(t, func(t *testing.T, dial func(*h2flow.Config) *h2flow.ClientConn, cfg h2flow.Config) {
		cfg.MaxConcurrentStreams = 20
		c := dial(&cfg)
		var wg sync.WaitGroup
		for g := range 50 {
			wg.Go(func() {
				for i := range 20 {
					n := 1000 * (g + i)
					switch (g + i) % 4 {
					case 0:
						s, err := c.OpenStream(context.Background(), &h2flow.Request{Method: "GET", Scheme: "http", Authority: "x", Path: "/bytes/300000", EndStream: true})
						if err != nil {
							t.Error(err)
							return
						}
						if i%2 == 0 {
							s.ReadHead()
							io.CopyN(io.Discard, s, 5000)
						}
						s.Close()
					default:
						if got := get(t, c, fmt.Sprintf("/bytes/%d", n)); !bytes.Equal(got, testBody(n)) {
							t.Errorf("%d octets came back wrong: %d", n, len(got))
						}
					}
				}
			})
		}
		wg.Wait()
		if st := c.State(); st.Queued != 0 {
			t.Errorf("state after all: %+v", st)
		}
	})
}

func TestFullDuplex(t *testing.T) {
	everyWay(t, func(t *testing.T, dial func(*h2flow.Config) *h2flow.ClientConn, cfg h2flow.Config) {
		c := dial(&cfg)
		s, err := c.OpenStream(context.Background(), &h2flow.Request{Method: "POST", Scheme: "http", Authority: "x", Path: "/echo"})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			s.Write(testBody(3 << 20))
			s.CloseWrite()
		}()
		if _, err := s.ReadHead(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(s)
		if err != nil || !bytes.Equal(got, testBody(3<<20)) {
			t.Fatalf("echo: %d octets, %v", len(got), err)
		}
	})
}

// Contract: N4.
func TestPingAndShutdown(t *testing.T) {
	everyWay(t, func(t *testing.T, dial func(*h2flow.Config) *h2flow.ClientConn, cfg h2flow.Config) {
		c := dial(&cfg)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if rtt, err := c.Ping(ctx); err != nil || rtt <= 0 {
			t.Fatal(rtt, err)
		}
		if err := c.Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := c.OpenStream(ctx, &h2flow.Request{Method: "GET", Scheme: "http", Authority: "x", Path: "/", EndStream: true}); !h2flow.Retryable(err) {
			t.Errorf("opening after Shutdown: %v", err)
		}
	})
}
