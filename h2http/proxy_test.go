package h2http_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/h2flow/h2http"
	"github.com/google/go-cmp/cmp"
)

// An httpProxy is a proxy that speaks HTTP/1.1 and knows CONNECT. It answers by status, and then connects to target
// whatever it was asked for.
type httpProxy struct {
	url    *url.URL
	heads  chan string
	status string
}

func startProxy(t *testing.T, target, status string) *httpProxy {
	t.Helper()
	l := listen(t)
	p := &httpProxy{url: &url.URL{Scheme: "http", Host: l.Addr().String()}, heads: make(chan string, 10), status: status}
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(nc, target)
		}
	}()
	return p
}

func (p *httpProxy) serve(nc net.Conn, target string) {
	defer nc.Close()
	r := bufio.NewReader(nc)
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	p.heads <- fmt.Sprint(req.Method, " ", req.RequestURI, " ", req.Host, " ", req.Header.Get("Proxy-Authorization"), " ",
		req.Header.Get("X-Team"))
	fmt.Fprintf(nc, "HTTP/1.1 %s\r\n\r\n", p.status)
	if !strings.HasPrefix(p.status, "200") {
		return
	}
	up, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer up.Close()
	go func() { io.Copy(up, r); up.(*net.TCPConn).CloseWrite() }()
	io.Copy(nc, up)
}

// TestProxy makes connections by CONNECT, with the user of the URL and fields of one's own, and shares them.
//
// Contract: P8.
func TestProxy(t *testing.T) {
	tr, target := secureServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Proto, " ", r.URL.Path)
	}))
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := startProxy(t, u.Host, "200 Connection established")
	proxy.url.User = url.UserPassword("me", "secret")
	tr.Proxy = http.ProxyURL(proxy.url)
	tr.ProxyConnectHeader = http.Header{"X-Team": {"blue"}}
	for _, path := range []string{"/1", "/2"} {
		if got := get(t, tr, target+path); got != "200 OK HTTP/2.0 "+path {
			t.Error(got)
		}
	}
	want := "CONNECT " + u.Host + " " + u.Host + " Basic bWU6c2VjcmV0 blue"
	if diff := cmp.Diff(want, <-proxy.heads); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	select {
	case more := <-proxy.heads:
		t.Errorf("a second connection: %s", more)
	default:
	}
	if s := tr.Stats().Hosts[0].Proxy; strings.Contains(s, "secret") || !strings.Contains(s, "me") {
		t.Errorf("proxy %s", s)
	}
}

// TestProxyInCleartext: a server may speak first, and no octet of it is lost.
//
// Contract: P8.
func TestProxyInCleartext(t *testing.T) {
	l := listen(t)
	srv := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		fmt.Fprint(w, r.Host)
	})}
	srv.Protocols.SetUnencryptedHTTP2(true)
	go srv.Serve(l)
	defer srv.Close()
	proxy := startProxy(t, l.Addr().String(), "200 OK")
	tr := &h2http.Transport{AllowHTTP: true, Proxy: http.ProxyURL(proxy.url)}
	defer tr.CloseIdleConnections()
	if got := get(t, tr, "http://inside.example/"); got != "200 OK inside.example" {
		t.Error(got)
	}
	if got := <-proxy.heads; got != "CONNECT inside.example:80 inside.example:80  " {
		t.Errorf("%q", got)
	}
}

// TestProxyRefusals are errors that say what the proxy said.
//
// Contract: P8.
func TestProxyRefusals(t *testing.T) {
	proxy := startProxy(t, "", "407 Proxy Authentication Required")
	tr := &h2http.Transport{Proxy: http.ProxyURL(proxy.url)}
	_, err := tr.RoundTrip(newRequest(t, "GET", "https://a.example/", nil))
	var refused *h2http.ProxyError
	if !errors.As(err, &refused) || refused.Status != "407 Proxy Authentication Required" {
		t.Errorf("error %v", err)
	}
	tr = &h2http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "socks5", Host: "a"})}
	if _, err = tr.RoundTrip(newRequest(t, "GET", "https://a.example/", nil)); err == nil ||
		!strings.Contains(err.Error(), "socks5") {
		t.Errorf("error %v", err)
	}
	no := errors.New("no proxy today")
	tr = &h2http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return nil, no }}
	body := watch("body")
	if _, err = tr.RoundTrip(newRequest(t, "POST", "https://a.example/", body)); !errors.Is(err, no) {
		t.Errorf("error %v", err)
	}
	body.wantClosedOnce(t)
}

// TestASilentProxyEndsWithTheRequest that waits for it.
//
// Contract: P8, E22a.
func TestASilentProxyEndsWithTheRequest(t *testing.T) {
	l := listen(t)
	tr := &h2http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: l.Addr().String()})}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := tr.RoundTrip(newRequest(t, "GET", "https://a.example/", nil).WithContext(ctx))
	wantTimeout(t, err)
	nc, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.Copy(io.Discard, nc); err != nil {
		t.Errorf("the connection to the proxy is not closed: %v", err)
	}
}

// TestTheEnvironmentIsReadOnlyIfAskedFor.
//
// Contract: H2, P8.
func TestTheEnvironmentIsReadOnlyIfAskedFor(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, greeted(serve))
		dial := tr.DialContext
		tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr != "a.example:80" {
				t.Errorf("dial of %s", addr)
			}
			return dial(ctx, network, addr)
		}
		if got := get(t, tr, "http://a.example/"); got != "200 OK" {
			t.Error(got)
		}
	})
	var _ = h2http.Transport{Proxy: http.ProxyFromEnvironment} // it fits
}
