package load

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/h2flow/strategy"
)

// A testServer speaks both versions and counts.
type testServer struct {
	*httptest.Server
	requests, uploaded, chunked atomic.Int64
	conns                       sync.Map
	broken                      atomic.Int64 // every request is answered by 503 once this many were served; 0: none
}

func newTestServer(t *testing.T, useTLS bool) *testServer {
	s := &testServer{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.conns.Store(r.RemoteAddr, r.Proto)
		if r.ContentLength < 0 {
			s.chunked.Add(1)
		}
		n, _ := io.Copy(io.Discard, r.Body)
		s.uploaded.Add(n)
		if limit := s.broken.Load(); s.requests.Add(1) > limit && limit > 0 {
			http.Error(w, "broken", http.StatusServiceUnavailable)
			return
		}
		var size int
		fmt.Sscanf(r.URL.Path, "/%d", &size)
		w.Header().Set("Content-Type", "text/plain")
		io.Copy(w, strings.NewReader(strings.Repeat("x", size)))
	}))
	if useTLS {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetHTTP1(true)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// spec is a small run against the server.
func (s *testServer) spec(client, path string) Spec {
	spec := Spec{Client: client, URL: s.URL + path, Op: Get, Size: AnySize, Requests: 10, Conns: 1, Streams: 2,
		Warmup: 1}
	if s.TLS != nil {
		spec.CACert = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	}
	return spec
}

func (s *testServer) connections() map[string]int {
	byProto := make(map[string]int)
	s.conns.Range(func(_, proto any) bool { byProto[proto.(string)]++; return true })
	return byProto
}

func TestEveryClient(t *testing.T) {
	for _, useTLS := range []bool{false, true} {
		for _, op := range []string{Get, Post} {
			for _, client := range Clients() {
				t.Run(fmt.Sprintf("tls=%v/%s/%s", useTLS, op, client), func(t *testing.T) {
					server := newTestServer(t, useTLS)
					spec := server.spec(client, "/3000")
					spec.Op, spec.Size, spec.Conns = op, 3000, 2
					r, err := Run(t.Context(), spec)
					if err != nil {
						t.Fatal(err)
					}
					proto, wire, conns, streams := "HTTP/2", "HTTP/2.0", 2, 2
					if client == HTTP1 {
						proto, wire, conns, streams = "HTTP/1.1", "HTTP/1.1", 4, 1
					}
					if r.Requests != 10 || r.Bytes != 30000 || r.Failures != 0 || r.Proto != proto {
						t.Errorf("%d requests, %d octets, %d failures over %s; want 10, 30000, 0, %s",
							r.Requests, r.Bytes, r.Failures, r.Proto, proto)
					}
					if r.Conns != conns || r.Streams != streams {
						t.Errorf("%d connections with %d streams, want %d with %d", r.Conns, r.Streams, conns, streams)
					}
					// HTTP/1.1 opens fewer if a lane ends before another begins.
					if got := server.connections(); len(got) != 1 || got[wire] > conns || got[wire] < 2 {
						t.Errorf("the server saw connections %v, want %d of %s", got, conns, wire)
					}
					if n := server.requests.Load(); n != 14 {
						t.Errorf("the server saw %d requests, want 10 and 4 of the warm-up", n)
					}
					if want := int64(14 * 3000); op == Post && server.uploaded.Load() != want {
						t.Errorf("the server got %d octets, want %d", server.uploaded.Load(), want)
					}
					if r.P50 == nil || r.P90 == nil || r.P99 == nil || *r.P50 <= 0 || *r.P50 > *r.P90 ||
						*r.P90 > *r.P99 {
						t.Errorf("percentiles %v %v %v, want three in order", r.P50, r.P90, r.P99)
					}
					if r.Seconds <= 0 || r.Allocs <= 0 || r.AllocBytes <= 0 || r.PeakHeapBytes <= 0 {
						t.Errorf("%+v: want a time, allocations and a heap", r)
					}
				})
			}
		}
	}
}

func TestCostOfTheProcess(t *testing.T) {
	user, sys := cpuTime()
	if user == nil || sys == nil {
		t.Skip("this platform does not tell CPU times")
	}
	server := newTestServer(t, false)
	spec := server.spec(HTTP1, "/1000000")
	spec.Requests = 50
	r, err := Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if r.UserSeconds == nil || r.SysSeconds == nil || *r.UserSeconds+*r.SysSeconds <= 0 {
		t.Errorf("CPU %v and %v, want some", r.UserSeconds, r.SysSeconds)
	}
	if r.PeakRSSBytes == nil || *r.PeakRSSBytes < r.PeakHeapBytes/2 || *r.PeakRSSBytes < 1<<20 {
		t.Errorf("peak RSS %v with a heap of %d, want a plausible one", r.PeakRSSBytes, r.PeakHeapBytes)
	}
}

func TestOptionsReachTheClients(t *testing.T) {
	server := newTestServer(t, false)
	for _, client := range Clients() {
		t.Run(client, func(t *testing.T) {
			spec := server.spec(client, "/100000")
			spec.Flow = strategy.Fixed{Stream: 65535, Conn: 65535}
			spec.ReadBuffer, spec.WriteBuffer, spec.MaxFrame, spec.BodyBuffer = 8<<10, 8<<10, 32<<10, 1000
			spec.Size = 100000
			r, err := Run(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			if r.Requests != 10 || r.Bytes != 1000000 {
				t.Errorf("%d requests with %d octets, want 10 with 1000000", r.Requests, r.Bytes)
			}
		})
	}
}

func TestUnknownLength(t *testing.T) {
	for _, client := range Clients() {
		t.Run(client, func(t *testing.T) {
			server := newTestServer(t, false)
			spec := server.spec(client, "/0")
			spec.Op, spec.Size, spec.Chunked, spec.Warmup = Post, 5000, true, 0
			if _, err := Run(t.Context(), spec); err != nil {
				t.Fatal(err)
			}
			if got := server.chunked.Load(); got != 10 {
				t.Errorf("%d requests had no length, want 10", got)
			}
			if got := server.uploaded.Load(); got != 50000 {
				t.Errorf("the server got %d octets, want 50000", got)
			}
		})
	}
}

func TestDuration(t *testing.T) {
	server := newTestServer(t, false)
	spec := server.spec(H2flow, "/10")
	spec.Requests, spec.Duration = 0, 50*time.Millisecond
	r, err := Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if r.Seconds < 0.05 || r.Requests < 1 {
		t.Errorf("%d requests in %v s, want some in at least 0.05", r.Requests, r.Seconds)
	}
}

func TestPace(t *testing.T) {
	server := newTestServer(t, false)
	for _, client := range Clients() {
		t.Run(client, func(t *testing.T) {
			spec := server.spec(client, "/20000")
			spec.Pace, spec.Requests, spec.Warmup = 400_000, 2, 0
			r, err := Run(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			// 20,000 octets are 50 ms at that pace, less the last step of 20.
			if r.Bytes != 40000 || *r.P50 < 25 {
				t.Errorf("%d octets in %v ms each, want 40000 in at least 25", r.Bytes, *r.P50)
			}
		})
	}
}

func TestBodyBuffer(t *testing.T) {
	for _, tt := range []struct {
		name string
		spec Spec
		want int64
	}{
		{"the default", Spec{Op: Get, Size: 1 << 30}, 128 << 10},
		{"of any size", Spec{Op: Get, Size: AnySize}, 128 << 10},
		{"what was asked for", Spec{Op: Get, Size: 1 << 30, BodyBuffer: 1000}, 1000},
		{"a small body", Spec{Op: Get, Size: 1000}, 1000},
		{"no body", Spec{Op: Get}, 1},
		{"an upload", Spec{Op: Post, Size: 1 << 30}, 4 << 10},
		{"a slow reader", Spec{Op: Get, Size: 1 << 30, Pace: 1 << 20}, 20971},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.spec.bodyBuffer(); got != tt.want {
				t.Errorf("%d octets, want %d", got, tt.want)
			}
		})
	}
}

func TestBeside(t *testing.T) {
	for _, client := range Clients() {
		t.Run(client, func(t *testing.T) {
			server := newTestServer(t, false)
			spec := server.spec(client, "/10")
			spec.Beside = server.URL + "/3000000"
			r, err := Run(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			if r.Requests != 10 || r.Bytes != 100 || r.BesideBytes <= 0 {
				t.Errorf("%d requests, %d octets, %d beside; want 10, 100, some", r.Requests, r.Bytes, r.BesideBytes)
			}
			// HTTP/1.1 has a second connection for it, and a third if its lanes met.
			if conns := server.connections(); conns["HTTP/2.0"] != 1 && conns["HTTP/1.1"] < 2 {
				t.Errorf("connections %v, want one of HTTP/2 or several of HTTP/1.1", conns)
			}
		})
	}
}

func TestNothingBeside(t *testing.T) {
	server := newTestServer(t, false)
	for _, client := range Clients() {
		spec := server.spec(client, "/10")
		spec.Beside = server.URL + "/0"
		if _, err := Run(t.Context(), spec); err == nil || err.Error() != "the download beside: the body is empty" {
			t.Errorf("%s: the error is %v, want one about the download beside", client, err)
		}
	}
}

func TestFailures(t *testing.T) {
	for _, client := range Clients() {
		t.Run(client, func(t *testing.T) {
			server := newTestServer(t, false)
			server.broken.Store(6) // 2 of the warm-up, 4 of the 10
			r, err := Run(t.Context(), server.spec(client, "/10"))
			if err != nil {
				t.Fatal(err)
			}
			if r.Requests != 4 || r.Failures != 6 || !strings.Contains(r.FirstFailure, "503") {
				t.Errorf("%d requests and %d failures (%s), want 4 and 6 with a 503", r.Requests, r.Failures,
					r.FirstFailure)
			}
		})
	}
}

func TestBodiesOfAnotherSizeAreFailures(t *testing.T) {
	server := newTestServer(t, false)
	spec := server.spec(HTTP1, "/10")
	spec.Size, spec.Warmup = 11, 0
	r, err := Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if r.Failures != 10 || r.FirstFailure != "a body of 10 octets came, want 11" {
		t.Errorf("%d failures, the first: %s", r.Failures, r.FirstFailure)
	}
}

func TestATimedRunAgainstNothingEnds(t *testing.T) {
	server := newTestServer(t, false)
	for _, client := range Clients() {
		t.Run(client, func(t *testing.T) {
			spec := server.spec(client, "/10")
			spec.Requests, spec.Duration, spec.Warmup, spec.Dial = 0, time.Hour, 0, "127.0.0.1:1"
			r, err := Run(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			if r.Failures != 2*maxFailuresInARow || r.Requests != 0 || r.P50 != nil {
				t.Errorf("%d failures, %d requests, p50 %v; want %d, none, none", r.Failures, r.Requests, r.P50,
					2*maxFailuresInARow)
			}
			spec.Warmup = 1
			if _, err := Run(t.Context(), spec); err == nil || !strings.HasPrefix(err.Error(), "warming up: ") {
				t.Errorf("the error is %v, want one of the warm-up", err)
			}
		})
	}
}

func TestInterrupt(t *testing.T) {
	cause := errors.New("enough")
	for _, client := range Clients() {
		t.Run(client, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			hang := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				cancel(cause)
				<-r.Context().Done()
			}))
			hang.Config.Protocols = new(http.Protocols)
			hang.Config.Protocols.SetHTTP1(true)
			hang.Config.Protocols.SetUnencryptedHTTP2(true)
			hang.Start()
			defer hang.Close()
			spec := (&testServer{Server: hang}).spec(client, "/")
			if _, err := Run(ctx, spec); err != cause {
				t.Errorf("the error is %v, want %v", err, cause)
			}
		})
	}
}

