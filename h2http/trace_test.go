package h2http_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow/h2http"
	"github.com/google/go-cmp/cmp"
)

// A recorder notes the hooks that are called.
type recorder struct {
	mu    sync.Mutex
	calls []string
	wrote chan struct{} // a value for each WroteRequest
}

func (r *recorder) note(call string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

func (r *recorder) taken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

func (r *recorder) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(hostPort string) { r.note("GetConn") },
		GotConn: func(i httptrace.GotConnInfo) {
			call := "GotConn"
			if i.Reused {
				call += " reused"
			}
			if i.WasIdle {
				call += " idle"
			}
			if i.Conn == nil {
				call += " without Conn"
			}
			r.note(call)
		},
		DNSStart:             func(httptrace.DNSStartInfo) { r.note("DNSStart") },
		DNSDone:              func(httptrace.DNSDoneInfo) { r.note("DNSDone") },
		ConnectStart:         func(string, string) { r.note("ConnectStart") },
		ConnectDone:          func(string, string, error) { r.note("ConnectDone") },
		TLSHandshakeStart:    func() { r.note("TLSHandshakeStart") },
		TLSHandshakeDone:     func(tls.ConnectionState, error) { r.note("TLSHandshakeDone") },
		WroteHeaderField:     func(name string, _ []string) { r.note("WroteHeaderField " + name) },
		WroteHeaders:         func() { r.note("WroteHeaders") },
		Wait100Continue:      func() { r.note("Wait100Continue") },
		Got100Continue:       func() { r.note("Got100Continue") },
		Got1xxResponse:       func(int, textproto.MIMEHeader) error { r.note("Got1xxResponse"); return nil },
		WroteRequest:         func(httptrace.WroteRequestInfo) { r.note("WroteRequest"); r.wrote <- struct{}{} },
		GotFirstResponseByte: func() { r.note("GotFirstResponseByte") },
	}
}

// Contract: T27a, T27b, T27c.
func TestTraceHooksComeInOrder(t *testing.T) {
	tr, url := secureServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(w, r.Body)
	}))
	r := &recorder{wrote: make(chan struct{}, 1)}
	do := func(body io.Reader) {
		t.Helper()
		req := newRequest(t, "POST", url, body)
		if body != nil {
			req.Header.Set("Expect", "100-continue")
		}
		resp, err := tr.RoundTrip(req.WithContext(httptrace.WithClientTrace(t.Context(), r.trace())))
		if err != nil {
			t.Fatal(err)
		}
		<-r.wrote // the upload ends beside the response, and no hook is called once its body is closed
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 {
			t.Error(resp.Status, err)
		}
		resp.Body.Close()
	}
	fields := []string{"WroteHeaderField :authority", "WroteHeaderField :method", "WroteHeaderField :path",
		"WroteHeaderField :scheme"}

	do(nil)
	want := append([]string{"GetConn", "ConnectStart", "ConnectDone", "TLSHandshakeStart", "TLSHandshakeDone",
		"GotConn"}, fields...)
	want = append(want, "WroteHeaderField accept-encoding", "WroteHeaderField user-agent",
		"WroteHeaderField content-length",
		"WroteHeaders", "WroteRequest", "GotFirstResponseByte")
	if diff := cmp.Diff(want, r.taken()); diff != "" {
		t.Errorf("first request (-want +got):\n%s", diff)
	}

	do(strings.NewReader("body"))
	want = append([]string{"GetConn", "GotConn reused idle"}, fields...)
	want = append(want, "WroteHeaderField expect", "WroteHeaderField accept-encoding", "WroteHeaderField user-agent",
		"WroteHeaderField content-length", "WroteHeaders")
	got := r.taken()
	if diff := cmp.Diff(want, got[:min(len(want), len(got))]); diff != "" {
		t.Errorf("second request, to its head (-want +got):\n%s", diff)
	}
	// The upload and the reading of the response are concurrent: only the order of each is known.
	rest := slices.Clone(got[min(len(want), len(got)):])
	slices.Sort(rest)
	if diff := cmp.Diff([]string{"Got100Continue", "Got1xxResponse", "GotFirstResponseByte", "Wait100Continue",
		"WroteRequest"}, rest); diff != "" {
		t.Errorf("second request, after its head (-want +got):\n%s", diff)
	}
}

// The hooks of a request that has left a shared dial are not called any more, though the dial goes on.
//
// Contract: T28.
func TestTraceHooksEndWithTheRequest(t *testing.T) {
	bubble(t, func(t *testing.T) { testTraceOfSharedDial(t) })
}

func testTraceOfSharedDial(t *testing.T) {
	r := &recorder{}
	tr, _ := scripted(t, &h2http.Transport{}, greeted(serve))
	slow := slowed(tr)
	ctx, cancel := context.WithCancel(httptrace.WithClientTrace(t.Context(), r.trace()))
	first := make(chan string, 1)
	go func() { first <- exchange(tr, newRequest(t, "GET", "http://a.example/", nil).WithContext(ctx)) }()
	<-slow.started
	second := make(chan string, 1)
	go func() { second <- get(t, tr, "http://a.example/") }()
	synctest.Wait() // it shares the dial
	cancel()
	if got := <-first; got != "context canceled" {
		t.Error(got)
	}
	before := r.taken()
	close(slow.goOn)
	if got := <-second; got != "200 OK" {
		t.Error(got)
	}
	if diff := cmp.Diff([]string{"GetConn", "ConnectStart"}, before); diff != "" {
		t.Errorf("hooks up to the cancel (-want +got):\n%s", diff)
	}
	if after := r.taken(); len(after) > 0 {
		t.Errorf("hooks after RoundTrip has returned: %v", after)
	}
}

// A slowDialer tells the trace of its context that it connects, and waits in between.
type slowDialer struct{ started, goOn chan struct{} }

func slowed(tr *h2http.Transport) *slowDialer {
	s := &slowDialer{started: make(chan struct{}), goOn: make(chan struct{})}
	dial := tr.DialContext
	tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if trace := httptrace.ContextClientTrace(ctx); trace != nil {
			trace.ConnectStart(network, addr)
			defer trace.ConnectDone(network, addr, nil)
		}
		close(s.started)
		<-s.goOn
		return dial(ctx, network, addr)
	}
	return s
}

// GotConn tells how long the connection was idle, and which it is; GetConn tells the address that is asked for.
//
// Contract: T27a.
func TestTraceTellsAboutTheConnection(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, greeted(serve))
		var asked []string
		var got []httptrace.GotConnInfo
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GetConn: func(hostPort string) { asked = append(asked, hostPort) },
			GotConn: func(i httptrace.GotConnInfo) { got = append(got, i) },
		})
		for range 2 {
			if a := exchange(tr, newRequest(t, "GET", "http://a.example/", nil).WithContext(ctx)); a != "200 OK" {
				t.Error(a)
			}
			time.Sleep(7 * time.Second)
		}
		if diff := cmp.Diff([]string{"a.example:80", "a.example:80"}, asked); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if len(got) != 2 || got[0].Reused || !got[1].Reused || !got[1].WasIdle || got[1].IdleTime != 7*time.Second ||
			got[0].Conn == nil || got[0].Conn != got[1].Conn {
			t.Errorf("%+v", got)
		}
	})
}
