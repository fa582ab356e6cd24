package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/cmd/h2flow/internal/load"
	"example.com/h2flow/flow"
	"example.com/h2flow/strategy"
)

// benchNames are the names of a line of JSON.
var benchNames = []string{
	"allocs_per_req", "bytes", "bytes_per_req", "client", "conns", "failures", "mib_per_s", "op", "p50_ms",
	"p90_ms", "p99_ms",
	"peak_rss_bytes", "proto", "ratio_to_http1", "req_per_s", "requests", "round", "seconds", "streams",
	"sys_s", "tls", "user_s",
}

// lines parses lines of JSON.
func lines(t *testing.T, text string) []map[string]any {
	t.Helper()
	var list []map[string]any
	for line := range strings.Lines(text) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		list = append(list, m)
	}
	return list
}

// runVerb runs bench and wants it to succeed, with nothing on standard error.
func runVerb(t *testing.T, args ...string) string {
	t.Helper()
	s := call(t.Context(), []flow.Config{own{strategy.BDP{}, "mine:a=1"}}, append([]string{"bench"}, args...)...)
	if s.status != 0 || s.stderr != "" {
		t.Fatalf("status %d, %q; want 0 and nothing", s.status, s.stderr)
	}
	return s.stdout
}

func TestBenchJSON(t *testing.T) {
	args := []string{"--json", "--compare", "--rounds", "2", "-n", "6", "-c", "2", "-m", "3", "--size", "2KiB"}
	got := lines(t, runVerb(t, args...))
	type run struct {
		client, proto  string
		round          float64
		conns, streams float64
	}
	var runs []run
	for _, m := range got {
		if diff := cmp.Diff(benchNames, slices.Sorted(maps.Keys(m))); diff != "" {
			t.Fatalf("names (-want +got):\n%s", diff)
		}
		if m["requests"] != 6.0 || m["bytes"] != 6.0*2048 || m["failures"] != 0.0 || m["op"] != "get" ||
			m["tls"] != false {
			t.Errorf("%v: want 6 requests by GET in cleartext, with 12288 octets", m)
		}
		rate := m["requests"].(float64) / m["seconds"].(float64)
		if math.Abs(m["req_per_s"].(float64)/rate-1) > 1e-9 || math.Abs(m["mib_per_s"].(float64)*512/rate-1) > 1e-9 {
			t.Errorf("%v: the rates are not those of its requests, octets and seconds", m)
		}
		for _, name := range []string{"p50_ms", "p90_ms", "p99_ms", "allocs_per_req", "bytes_per_req",
			"ratio_to_http1"} {
			if f, ok := m[name].(float64); !ok || f <= 0 {
				t.Errorf("%s is %v, want more than 0", name, m[name])
			}
		}
		if runtime.GOOS == "linux" && (m["user_s"] == nil || m["sys_s"] == nil ||
			m["peak_rss_bytes"].(float64) < 1<<20) {
			t.Errorf("%v: want the CPU time and the memory of the client", m)
		}
		runs = append(runs, run{
			m["client"].(string), m["proto"].(string), m["round"].(float64), m["conns"].(float64),
			m["streams"].(float64),
		})
	}
	want := []run{
		{"http1", "HTTP/1.1", 1, 6, 1}, {"net/http-h2", "HTTP/2", 1, 2, 3}, {"h2flow", "HTTP/2", 1, 2, 3},
		{"h2flow-raw", "HTTP/2", 1, 2, 3},
		{"http1", "HTTP/1.1", 2, 6, 1}, {"net/http-h2", "HTTP/2", 2, 2, 3}, {"h2flow", "HTTP/2", 2, 2, 3},
		{"h2flow-raw", "HTTP/2", 2, 2, 3},
	}
	if diff := cmp.Diff(want, runs, cmp.AllowUnexported(run{})); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	for _, m := range got {
		if m["client"] == "http1" && m["ratio_to_http1"] != 1.0 {
			t.Errorf("http1 is %v times as fast as itself", m["ratio_to_http1"])
		}
	}
}

