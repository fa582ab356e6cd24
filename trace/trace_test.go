package trace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/pipe"
	"example.com/h2flow/strategy"
	"example.com/h2flow/trace"
	"github.com/google/go-cmp/cmp"
)

// A safeBuffer may be written from many goroutines.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// download runs one exchange with secrets in it under a hook.
func download(t *testing.T, hook func(h2flow.Event)) {
	synctest.Test(t, func(t *testing.T) {
		l := pipe.Listen(pipe.Link{RTT: 20 * time.Millisecond})
		srv := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter,
			r *http.Request) {
			w.Header().Set("Set-Cookie", "session=topsecret")
			w.Write(make([]byte, 200<<10))
		})}
		srv.Protocols.SetUnencryptedHTTP2(true)
		go srv.Serve(l)
		nc, err := l.Dial()
		if err != nil {
			t.Fatal(err)
		}
		c, err := h2flow.NewClientConn(nc, &h2flow.Config{Flow: strategy.Fixed{}, OnEvent: hook})
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.OpenStream(t.Context(), &h2flow.Request{
			Method: "GET", Scheme: "http", Authority: "a", Path: "/", EndStream: true,
			Header: []frame.Field{{Name: "authorization", Value: "topsecret"}, {Name: "x", Value: "y"},
				{Name: "x-key", Value: "topsecret", Sensitive: true}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, s); n != 200<<10 || err != nil {
			t.Errorf("%d octets, %v", n, err)
		}
		c.Close()
		srv.Close()
		l.Close()
	})
}

// records takes a JSON text sequence apart.
func records(t *testing.T, text string) (list []map[string]any) {
	t.Helper()
	if !strings.HasPrefix(text, "\x1e") || !strings.HasSuffix(text, "\n") {
		t.Errorf("no sequence: it begins with %q and ends with %q", text[:1], text[len(text)-1:])
	}
	for _, r := range strings.Split(text, "\x1e")[1:] {
		var m map[string]any
		if err := json.Unmarshal([]byte(r), &m); err != nil {
			t.Fatalf("%v in %q", err, r)
		}
		list = append(list, m)
	}
	return list
}

