package interop

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-retryablehttp"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"golang.org/x/crypto/ssh"

	"example.com/h2flow"
	"example.com/h2flow/h2http"
)

// newTLSServer is net/http's server over HTTP/2, and a Transport that trusts it.
func newTLSServer(t *testing.T, handler http.Handler) (*httptest.Server, *h2http.Transport) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	transport := &h2http.Transport{TLSClientConfig: server.Client().Transport.(*http.Transport).TLSClientConfig}
	t.Cleanup(transport.CloseIdleConnections)
	return server, transport
}

// get returns the body of a response whose status is 200.
func get(t *testing.T, client *http.Client, url string) string {
	t.Helper()
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status %s, want 200", resp.Status)
	}
	return string(body)
}

// http.Client follows redirects, with the body again where the status says so, keeps cookies, and times out with an
// error that says that it is one.
func TestHTTPClient(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "who", Value: "me", Path: "/"})
		http.Redirect(w, r, "/home", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/home", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		io.WriteString(w, r.Method+" "+r.Header.Get("Cookie")+" "+string(body))
	})
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	server, transport := newTLSServer(t, mux)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: transport, Jar: jar}
	resp, err := client.Post(server.URL+"/login", "text/plain", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if want := "POST who=me hello"; err != nil || string(body) != want {
		t.Errorf("redirected to %q, %v; want %q", body, err, want)
	}
	client.Timeout = 50 * time.Millisecond
	_, err = client.Get(server.URL + "/hang")
	if !os.IsTimeout(err) {
		t.Errorf("error %v, want a timeout", err)
	}
}

// http.Transport hands https requests over, and keeps those of http.
func TestRegisterProtocol(t *testing.T) {
	proto := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) })
	server, transport := newTLSServer(t, proto)
	plain := httptest.NewServer(proto)
	t.Cleanup(plain.Close)
	// TLSNextProto keeps it from registering an HTTP/2 of its own.
	std := &http.Transport{TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}}
	std.RegisterProtocol("https", transport)
	t.Cleanup(std.CloseIdleConnections)
	client := &http.Client{Transport: std}
	got := []string{get(t, client, server.URL), get(t, client, plain.URL)}
	if diff := cmp.Diff([]string{"HTTP/2.0", "HTTP/1.1"}, got); diff != "" {
		t.Errorf("protocols of https and http (-want +got):\n%s", diff)
	}
}

// A reverse proxy passes on bodies, trailers and what is flushed, in both directions at once.
func TestReverseProxy(t *testing.T) {
	backend, transport := newTLSServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		control := http.NewResponseController(w)
		control.EnableFullDuplex()
		b := make([]byte, 1)
		for {
			if _, err := io.ReadFull(r.Body, b); err != nil {
				break
			}
			w.Write(b)
			control.Flush()
		}
		w.Header().Set("X-Sum", "42")
	}))
	to, err := url.Parse(backend.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy, client := newTLSServer(t, &httputil.ReverseProxy{
		Transport: transport,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
	})
	pr, pw := io.Pipe()
	req, err := http.NewRequest(http.MethodPost, proxy.URL, pr)
	if err != nil {
		t.Fatal(err)
	}
	go pw.Write([]byte("a"))
	resp, err := client.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b := make([]byte, 1)
	for i, want := range []byte("abcdef") {
		if i > 0 {
			pw.Write([]byte{want})
		}
		if _, err := io.ReadFull(resp.Body, b); err != nil || b[0] != want {
			t.Fatalf("octet %q, %v; want %q", b, err, want)
		}
	}
	pw.Close()
	if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
		t.Errorf("rest %q, %v", rest, err)
	}
	if got := resp.Trailer.Get("X-Sum"); got != "42" {
		t.Errorf("trailer %q, want 42", got)
	}
}