// Every option reaches the run, whatever it is combined with.
func TestBenchOptions(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want map[string]any
	}{
		{[]string{"--op", "post", "--size", "3KiB"}, map[string]any{"op": "post", "bytes": 2.0 * 3072}},
		{[]string{"--op", "post", "--chunked", "--client", "http1"}, map[string]any{"client": "http1",
			"bytes": 2048.0}},
		{[]string{"--tls"}, map[string]any{"tls": true, "proto": "HTTP/2"}},
		{[]string{"--tls", "--client", "http1", "--warmup", "0"}, map[string]any{"tls": true,
			"proto": "HTTP/1.1", "conns": 1.0}},
		{[]string{"--tls", "--client", "h2flow-raw", "--op", "post"}, map[string]any{"tls": true, "op": "post"}},
		{[]string{"--tls", "--client", "net/http-h2", "--rtt", "1ms", "--rate", "1Gbit"},
			map[string]any{"client": "net/http-h2"}},
		{[]string{"--strategy", "threshold", "--client", "h2flow-raw"}, map[string]any{"client": "h2flow-raw"}},
		{[]string{"--strategy", "mine", "--rtt", "1ms"}, map[string]any{"client": "h2flow"}},
		{[]string{"--read-buffer", "8KiB", "--write-buffer", "8KiB", "--max-frame-size", "32KiB"},
			map[string]any{"client": "h2flow"}},
		{[]string{"--body-buffer", "100", "--size", "0"}, map[string]any{"bytes": 0.0}},
		{[]string{"--pace", "1MiB/s", "--size", "10KiB"}, map[string]any{"bytes": 20480.0}},
		{[]string{"--beside", "10MiB"}, map[string]any{"bytes": 2048.0, "streams": 1.0}},
		{[]string{"--beside", "10MiB", "--client", "http1", "--tls"}, map[string]any{"bytes": 2048.0, "conns": 1.0}},
		{[]string{"--http1-conns", "3", "--client", "http1", "-m", "9"}, map[string]any{"conns": 3.0, "streams": 1.0}},
		{[]string{"-m", "150", "-n", "2"}, map[string]any{"streams": 150.0}},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			got := lines(t, runVerb(t, append([]string{"--json", "-n", "2"}, tt.args...)...))
			if len(got) != 1 {
				t.Fatalf("%d lines, want 1", len(got))
			}
			for name, want := range tt.want {
				if got[0][name] != want {
					t.Errorf("%s is %v, want %v", name, got[0][name], want)
				}
			}
			if ratio := got[0]["ratio_to_http1"]; (ratio != nil) != (got[0]["client"] == "http1") {
				t.Errorf("ratio_to_http1 of %v alone is %v, want null but for http1", got[0]["client"], ratio)
			}
		})
	}
}

// Other servers are used where they are installed.
func TestBenchOrigins(t *testing.T) {
	for _, tt := range []struct {
		name    string
		clients int
		uploads bool
	}{{"nginx", 4, false}, {"h2o", 4, false}, {"nghttpd", 3, true}} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := exec.LookPath(tt.name); err != nil {
				t.Skip(err)
			}
			for _, more := range [][]string{nil, {"--tls"}, {"--tls", "--rtt", "1ms"}} {
				args := []string{"--json", "--compare", "--rounds", "1", "-n", "3", "--size", "100000",
					"--origin", tt.name}
				got := lines(t, runVerb(t, append(args, more...)...))
				if len(got) != tt.clients {
					t.Errorf("%v: %d clients were compared, want %d", more, len(got), tt.clients)
				}
				for _, m := range got {
					if m["bytes"] != 300000.0 || (m["client"] == "http1") != (m["proto"] == "HTTP/1.1") {
						t.Errorf("%v: %v: want 300000 octets, HTTP/1.1 for http1 alone", more, m)
					}
				}
			}
			if text := runVerb(t, "-n", "1", "--origin", tt.name); !strings.Contains(text,
				"/bytes/1024 ("+tt.name+"), ") {
				t.Errorf("the title does not name the server:\n%s", text)
			}
			if tt.uploads {
				got := lines(t, runVerb(t, "--json", "-n", "2", "--op", "post", "--size", "1MiB", "--origin", tt.name))
				if got[0]["bytes"] != float64(2<<20) {
					t.Errorf("%v octets were posted, want 2 MiB", got[0]["bytes"])
				}
			}
		})
	}
}

