package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/strategy"
)

// TestMain lets the verbs start this program again, as they do with h2flow itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		os.Exit(Main(os.Args[1:], own{strategy.BDP{}, "mine:a=1"}))
	}
	// Under the race detector every process waits for a second before it ends, unless it is told not to.
	os.Setenv("GORACE", strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"))
	os.Exit(m.Run())
}

// A testClient sends requests to the server of serve over one version of HTTP.
type testClient struct {
	name string
	*http.Client
	url string
}

// serving starts the paths and returns a client for each version.
func serving(t *testing.T) []testClient {
	server := httptest.NewUnstartedServer(nil)
	origin := newTestOrigin(0)
	server.Config = origin
	server.Start()
	t.Cleanup(server.Close)
	var clients []testClient
	for _, name := range []string{"HTTP/1.1", "HTTP/2.0"} {
		var protocols http.Protocols
		protocols.SetHTTP1(name == "HTTP/1.1")
		protocols.SetUnencryptedHTTP2(name == "HTTP/2.0")
		transport := &http.Transport{Protocols: &protocols}
		t.Cleanup(transport.CloseIdleConnections)
		clients = append(clients, testClient{name, &http.Client{Transport: transport}, server.URL})
	}
	return clients
}

func TestServedPaths(t *testing.T) {
	long := strings.Repeat("abc", 100_000)
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		length                   int64 // that the head declares
		size                     int64 // of the body
		want                     string
		trailer                  http.Header
	}{
		{name: "a body", path: "/bytes/3MiB", status: 200, length: 3 << 20, size: 3 << 20},
		{name: "no body", path: "/bytes/0", status: 200},
		{name: "pieces", path: "/bytes/10000?chunk=1000", status: 200, length: 10000, size: 10000},
		{name: "pieces with pauses", path: "/bytes/3000?chunk=1000&pause=1ms", status: 200, length: 3000, size: 3000},
		{name: "an unknown length", path: "/bytes/1000?length=no", status: 200, length: -1, size: 1000},
		{name: "a status", path: "/status/404", status: 404},
		{name: "a status without a body", path: "/status/204", status: 204},
		{name: "a status of a body", path: "/bytes/7?status=503", status: 503, length: 7, size: 7},
		{name: "a delay", path: "/delay/1ms", status: 200, length: 16, size: 16},
		{
			name: "trailers", path: "/bytes/5?trailer=x-sum:12&trailer=x-more:%20a%20b", status: 200,
			length: -1, size: 5,
			trailer: http.Header{"X-Sum": {"12"}, "X-More": {"a b"}},
		},
		{name: "HEAD", method: "HEAD", path: "/bytes/1GiB", status: 200, length: 1 << 30},
		{name: "the sink", method: "POST", path: "/sink", body: long, status: 200, length: 7, size: 7,
			want: "300000\n"},
		{name: "a sink elsewhere", method: "PUT", path: "/x/y", body: "12345", status: 200, length: 2, size: 2,
			want: "5\n"},
		{name: "the echo", method: "POST", path: "/echo", body: long, status: 200, length: -1, size: 300000,
			want: long},
		{name: "an unknown path", path: "/nothing", status: 404, length: 19, size: 19, want: "404 page not found\n"},
		{name: "no size", path: "/bytes/many", status: 400, length: 94, size: 94},
		{name: "an option", path: "/bytes/1?delay=soon", status: 400, length: 58, size: 58,
			want: "delay: \"soon\" is no time (want one like 50ms, 1.5s or 2m)\n"},
		{name: "a pause without pieces", path: "/bytes/1?pause=1ms", status: 400, length: 47, size: 47,
			want: "pause: it is between pieces, so it needs chunk\n"},
		{name: "a trailer", path: "/bytes/1?trailer=x", status: 400, length: 48, size: 48,
			want: "trailer: \"x\" is none (want one like NAME:VALUE)\n"},
		{name: "an interim status", path: "/status/100", status: 400, length: 52, size: 52},
	} {
		for _, client := range serving(t) {
			t.Run(tt.name+"/"+client.name, func(t *testing.T) {
				method := "GET"
				if tt.method != "" {
					method = tt.method
				}
				req, err := http.NewRequestWithContext(t.Context(), method, client.url+tt.path,
					strings.NewReader(tt.body))
				if err != nil {
					t.Fatal(err)
				}
				resp, err := client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil {
					t.Fatal(err)
				}
				if resp.Proto != client.name {
					t.Errorf("the answer came over %s", resp.Proto)
				}
				if resp.StatusCode != tt.status || resp.ContentLength != tt.length || int64(len(body)) != tt.size {
					t.Errorf("status %d, length %d, %d octets; want %d, %d, %d\n%.200q", resp.StatusCode,
						resp.ContentLength, len(body), tt.status, tt.length, tt.size, body)
				}
				if tt.want != "" && string(body) != tt.want {
					t.Errorf("the body is %.100q, want %.100q", body, tt.want)
				}
				if diff := cmp.Diff(tt.trailer, resp.Trailer); diff != "" {
					t.Errorf("trailers (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// The body is the same for every version and every way of sending it, and no two places of it are alike.
func TestServedOctets(t *testing.T) {
	want := make([]byte, 2_500_000)
	io.ReadFull(&repeater{block: testBlock}, want)
	for _, client := range serving(t) {
		for _, query := range []string{"", "?chunk=33KiB", "?length=no"} {
			resp, err := client.Get(client.url + "/bytes/2500000" + query)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s %q: another body of %d octets came (%v)", client.name, query, len(got), err)
			}
		}
	}
}

func TestServedReset(t *testing.T) {
	for _, client := range serving(t) {
		t.Run(client.name, func(t *testing.T) {
			resp, err := client.Get(client.url + "/bytes/10000?reset=4000")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err == nil || len(body) != 4000 {
				t.Errorf("%d octets and %v, want 4000 and an error", len(body), err)
			}
		})
	}
}

func TestServedList(t *testing.T) {
	for _, client := range serving(t) {
		resp, err := client.Get(client.url + "/")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(body) != servedPaths {
			t.Errorf("%s: the list is %q", client.name, body)
		}
	}
}

// startServe runs the verb until the test ends, and returns what it printed when it was ready.
func startServe(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	var stderr lockedBuffer
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, &env{stdout: w, stderr: &stderr}, append([]string{"serve"}, args...))
		w.Close()
	}()
	t.Cleanup(func() {
		cancel()
		if status := <-done; status != 0 || stderr.String() != "" {
			t.Errorf("serve ended with %d and %q, want 0 and nothing", status, stderr.String())
		}
	})
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func TestServe(t *testing.T) {
	url := strings.TrimSpace(startServe(t))
	s := call(t.Context(), nil, "get", url+"bytes/5?chunk=1")
	if s.status != 0 || len(s.stdout) != 5 {
		t.Errorf("status %d, %q, %q; want 0 and 5 octets", s.status, s.stdout, s.stderr)
	}
}

func TestServeTLS(t *testing.T) {
	var ready readyLine
	if err := json.Unmarshal([]byte(startServe(t, "--tls", "--json")), &ready); err != nil {
		t.Fatal(err)
	}
	if ready.URL != "https://"+ready.Addr+"/" || !ready.TLS || ready.Certificate == nil {
		t.Fatalf("%+v: want the URL of that address, and a certificate", ready)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(*ready.Certificate))
	for _, proto := range []string{"h2", "http/1.1"} {
		nc, err := tls.Dial("tcp", ready.Addr, &tls.Config{RootCAs: roots, NextProtos: []string{proto}})
		if err != nil {
			t.Fatal(err)
		}
		if got := nc.ConnectionState().NegotiatedProtocol; got != proto {
			t.Errorf("the server chose %q, want %q", got, proto)
		}
		nc.Close()
	}
}

func TestServeJSONInCleartext(t *testing.T) {
	var line map[string]any
	if err := json.Unmarshal([]byte(startServe(t, "--json", "--addr", "127.0.0.1:0", "--max-streams", "7")),
		&line); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"url": "http://" + line["addr"].(string) + "/", "addr": line["addr"], "tls": false,
		"certificate": nil}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("the line (-want +got):\n%s", diff)
	}
}

func TestServeEndsWithStandardInput(t *testing.T) {
	r, w := io.Pipe()
	var stdout lockedBuffer
	o := serveOptions{addr: "127.0.0.1:0", stdin: true}
	done := make(chan error, 1)
	go func() { done <- o.serve(t.Context(), &env{stdout: &stdout}, r) }()
	w.Write([]byte("not yet\n"))
	select {
	case err := <-done:
		t.Fatalf("serve ended with %v while its input was open", err)
	default:
	}
	w.Close()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("serve ended with %v, want nil", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("serve goes on after the end of its input")
	}
}

// failing is an output that takes nothing.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("nobody reads this") }

func TestServeNobodyWouldKnowOf(t *testing.T) {
	o := serveOptions{addr: "127.0.0.1:0"}
	if err := o.serve(t.Context(), &env{stdout: failing{}}, nil); err == nil || err.Error() != "nobody reads this" {
		t.Errorf("the error is %v, want that of the output", err)
	}
}

func TestServeUsage(t *testing.T) {
	for _, tt := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"an argument", []string{"now"}, 2, `unexpected argument "now"`},
		{"a certificate without a key", []string{"--tls", "--cert", "c"}, 2, `--cert and --key need each other`},
		{"a certificate without TLS", []string{"--cert", "c", "--key", "k"}, 2, `--cert needs --tls`},
		{"a number of streams", []string{"--max-streams", "-1"}, 2, `must not be negative`},
		{"files that are not there", []string{"--tls", "--cert", "/nowhere/c", "--key", "k"}, 1,
			`/nowhere/c: no such file`},
		{"an address", []string{"--addr", "nowhere"}, 1, `missing port`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call(t.Context(), nil, append([]string{"serve"}, tt.args...)...).wantFailure(t, tt.status, tt.want)
		})
	}
}

func TestReachable(t *testing.T) {
	for in, want := range map[string]string{
		"127.0.0.1:80": "127.0.0.1:80", "0.0.0.0:80": "localhost:80", "[::]:80": "localhost:80", "[::1]:80": "[::1]:80",
	} {
		if got := reachable(in); got != want {
			t.Errorf("%s is reached by %s, want %s", in, got, want)
		}
	}
}