// go-retryablehttp tries again after 503, and the connection serves all tries.
func TestRetryableHTTP(t *testing.T) {
	var tries atomic.Int32
	server, transport := newTLSServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) < 3 {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		io.Copy(w, r.Body)
	}))
	client := retryablehttp.NewClient()
	client.Logger = nil
	client.RetryWaitMin, client.RetryWaitMax = time.Millisecond, time.Millisecond
	client.HTTPClient = &http.Client{Transport: transport}
	resp, err := client.Post(server.URL, "text/plain", []byte("hello"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "hello" {
		t.Errorf("body %q, %v; want hello", body, err)
	}
	if got := tries.Load(); got != 3 {
		t.Errorf("%d tries, want 3", got)
	}
}

// otelhttp wraps the Transport: its span ends when the body has been read, and its trace's id reaches the server.
func TestOpenTelemetry(t *testing.T) {
	server, transport := newTLSServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Proto)
	}))
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	client := &http.Client{Transport: otelhttp.NewTransport(transport, otelhttp.WithTracerProvider(provider))}
	if got := get(t, client, server.URL); got != "HTTP/2.0" {
		t.Errorf("body %q, want HTTP/2.0", got)
	}
	got := map[string]string{}
	for _, s := range spans.GetSpans() {
		for _, a := range s.Attributes {
			got[string(a.Key)] = a.Value.String()
		}
	}
	for key, want := range map[string]string{"http.response.status_code": "200", "network.protocol.version": "2.0"} {
		if key == "network.protocol.version" && got[key] == "2" {
			continue // so it is called in later versions
		}
		if got[key] != want {
			t.Errorf("attribute %s is %q, want %q; all: %v", key, got[key], want, got)
		}
	}
}

// A channel of SSH is a net.Conn without deadlines. The engine runs over it all the same.
func TestSSH(t *testing.T) {
	backend := httptest.NewUnstartedServer(http.HandlerFunc(answerUpload))
	backend.Config.Protocols = new(http.Protocols)
	backend.Config.Protocols.SetUnencryptedHTTP2(true)
	backend.Start()
	t.Cleanup(backend.Close)
	through := dialSSH(t, serveSSH(t))
	nc, err := through.Dial("tcp", backend.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := h2flow.NewClientConn(nc, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	to := target{scheme: "http", addr: backend.Listener.Addr().String()}
	testUpload(t, streamTransfer(c, to), false)
}

// serveSSH forwards connections for whoever comes, and returns its address.
func serveSSH(t *testing.T) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	config := &ssh.ServerConfig{NoClientAuth: true}
	config.AddHostKey(signer)
	l := listen(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			_, channels, requests, err := ssh.NewServerConn(nc, config)
			if err != nil {
				return
			}
			go ssh.DiscardRequests(requests)
			go forwardSSH(channels)
		}
	}()
	return l.Addr().String()
}

// forwardSSH connects each channel to where it asks for.
func forwardSSH(channels <-chan ssh.NewChannel) {
	for asked := range channels {
		var to struct {
			Host       string
			Port       uint32
			OriginHost string
			OriginPort uint32
		}
		if err := ssh.Unmarshal(asked.ExtraData(), &to); err != nil {
			asked.Reject(ssh.ConnectionFailed, err.Error())
			continue
		}
		nc, err := net.Dial("tcp", net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port))))
		if err != nil {
			asked.Reject(ssh.ConnectionFailed, err.Error())
			continue
		}
		channel, requests, err := asked.Accept()
		if err != nil {
			nc.Close()
			return
		}
		go ssh.DiscardRequests(requests)
		go func() { io.Copy(nc, channel); nc.Close() }()
		go func() { io.Copy(channel, nc); channel.Close() }()
	}
}

func dialSSH(t *testing.T, addr string) *ssh.Client {
	t.Helper()
	c, err := ssh.Dial("tcp", addr, &ssh.ClientConfig{HostKeyCallback: ssh.InsecureIgnoreHostKey()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
