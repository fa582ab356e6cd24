package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/flow"
	"example.com/h2flow/strategy"
)

// connKey finds the connection of a request in its context.
type connKey struct{}

// startServer serves handle over HTTP/1.1 and HTTP/2 in cleartext, and returns its URL.
func startServer(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewUnstartedServer(handle)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, c)
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// startTLS serves handle over TLS, with HTTP/2 only if h2, and returns its URL and a file with its certificate.
func startTLS(t *testing.T, h2 bool, handle http.HandlerFunc) (url, cacert string) {
	t.Helper()
	s := httptest.NewUnstartedServer(handle)
	s.EnableHTTP2 = h2
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	cacert = filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(cacert, block, 0o666); err != nil {
		t.Fatal(err)
	}
	return s.URL, cacert
}

// serveBody answers with n octets of which each tells its offset, roughly.
func serveBody(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { w.Write(body(n)) }
}

func body(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return p
}

// files are the names in dir.
func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func wantFile(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s has %d octets, other than the %d that were sent", path, len(got), len(want))
	}
}

func TestGetToStandardOutput(t *testing.T) {
	const size = 300_000
	url := startServer(t, serveBody(size))
	s := call(t.Context(), nil, "get", url)
	if s.status != 0 || s.stderr != "" {
		t.Fatalf("status %d, %q on standard error; want 0 and nothing", s.status, s.stderr)
	}
	if s.stdout != string(body(size)) {
		t.Errorf("%d octets on standard output, other than the %d that were sent", len(s.stdout), size)
	}
}