func TestBenchDuration(t *testing.T) {
	start := time.Now()
	got := lines(t, runVerb(t, "--json", "--duration", "100ms", "-m", "2"))
	if s := got[0]["seconds"].(float64); s < 0.1 || s > time.Since(start).Seconds() {
		t.Errorf("the run took %v s, want at least 0.1 and no more than all of it", s)
	}
}

func TestBenchURL(t *testing.T) {
	var paths, conns atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths.Add(1)
		if r.URL.Path == "/a" || r.URL.Path == "/bytes/1024" {
			w.Write(make([]byte, 1024))
		}
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conns.Add(1)
		w.Write(make([]byte, 1024))
	}))
	defer old.Close()

	bytesOf := func(args ...string) float64 {
		return lines(t, runVerb(t, append([]string{"--json", "-n", "2"}, args...)...))[0]["bytes"].(float64)
	}
	if got := bytesOf(server.URL + "/a"); got != 2048 {
		t.Errorf("%v octets came, want 2048", got)
	}
	if got := bytesOf(server.URL); got != 0 {
		t.Errorf("%v octets came from the path /, want 0", got)
	}
	if got := bytesOf(server.URL+"/", "--size", "1KiB"); got != 2048 {
		t.Errorf("%v octets came of a given size from a server without a path, want 2048", got)
	}
	if n := paths.Load(); n != 9 {
		t.Errorf("the server saw %d requests, want 9", n)
	}
	got := lines(t, runVerb(t, "--json", "-n", "2", "--client", "h2flow,http1", "--http1-url", old.URL+"/a",
		server.URL+"/a"))
	if len(got) != 2 || got[1]["client"] != "http1" || got[0]["ratio_to_http1"] == nil || conns.Load() != 3 {
		t.Errorf("%v, and %d requests at the other URL; want both clients, h2flow's ratio, and 3", got, conns.Load())
	}

	s := call(t.Context(), nil, "bench", "-n", "2", "--json", "--size", "3KiB", "--warmup", "0", server.URL+"/a")
	if s.status != 1 || !strings.Contains(s.stderr,
		"h2flow bench: client h2flow: 2 of 2 requests failed; the first: a body of 1024 octets came, want 3072\n") {
		t.Errorf("status %d, %q; want 1 and the reason", s.status, s.stderr)
	}
	if m := lines(t, s.stdout)[0]; m["failures"] != 2.0 || m["requests"] != 0.0 || m["p50_ms"] != nil ||
		m["allocs_per_req"] != nil {
		t.Errorf("%v: want 2 failures, and null for what needs a request", m)
	}
}

func TestBenchTrust(t *testing.T) {
	var ready readyLine
	if err := json.Unmarshal([]byte(startServe(t, "--tls", "--json")), &ready); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, []byte(*ready.Certificate), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, trust := range [][]string{{"--cacert", file}, {"--insecure"}} {
		for _, client := range load.Clients() {
			runVerb(t, append(trust, "-n", "1", "--client", client, "--size", "10", ready.URL)...)
		}
	}
	s := call(t.Context(), nil, "bench", "-n", "1", "--client", "http1,h2flow", ready.URL)
	if s.status != 1 || !strings.Contains(s.stderr, "client http1: warming up: ") || !strings.Contains(s.stderr,
		"certificate") {
		t.Errorf("status %d, %q; want 1 and a word about the certificate", s.status, s.stderr)
	}
	if !strings.Contains(s.stdout, "\nh2flow failed: warming up: ") {
		t.Errorf("the tables do not say that h2flow failed, too:\n%s", s.stdout)
	}
}

func TestBenchTables(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs.jsonl")
	text := runVerb(t, "--client", "http1,net/http-h2,h2flow", "--strategy", "fixed,mine", "--rounds", "3",
		"-n", "2", "-o", out)
	for _, want := range []string{
		"TCP congestion control: ", "GET http://127.0.0.1:", "(a server of ours in a process of its own)",
		", 1 connection, 1 stream on each, 2 requests, 3 rounds\n",
		"speed and latency", "req/s", "p99 ms", "cost of the client", "CPU s/GiB", "CPU s/1000 req",
		"allocs/req", "peak heap",
		"\nratio to http1 ", "\nratio to net/http-h2 ", "\nh2flow mine:a=1 ", "\nh2flow fixed:stream=",
		"median of the ratios of 3 pairs, with its 95 % interval by bootstrap\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the tables do not contain %q:\n%s", want, text)
		}
	}
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if got := lines(t, string(written)); len(got) != 12 {
		t.Errorf("%d lines of JSON were written, want 12", len(got))
	}
}

func TestBenchReportSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs for seconds")
	}
	defer func(rtts []time.Duration) { reportRTTs = rtts }(reportRTTs)
	reportRTTs = []time.Duration{0, time.Millisecond}
	out := filepath.Join(t.TempDir(), "runs.jsonl")
	text := runVerb(t, "--suite", "report", "-n", "1", "--rounds", "1", "-o", out)
	for _, want := range []string{
		"cleartext, 32 concurrent small requests", "TLS, 1 MiB upload", "9772 (1.68)", "10.81 (0.05)",
		"95.06 (0.46)", "165.6 (0.78)",
		"h2flow fixed:stream=65535:conn=65535", "median of 1 round of 1 request each",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the table does not contain %q:\n%s", want, text)
		}
	}
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	names := append([]string{"case", "rtt_ms"}, benchNames...)
	slices.Sort(names)
	seen := make(map[string]int)
	for _, m := range lines(t, string(written)) {
		if diff := cmp.Diff(names, slices.Sorted(maps.Keys(m))); diff != "" {
			t.Fatalf("names (-want +got):\n%s", diff)
		}
		seen[fmt.Sprintf("%v %v", m["tls"], m["rtt_ms"])]++
	}
	if diff := cmp.Diff(map[string]int{"false 0": 16, "false 1": 16, "true 0": 16, "true 1": 16}, seen); diff != "" {
		t.Errorf("lines by path (-want +got):\n%s", diff)
	}
}

func TestBenchBuffersSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs for seconds")
	}
	text := runVerb(t, "--suite", "buffers", "--size", "1MiB", "--rounds", "2")
	for _, want := range []string{
		"upload of 1MiB, https", "upload of 1MiB, http ", "download of 104857, https", "real s", "user s", "sys s",
		"\nhttp1 chunked write-buffer=4KiB ", "\nh2flow-raw write-buffer=128KiB ",
		"\nh2flow read-buffer=256KiB ", "\nnet/http-h2 ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the tables do not contain %q:\n%s", want, text)
		}
	}
	if got := strings.Count(text, "["); got != 2*4+2*3 {
		t.Errorf("%d rows compare a large buffer with a small one, want 14:\n%s", got, text)
	}
}

func TestBenchMemorySuite(t *testing.T) {
	text := runVerb(t, "--suite", "memory", "-c", "3", "--rounds", "1")
	for _, want := range []string{"for each of 3 connections", "\nhttp1, cleartext ", "\nh2flow-raw, TLS "} {
		if !strings.Contains(text, want) {
			t.Errorf("the table does not contain %q:\n%s", want, text)
		}
	}
}

