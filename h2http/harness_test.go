package h2http_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
)

// A testNet gives out connections in memory. The n-th dial is served by the n-th script; a dial too many fails.
type testNet struct {
	mu      sync.Mutex
	scripts []func(*peer.Server)
	dials   int
	results []<-chan error
}

// scripted returns a Transport for http URLs whose n-th connection is served by the n-th script. When the bubble ends,
// the scripts must have ended well.
func scripted(t *testing.T, tr *h2http.Transport, scripts ...func(*peer.Server)) (*h2http.Transport, *testNet) {
	t.Helper()
	n := &testNet{scripts: scripts}
	tr.AllowHTTP = true
	tr.DialContext = n.dial
	t.Cleanup(func() {
		synctest.Wait() // what was to be sent has been sent
		tr.CloseIdleConnections()
		for i, done := range n.results {
			if err := <-done; err != nil {
				t.Errorf("server of connection %d: %v", i+1, err)
			}
		}
	})
	return tr, n
}

func (n *testNet) dial(context.Context, string, string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dials++; n.dials > len(n.scripts) {
		return nil, errors.New("a dial that the test does not expect")
	}
	client, server := net.Pipe()
	n.results = append(n.results, peer.Serve(server, peer.HPACK, n.scripts[n.dials-1]))
	return client, nil
}

func (n *testNet) dialed() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dials
}

// greeted is a script that does the start of the connection, with settings, and passes over WINDOW_UPDATE.
func greeted(script func(s *peer.Server), settings ...frame.Setting) func(*peer.Server) {
	return func(s *peer.Server) {
		s.Ignore = peer.IgnoreWindowUpdates
		s.Greet(settings...)
		script(s)
	}
}

// quiet fails the script if the client sends anything of a request within the next second.
func quiet(s *peer.Server, sentence string) {
	s.Conn().SetReadDeadline(time.Now().Add(time.Second))
	buf := make([]byte, 64<<10)
	for {
		n, err := s.Conn().Read(buf)
		s.Feed(buf[:n])
		for v, ok := s.Next(); ok; v, ok = s.Next() {
			switch v.(type) {
			case peer.Headers, frame.Data, frame.RSTStream:
				s.Fail("%s: %v", sentence, v)
			}
		}
		if err != nil {
			return
		}
	}
}

// besides passes over WINDOW_UPDATE and frames of type T.
func besides[T fmt.Stringer](v fmt.Stringer) bool {
	_, ok := v.(T)
	return ok || peer.IgnoreWindowUpdates(v)
}

// onlyHeaders passes over everything but field sections.
func onlyHeaders(v fmt.Stringer) bool { _, ok := v.(peer.Headers); return !ok }

// untilClosed lets the client close the connection, whatever it says before.
func untilClosed(s *peer.Server) {
	s.Conn().SetReadDeadline(time.Now().Add(time.Minute))
	io.Copy(io.Discard, s.Conn())
}

// fields makes field lines from names and values in turn.
func fields(pairs ...string) []frame.Field {
	var list []frame.Field
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, frame.Field{Name: pairs[i], Value: pairs[i+1]})
	}
	return list
}

// head is a response head; more are names and values in turn.
func head(id frame.StreamID, status string, more ...string) peer.Headers {
	return peer.Headers{Stream: id, Fields: fields(append([]string{":status", status}, more...)...)}
}

// answer is a whole response without a body.
func answer(id frame.StreamID, status string, more ...string) peer.Headers {
	h := head(id, status, more...)
	h.EndStream = true
	return h
}

func data(id frame.StreamID, text string) frame.Data {
	d := frame.Data{Stream: id}
	if text != "" { // as the peer gives back what has no content
		d.Data = []byte(text)
	}
	return d
}

func lastData(id frame.StreamID, text string) frame.Data {
	d := data(id, text)
	d.EndStream = true
	return d
}

// value is the value of a field, or "(none)".
func value(h peer.Headers, name string) string {
	for _, f := range h.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return "(none)"
}

func newRequest(t *testing.T, method, url string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// get reads the whole answer to a GET, as "status body" or the error's text.
func get(t *testing.T, rt http.RoundTripper, url string) string {
	t.Helper()
	return exchange(rt, newRequest(t, "GET", url, nil))
}

func exchange(rt http.RoundTripper, req *http.Request) string {
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	text := resp.Status + " " + string(body)
	if err != nil {
		text += " " + err.Error()
	}
	return strings.TrimSpace(text)
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// noTime fails the test if time passes while f runs.
func noTime(t *testing.T, what string, f func()) {
	t.Helper()
	start := time.Now()
	f()
	if d := time.Since(start); d != 0 {
		t.Errorf("%s took %v of virtual time", what, d)
	}
}

// A watchedBody is a request body that tells what is done to it.
type watchedBody struct {
	r io.Reader

	mu     sync.Mutex
	closes int
	late   int        // Reads that began after Close
	over   *testing.T // the caller has the body back: no Read may begin at all
	onStop func()
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	if b.closes > 0 {
		b.late++
	}
	if b.over != nil {
		b.over.Error("a Read began after the caller had the body back")
	}
	b.mu.Unlock()
	return b.r.Read(p)
}

func (b *watchedBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closes++; b.closes == 1 && b.onStop != nil {
		b.onStop()
	}
	return nil
}

// wantClosedOnce fails the test unless the body was closed once, and the reader stopped. One Read may begin after Close:
// the one that was on its way when Close, which is to end a Read that blocks and so cannot wait for it, came first. It is
// called when the caller has the body back: from then on none may begin at all.
func (b *watchedBody) wantClosedOnce(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = t
	if b.closes != 1 || b.late > 1 {
		t.Errorf("the request body was closed %d times, and %d Reads began after; want 1, and 1 at most", b.closes, b.late)
	}
}

// endless is a body that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// blocked is a body whose Read waits until it is closed.
func blocked() *watchedBody {
	r, w := io.Pipe()
	return &watchedBody{r: r, onStop: func() { w.CloseWithError(errors.New("closed")) }}
}

// watch makes a body of text; it is no type that net/http could make a GetBody for.
func watch(text string) *watchedBody { return &watchedBody{r: bytes.NewReader([]byte(text))} }