func TestSpecsThatMakeNoSense(t *testing.T) {
	good := Spec{Client: HTTP1, URL: "http://x/", Op: Get, Requests: 1, Conns: 1, Streams: 1}
	for _, tt := range []struct {
		name   string
		change func(*Spec)
		want   string
	}{
		{"a URL", func(s *Spec) { s.URL = "ftp://x/" }, `"ftp://x/" is no http or https URL with a host`},
		{"a client", func(s *Spec) { s.Client = "ie6" },
			`there is no client "ie6" (want one of http1, net/http-h2, h2flow, h2flow-raw)`},
		{"an operation", func(s *Spec) { s.Op = "put" }, `there is no operation "put" (want get or post)`},
		{"a post of any size", func(s *Spec) { s.Op, s.Size = Post, AnySize }, `a body to post needs a size`},
		{"no lane", func(s *Spec) { s.Streams = 0 }, `1 connections with 0 streams are no load`},
		{"no end", func(s *Spec) { s.Requests = 0 }, `neither the requests nor the time are limited`},
		{"no certificate", func(s *Spec) { s.URL, s.CACert = "https://x/", "none" },
			`the certificates to trust contain none in PEM`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spec := good
			tt.change(&spec)
			if _, err := Run(t.Context(), spec); err == nil || err.Error() != tt.want {
				t.Errorf("the error is %v, want %s", err, tt.want)
			}
		})
	}
}