func TestBenchUsage(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"two URLs", []string{"http://x/", "http://y/"}, `want at most one URL, got 2 arguments`},
		{"a scheme", []string{"ftp://x/"}, `no URL of the scheme http or https`},
		{"no host", []string{"http:///"}, `names no host`},
		{"a client", []string{"--client", "curl"}, `there is no client "curl"`},
		{"a strategy", []string{"--strategy", "fast"}, `fast`},
		{"an operation", []string{"--op", "put"}, `--op must be get or post`},
		{"no rounds", []string{"--rounds", "0"}, `--rounds must be at least 1`},
		{"no requests", []string{"-n", "0"}, `-n must be at least 1`},
		{"fewer requests", []string{"-n", "-1"}, `-n must be at least 1`},
		{"no connection", []string{"-c", "0"}, `-c and -m must be at least 1`},
		{"too many streams", []string{"-m", "100000"}, `at most 65536`},
		{"a negative warm-up", []string{"--warmup", "-1"}, `--warmup must not be negative`},
		{"a chunked GET", []string{"--chunked"}, `--chunked needs --op post`},
		{"an origin", []string{"--origin", "apache"},
			`there is no origin "apache" \(want one of go, nginx, h2o, nghttpd\)`},
		{"an origin and a URL", []string{"--origin", "nginx", "http://x/"}, `--origin is for runs without a URL`},
		{"an upload to nginx", []string{"--origin", "nginx", "--op", "post"},
			`nginx has nothing here that reads an upload`},
		{"a path to two ports", []string{"--origin", "nginx", "--rtt", "1ms"}, `a port of its own for HTTP/1.1`},
		{"HTTP/1.1 to nghttpd", []string{"--origin", "nghttpd", "--client", "http1"},
			`nghttpd does not speak HTTP/1.1`},
		{"connections of http1", []string{"--http1-conns", "-1"}, `--http1-conns must be between`},
		{"a pace", []string{"--pace", "1MiB"}, `"1MiB" is no rate`},
		{"an empty buffer", []string{"--read-buffer", "4KiB,0"}, `a buffer must be between 1 and 1GiB`},
		{"a buffer for bodies", []string{"--body-buffer", "0"}, `--body-buffer must be between`},
		{"a frame size", []string{"--max-frame-size", "1KiB"}, `must be between 16KiB and 16777215`},
		{"a size", []string{"--size", "10Mbit"}, `"10Mbit" is no size`},
		{"a rate", []string{"--rate", "1MB"}, `"1MB" is no rate`},
		{"TLS with a URL", []string{"--tls", "http://x/"}, `--tls is for runs without a URL`},
		{"trust without a URL", []string{"--insecure"}, `need a URL`},
		{"trust in two ways", []string{"--insecure", "--cacert", "f", "https://x/"}, `exclude each other`},
		{"another scheme for http1", []string{"--http1-url", "https://x/", "http://x/"},
			`must be a URL of the scheme http`},
		{"a path to two servers", []string{"--http1-url", "http://y/", "--rtt", "1ms", "http://x/"},
			`does not go together`},
		{"a suite", []string{"--suite", "all"}, `there is no suite "all"`},
		{"a suite with a client", []string{"--suite", "report", "--client", "http1"},
			`the suite report decides about --client itself`},
		{"a suite with connections", []string{"--suite", "buffers", "-c", "2"},
			`the suite buffers decides about -c itself`},
		{"a suite with a URL", []string{"--suite", "report", "http://x/"}, `takes no URL`},
		{"a suite without rounds", []string{"--suite", "report", "--rounds", "0"}, `--rounds must be at least 1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call(t.Context(), nil, append([]string{"bench"}, tt.args...)...).wantFailure(t, 2, tt.want)
		})
	}
}

func TestBenchFailures(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"a file that cannot be written", []string{"-o", "/nowhere/x", "-n", "1"}, `/nowhere/x: no such file`},
		{"certificates that are not there", []string{"--cacert", "/nowhere/x", "https://x/"},
			`/nowhere/x: no such file`},
		{"nobody listens", []string{"--json", "-n", "1", "http://127.0.0.1:1/"},
			`client h2flow: warming up: .*connection refused`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call(t.Context(), nil, append([]string{"bench"}, tt.args...)...).wantFailure(t, 1, tt.want)
		})
	}
}

func TestBenchInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	s := call(ctx, nil, "bench", "--json", server.URL)
	s.wantFailure(t, 1, "^h2flow bench: interrupted\n$")
}

func TestVariants(t *testing.T) {
	o := benchOptions{
		clients:     []string{"http1", "net/http-h2", "h2flow"},
		strategies:  []flow.Config{strategy.Fixed{Stream: 1 << 20, Conn: 1 << 20}},
		readBuffers: []int64{4096, 65536}, maxFrames: []int64{16384, 32768},
	}
	var got []string
	for _, v := range o.variants() {
		name := "default"
		if v.flow != nil {
			name = v.flow.String()
		}
		got = append(got, fmt.Sprintf("%s | %s %s %d %d", v.label, v.client, name, v.readBuffer, v.maxFrame))
	}
	want := []string{
		"http1 read-buffer=4KiB | http1 default 4096 0",
		"http1 read-buffer=64KiB | http1 default 65536 0",
		"net/http-h2 max-frame-size=16KiB | net/http-h2 default 0 16384",
		"net/http-h2 max-frame-size=32KiB | net/http-h2 default 0 32768",
		"h2flow read-buffer=4KiB max-frame-size=16KiB | h2flow fixed:stream=1MiB:conn=1MiB 4096 16384",
		"h2flow read-buffer=4KiB max-frame-size=32KiB | h2flow fixed:stream=1MiB:conn=1MiB 4096 32768",
		"h2flow read-buffer=64KiB max-frame-size=16KiB | h2flow fixed:stream=1MiB:conn=1MiB 65536 16384",
		"h2flow read-buffer=64KiB max-frame-size=32KiB | h2flow fixed:stream=1MiB:conn=1MiB 65536 32768",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("variants (-want +got):\n%s", diff)
	}
}

// Pairs are of the same round, and a figure that is not known makes no pair.
func TestRatiosArePairs(t *testing.T) {
	row := func(rate float64, p99 *float64) benchRow { return benchRow{ReqPerS: rate, P99Ms: p99} }
	one := 1.0
	base := []benchRow{row(100, nil), row(10, &one), row(1, &one)}
	other := []benchRow{row(200, &one), row(20, &one), row(2, nil)}
	if got := ratioMeasures[0].ratio(other, base); got.Median != 2 || got.Low != 2 || got.High != 2 || got.N != 3 {
		t.Errorf("the ratio of speeds is %+v, want 2 with an interval of nothing, of 3 pairs", got)
	}
	if got := ratioMeasures[3].ratio(other, base); got.Median != 1 || got.N != 1 {
		t.Errorf("the ratio of p99 is %+v, want 1 of one pair", got)
	}
	if got := ratioMeasures[1].ratio(other, base); got.N != 0 || !math.IsNaN(got.Median) {
		t.Errorf("the ratio of CPU times is %+v, want none", got)
	}
}

func TestUnknownFiguresAreNull(t *testing.T) {
	c := &benchCase{target: &target{url: &url.URL{Scheme: "http", Host: "x"}}, spec: load.Spec{Op: "get"}}
	row := c.row(variant{label: "http1", client: "http1"}, 1, &load.Result{Failures: 1, Seconds: 1})
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	json.Unmarshal(text, &m)
	var null []string
	for name, v := range m {
		if v == nil {
			null = append(null, name)
		}
	}
	slices.Sort(null)
	want := []string{
		"allocs_per_req", "bytes_per_req", "p50_ms", "p90_ms", "p99_ms", "peak_rss_bytes", "proto",
		"ratio_to_http1", "sys_s", "user_s",
	}
	if diff := cmp.Diff(want, null); diff != "" {
		t.Errorf("null (-want +got):\n%s", diff)
	}
	var table bytes.Buffer
	printOutcomes(&table, []outcome{{variant: variant{label: "http1", client: "http1"}, rows: []benchRow{row}}})
	if got := strings.Count(table.String(), " -"); got != 3+7+1 {
		t.Errorf("%d cells are empty, want 11:\n%s", got, table.String())
	}
}

func TestCongestionNote(t *testing.T) {
	for _, control := range []string{"bbr", "bbr2"} {
		if got := congestionNote(control); !strings.Contains(got, "tcp_congestion_control=cubic") {
			t.Errorf("the note for %s is %q", control, got)
		}
	}
	if got := congestionNote("cubic"); got != "" {
		t.Errorf("the note for cubic is %q, want none", got)
	}
}

func TestDigits(t *testing.T) {
	for in, want := range map[float64]string{
		0: "0", 12345.6: "12346", 123.46: "123.5", 12.346: "12.35", 1.23456: "1.235", 0.123456: "0.123",
		0.00123456: "0.00123",
	} {
		if got := digits(in); got != want {
			t.Errorf("%v is shown as %s, want %s", in, got, want)
		}
	}
}

func TestChildError(t *testing.T) {
	failed := errors.New("exit status 1")
	for in, want := range map[string]string{
		"":                               "exit status 1",
		"h2flow bench: dial tcp: no\n":   "dial tcp: no",
		"panic: no\n":                    "panic: no",
		"h2flow serve: listen: in use\n": "listen: in use",
	} {
		if got := childError(failed, in); got.Error() != want {
			t.Errorf("%q is the error %q, want %q", in, got, want)
		}
	}
}