func TestGetToFile(t *testing.T) {
	const size = 1 << 20
	url, cacert := startTLS(t, true, serveBody(size))
	for _, tt := range []struct {
		name string
		args []string
		url  string
	}{
		{"TLS", []string{"--cacert", cacert}, url},
		{"an unchecked certificate", []string{"--insecure"}, url},
		{"cleartext", nil, startServer(t, serveBody(size))},
		{"small windows", []string{"--strategy", "fixed"}, startServer(t, serveBody(size))},
		{"buffers and limits", []string{"--read-buffer", "4KiB", "--write-buffer", "4KiB", "--max-frame-size", "16KiB",
			"--max-header-list-size", "8KiB", "--timeout", "1m", "--stall-timeout", "0"}, startServer(t, serveBody(size))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, "body")
			s := call(t.Context(), nil, append([]string{"get", "-o", out, tt.url}, tt.args...)...)
			if diff := cmp.Diff(session{}, s, cmp.AllowUnexported(session{})); diff != "" {
				t.Errorf("session (-want +got):\n%s", diff)
			}
			wantFile(t, out, body(size))
			if diff := cmp.Diff([]string{"body"}, files(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGetHeader(t *testing.T) {
	url := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Host+" "+r.Header.Get("X-A")+" "+strings.Join(r.Header["User-Agent"], ",")+" "+r.Proto)
	})
	s := call(t.Context(), nil, "get", "-H", "Host: other.example", "-H", "x-a:1", url)
	if want := "other.example 1 h2flow HTTP/2.0"; s.stdout != want {
		t.Errorf("the server saw %q, want %q; %s", s.stdout, want, s.stderr)
	}
}

func TestGetJSON(t *testing.T) {
	const size = 300_000
	url := startServer(t, serveBody(size))
	out := filepath.Join(t.TempDir(), "body")
	s := call(t.Context(), nil, "get", "--json", "-o", out, "--strategy", "fixed", url)
	if s.status != 0 || s.stderr != "" {
		t.Fatalf("status %d, %q on standard error; want 0 and nothing", s.status, s.stderr)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(s.stdout), &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"seconds", "mib_per_s", "window_updates", "peak_window_bytes", "peak_buffered_bytes"} {
		if n, ok := got[name].(float64); !ok || n <= 0 {
			t.Errorf("%s is %v, want a number above 0", name, got[name])
		}
		delete(got, name)
	}
	want := map[string]any{
		"url": url, "status": 200.0, "bytes": float64(size), "strategy": strategy.Fixed{}.String(), "pings": 0.0, "file": out,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestGetTrace(t *testing.T) {
	const size = 200_000
	url := startServer(t, serveBody(size))
	path := filepath.Join(t.TempDir(), "trace.sqlog")
	s := call(t.Context(), nil, "get", "--trace", path, "--strategy", "fixed", "-H", "authorization: secret-word", url)
	if s.status != 0 || s.stderr != "" {
		t.Fatalf("status %d, %q on standard error; want 0 and nothing", s.status, s.stderr)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("secret-word")) {
		t.Error("the trace contains the value of the authorization field")
	}
	var consumed, granted, updates, data float64
	names := make(map[string]bool)
	last := -1.0
	for record := range strings.SplitSeq(strings.TrimPrefix(string(text), "\x1e"), "\x1e") {
		var line struct {
			Time *float64
			Name string
			Data struct {
				Event   string
				N       float64
				Actions []any
				Frame   struct {
					Type   string `json:"frame_type"`
					Length float64
				}
			}
		}
		if err := json.Unmarshal([]byte(record), &line); err != nil {
			t.Fatalf("%s: %v", record, err)
		}
		if line.Time == nil { // the head
			continue
		}
		if *line.Time < last {
			t.Errorf("time goes back from %v to %v: %s", last, *line.Time, record)
		}
		last = *line.Time
		names[line.Name] = true
		granted += float64(len(line.Data.Actions))
		switch {
		case line.Data.Event == "Consumed":
			consumed += line.Data.N
		case line.Name == "http2:frame_created" && line.Data.Frame.Type == "WINDOW_UPDATE":
			updates++
		case line.Name == "http2:frame_parsed" && line.Data.Frame.Type == "DATA":
			data += line.Data.Frame.Length
		}
	}
	for _, want := range []string{"connection_opened", "windows_opened", "frame_created", "frame_parsed", "flow_decided",
		"response_head", "stream_closed"} {
		if !names["http2:"+want] {
			t.Errorf("the trace has no %s", want)
		}
	}
	if consumed != size || data != size {
		t.Errorf("%v octets were consumed and %v in frames, want %d", consumed, data, size)
	}
	// Each WINDOW_UPDATE is a decision of the strategy; a decision for a stream that has just ended is dropped.
	if updates == 0 || updates > granted {
		t.Errorf("%v WINDOW_UPDATEs were sent for %v decisions", updates, granted)
	}
}

func TestGetKeyLog(t *testing.T) {
	url, ca := startTLS(t, true, serveBody(5))
	path := filepath.Join(t.TempDir(), "keys")
	s := call(t.Context(), nil, "get", "--cacert", ca, "--keylog", path, url)
	if s.status != 0 || s.stderr != "" {
		t.Fatalf("status %d, %q on standard error; want 0 and nothing", s.status, s.stderr)
	}
	if keys, err := os.ReadFile(path); err != nil || !bytes.Contains(keys, []byte("CLIENT_TRAFFIC_SECRET_0 ")) {
		t.Errorf("keys %q, %v", keys, err)
	}
}

func TestGetTranscript(t *testing.T) {
	url := startServer(t, serveBody(5))
	s := call(t.Context(), nil, "get", "-v", "--strategy", "fixed", url)
	if s.status != 0 || s.stdout != string(body(5)) {
		t.Fatalf("status %d, %q on standard output", s.status, s.stdout)
	}
	line := regexp.MustCompile(`^\+\d+\.\d{6}s [<>] [A-Z_]+ .*$`)
	for text := range strings.Lines(s.stderr) {
		if !line.MatchString(strings.TrimSuffix(text, "\n")) {
			t.Errorf("this is no line of a transcript: %q", text)
		}
	}
	for _, want := range []string{`> SETTINGS `, `< SETTINGS `, `> HEADERS stream=1 `, `":method: GET"`,
		`< HEADERS stream=1 `, `":status: 200"`, `< DATA stream=1 len=5`} {
		if !strings.Contains(s.stderr, want) {
			t.Errorf("the transcript does not contain %q:\n%s", want, s.stderr)
		}
	}
}

// stubborn is a strategy that never grants anything.
type stubborn struct{}

func (stubborn) String() string     { return "stubborn" }
func (stubborn) New() flow.Strategy { return stubborn{} }
func (stubborn) Open(time.Time) flow.Windows {
	return flow.Windows{Stream: flow.DefaultWindow, Conn: flow.DefaultWindow}
}
func (stubborn) Decide(_ time.Time, _ flow.Event, dst []flow.Action) []flow.Action { return dst }
func (stubborn) Deadline() time.Time                                               { return time.Time{} }

// closedAddr is the URL of a port at which nobody listens.
func closedAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String() + "/"
}

// TestGetFailures: whatever goes wrong is one line and a status other than 0, and leaves no file, and one that was
// there before as it was.
func TestGetFailures(t *testing.T) {
	h1, h1CA := startTLS(t, false, serveBody(5))
	h2, _ := startTLS(t, true, serveBody(5))
	h1only := httptest.NewServer(serveBody(5))
	t.Cleanup(h1only.Close)
	dies := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		w.Write(body(100_000))
		w.(http.Flusher).Flush()
		r.Context().Value(connKey{}).(net.Conn).Close()
	}
	resets := func(w http.ResponseWriter, r *http.Request) {
		w.Write(body(100_000))
		panic(http.ErrAbortHandler)
	}
	hangs := func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	for _, tt := range []struct {
		name string
		url  string
		args []string
		want string
	}{
		{"a name that does not resolve", "http://no..such..host/", nil, `no such host`},
		{"a port that is closed", closedAddr(t), nil, `connection refused`},
		{"HTTP/1.1 only, in cleartext", h1only.URL, nil, `HTTP/1`},
		{"HTTP/1.1 only, over TLS", h1, []string{"--cacert", h1CA}, `(?:h2|ALPN|HTTP/2)`},
		{"a certificate of nobody we trust", h2, nil, `certificate`},
		{"a file of certificates without one", h2, []string{"--cacert", "get_test.go"}, `contains no certificate in PEM`},
		{"no file of certificates", h2, []string{"--cacert", "nowhere.pem"}, `nowhere.pem`},
		{"a server that dies", startServer(t, dies), nil, `after \d+ of 1000000 octets of the body: `},
		{"a stream that is reset", startServer(t, resets), nil,
			`after \d+ octets of the body: stream error: stream ID 1; INTERNAL_ERROR`},
		{"not found", startServer(t, http.NotFound), nil, `the server answered 404 Not Found`},
		{"a redirect", startServer(t, http.RedirectHandler("/other", http.StatusFound).ServeHTTP), nil,
			`answered 302 Found, to /other; redirects are not followed`},
		{"too slow", startServer(t, hangs), []string{"--timeout", "50ms"}, `not complete after 50ms \(--timeout\)`},
		{"a strategy that never grants", startServer(t, serveBody(100_000)),
			[]string{"--strategy", "stubborn", "--stall-timeout", "50ms"},
			`granted nothing for .*stream window 0 \(consumed 65535, received 65535, charged 65535, granted 65535\), ` +
				`connection window 0 \(consumed 65535, received 65535, charged 65535, granted 65535\)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"new", "old"} {
				out := filepath.Join(dir, name)
				if name == "old" {
					if err := os.WriteFile(out, []byte("precious"), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				args := append([]string{"get", "-o", out, tt.url}, tt.args...)
				s := call(t.Context(), []flow.Config{stubborn{}}, args...)
				s.wantFailure(t, 1, "^h2flow get: .*"+tt.want)
			}
			if diff := cmp.Diff([]string{"old"}, files(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			wantFile(t, filepath.Join(dir, "old"), []byte("precious"))
		})
	}
}

func TestGetInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	url := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Write(body(10_000))
		w.(http.Flusher).Flush()
		interrupt()
		<-r.Context().Done()
	})
	dir := t.TempDir()
	call(ctx, nil, "get", "-o", filepath.Join(dir, "body"), url).wantFailure(t, 1, `^h2flow get: interrupted\n$`)
	if diff := cmp.Diff([]string{}, files(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestGetKeepsErrorBodyWhenAsked(t *testing.T) {
	s := call(t.Context(), nil, "get", "--fail=false", startServer(t, http.NotFound))
	if diff := cmp.Diff(session{stdout: "404 page not found\n"}, s, cmp.AllowUnexported(session{})); diff != "" {
		t.Errorf("session (-want +got):\n%s", diff)
	}
}

func TestGetWithoutPlaceForTheFile(t *testing.T) {
	asked := false
	url := startServer(t, func(http.ResponseWriter, *http.Request) { asked = true })
	out := filepath.Join(t.TempDir(), "nowhere", "body")
	call(t.Context(), nil, "get", "-o", out, url).wantFailure(t, 1, `(?:no such file or directory|cannot find the path)`)
	if asked {
		t.Error("the server was asked although the body has no place to go")
	}
}