// TestQLog writes what the schema says: the head of the trace, and for each kind of event the fields of docs/qlog.md.
//
// Contract: O3.
func TestQLog(t *testing.T) {
	var out safeBuffer
	q := trace.NewQLog(&out, "a download")
	download(t, q.Event)
	every(q.Event)
	if err := q.Close(); err != nil {
		t.Error(err)
	}
	q.Event(h2flow.Event{Kind: h2flow.ConnClosed}) // dropped
	list := records(t, out.String())
	head := list[0]
	trace0 := head["trace"].(map[string]any)
	if head["file_schema"] != "urn:ietf:params:qlog:file:sequential" ||
		head["serialization_format"] != "application/qlog+json-seq" || head["title"] != "a download" ||
		trace0["event_schemas"].([]any)[0] != trace.Schema {
		t.Errorf("head %v", head)
	}
	if strings.Contains(out.String(), "topsecret") {
		t.Error("a secret is in the trace")
	}
	page, err := os.ReadFile("../docs/qlog.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := documentedFields(string(page))
	seen := map[string]bool{}
	last := -1.0
	for _, r := range list[1:] {
		name := r["name"].(string)
		seen[name] = true
		fields, ok := documented[name]
		if !ok {
			t.Fatalf("event %s is not in docs/qlog.md", name)
		}
		for key := range r["data"].(map[string]any) {
			if !slices.Contains(fields, key) {
				t.Errorf("field %s of %s is not in docs/qlog.md", key, name)
			}
		}
		if at := r["time"].(float64); at < last || r["group_id"] == nil {
			t.Errorf("%v after %v", r, last)
		} else {
			last = at
		}
	}
	for name := range documented {
		if !seen[name] {
			t.Errorf("%s is in docs/qlog.md and was not written", name)
		}
	}
}

// documentedFields reads the tables of docs/qlog.md: "| `http2:name` | when | `field`, `field` |".
func documentedFields(page string) map[string][]string {
	row := regexp.MustCompile("(?m)^\\| `(http2:[a-z_]+)` \\|[^|]*\\|([^|]*)\\|$")
	code := regexp.MustCompile("`([a-z_]+)`")
	documented := map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(page, -1) {
		list := []string{}
		for _, f := range code.FindAllStringSubmatch(m[2], -1) {
			list = append(list, f[1])
		}
		documented[m[1]] = list
	}
	return documented
}

// every makes the events that a plain download does not bring.
func every(hook func(h2flow.Event)) {
	later := time.Now().Add(time.Hour)
	goAway := &h2flow.GoAwayError{LastStreamID: 1, ErrCode: frame.EnhanceYourCalm}
	origin, altSvc := frame.MakeOrigin("https://b.example"), frame.AltSvc{Stream: 1, Value: []byte("clear")}
	for _, ev := range []h2flow.Event{
		{Kind: h2flow.ConnGoAway, Err: goAway},
		{Kind: h2flow.StreamClosed, Stream: 1, Err: &h2flow.StreamError{StreamID: 1, Code: frame.Cancel}},
		{Kind: h2flow.StreamStalled, Stream: 1, Stall: &flow.Stall{Stream: 1}},
		{Kind: h2flow.FlowDecided, Flow: &flow.Event{Kind: flow.RTTSample, RTT: time.Millisecond}},
		{Kind: h2flow.FlowDecided, Stream: 1, Flow: &flow.Event{Kind: flow.ActionRefused, Stream: 1,
			Refusal: flow.RefusedIncrement}, Actions: []flow.Action{flow.GrantStream(1, 5), flow.Ping()}},
		{Kind: h2flow.AltSvcReceived, Stream: 1, AltSvc: &altSvc},
		{Kind: h2flow.OriginReceived, Origins: &origin},
		{Kind: h2flow.ConnClosed, Err: goAway},
	} {
		ev.Time, ev.Conn = later, 1
		hook(ev)
	}
}

// TestQLogKeepsTheFirstError of its writer.
func TestQLogKeepsTheFirstError(t *testing.T) {
	full := errors.New("no space")
	q := trace.NewQLog(failing{full}, "")
	q.Event(h2flow.Event{Kind: h2flow.ConnSettings, Time: time.Now()})
	q.Event(h2flow.Event{Kind: h2flow.ConnClosed, Time: time.Now()})
	if err := q.Close(); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestSlog logs each kind of event at its level.
//
// Contract: O2.
func TestSlog(t *testing.T) {
	var out safeBuffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))
	hook := trace.Slog(logger, slog.LevelDebug)
	download(t, hook)
	every(hook)
	text := out.String()
	if strings.Contains(text, "topsecret") {
		t.Error("a secret is in the log")
	}
	got := map[string]bool{}
	for _, m := range regexp.MustCompile(`level=(\S+) msg="HTTP/2 ([^"]+)"`).FindAllStringSubmatch(text, -1) {
		got[m[2]+" "+m[1]] = true
	}
	want := map[string]bool{
		"connection opened DEBUG": true, "settings applied DEBUG": true, "GOAWAY received WARN": true,
		"connection closed DEBUG": true, "connection closed WARN": true, "stream opened DEBUG": true,
		"response head DEBUG": true, "stream closed DEBUG": true, "stream stalled WARN": true,
		"frame sent DEBUG-4": true, "frame received DEBUG-4": true, "windows opened DEBUG-4": true,
		"flow control DEBUG-4": true, "alternative service DEBUG": true, "origins DEBUG": true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSlogAsksTheLoggerFirst: what it does not want is not formatted.
func TestSlogAsksTheLoggerFirst(t *testing.T) {
	hook := trace.Slog(slog.New(slog.DiscardHandler), slog.LevelDebug)
	f := h2flow.FrameTrace{Header: frame.Header{Type: frame.TypePing}}
	ev := h2flow.Event{Kind: h2flow.FrameSent, Frame: &f}
	if n := testing.AllocsPerRun(100, func() { hook(ev) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
