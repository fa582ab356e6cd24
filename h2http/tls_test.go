package h2http_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/rows"
)

// secureServer is Go's own HTTP/2 server over TLS, and a Transport that trusts it.
func secureServer(t *testing.T, handler http.Handler) (*h2http.Transport, string) {
	t.Helper()
	srv := httptest.NewUnstartedServer(handler)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	tr := &h2http.Transport{TLSClientConfig: trusting(srv)}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		srv.Close()
	})
	return tr, srv.URL
}

func trusting(srv *httptest.Server) *tls.Config {
	return srv.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
}

// Contract: S14.
func TestOverTLSWithGosServer(t *testing.T) {
	rows.Cover(t, "9113-3.2-2")
	tr, url := secureServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Write(body)
		w.Header().Set("X-Sum", r.Trailer.Get("X-Up"))
	}))
	want := strings.Repeat("0123456789abcdef", 1<<16)
	req := newRequest(t, "POST", url+"/echo", io.MultiReader(strings.NewReader(want)))
	req.Trailer = http.Header{"X-Up": {"up"}}
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || string(got) != want {
		t.Errorf("%d octets came back, want %d; error %v", len(got), len(want), err)
	}
	if resp.Trailer.Get("X-Sum") != "up" {
		t.Errorf("trailers %v", resp.Trailer)
	}
	if resp.TLS == nil || resp.TLS.NegotiatedProtocol != "h2" {
		t.Errorf("TLS %+v", resp.TLS)
	}
}

func TestB57OnlyAServerThatAgreedIsSpokenTo(t *testing.T) {
	rows.Cover(t, "9113-3.3-1", "9113-9.2-1", "9113-9.2.2-1")
	tests := []struct {
		name  string
		setup func(c *tls.Config)
		want  func(err error) bool
	}{
		{"the server picks http/1.1", func(c *tls.Config) {
			c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
				own := c.Clone()
				own.GetConfigForClient = nil
				own.NextProtos = nil
				return own, nil
			}
		}, func(err error) bool { return errors.Is(err, h2flow.ErrProtocolNotNegotiated) }},
		{"the server knows http/1.1 alone", func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} },
			func(err error) bool { return err != nil }},
		{"no ALPN at all", func(c *tls.Config) { c.NextProtos = nil }, func(err error) bool {
			return errors.Is(err, h2flow.ErrProtocolNotNegotiated)
		}},
		{"TLS 1.1", func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS11, tls.VersionTLS11 },
			func(err error) bool { return err != nil }},
		{"a prohibited cipher suite", prohibited, func(err error) bool {
			return err != nil && strings.Contains(err.Error(), "INADEQUATE_SECURITY")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			received := make(chan []byte, 1)
			addr, client := rawTLS(t, tt.setup, func(nc net.Conn) {
				nc.SetDeadline(time.Now().Add(5 * time.Second))
				octets, _ := io.ReadAll(nc)
				received <- octets
			})
			client.MinVersion = tls.VersionTLS10 // must not help
			tr := &h2http.Transport{TLSClientConfig: client}
			defer tr.CloseIdleConnections()
			_, err := tr.RoundTrip(newRequest(t, "GET", "https://"+addr+"/", nil))
			if !tt.want(err) {
				t.Errorf("error %v", err)
			}
			if octets := <-received; len(octets) > 0 {
				t.Errorf("the server got %q", octets)
			}
		})
	}
}

// prohibited lets a server choose only what RFC 9113, Appendix A, lists.
func prohibited(c *tls.Config) {
	c.MaxVersion = tls.VersionTLS12
	c.CipherSuites = []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA}
}

func TestB57AProhibitedCipherSuiteMayBePermitted(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	srv.EnableHTTP2 = true
	srv.TLS = &tls.Config{}
	prohibited(srv.TLS)
	srv.Config.HTTP2 = &http.HTTP2Config{PermitProhibitedCipherSuites: true}
	srv.StartTLS()
	defer srv.Close()
	tr := &h2http.Transport{TLSClientConfig: trusting(srv),
		HTTP2: &http.HTTP2Config{PermitProhibitedCipherSuites: true}}
	defer tr.CloseIdleConnections()
	if got := get(t, tr, srv.URL); got != "200 OK" {
		t.Error(got)
	}
}

func TestB57AServerThatSpeaksHTTP1AfterAgreeingIsCalledOut(t *testing.T) {
	addr, client := rawTLS(t, func(c *tls.Config) { c.NextProtos = []string{"h2"} }, func(nc net.Conn) {
		bufio.NewReader(nc).ReadString('\n')
		io.WriteString(nc, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
		io.Copy(io.Discard, nc)
	})
	tr := &h2http.Transport{TLSClientConfig: client}
	defer tr.CloseIdleConnections()
	_, err := tr.RoundTrip(newRequest(t, "GET", "https://"+addr+"/", nil))
	if err == nil || !strings.Contains(err.Error(), "HTTP/1") {
		t.Errorf("error %v, want one that says HTTP/1", err)
	}
}

func TestTLSHandshakeTimeout(t *testing.T) {
	l := listen(t)
	go func() {
		nc, err := l.Accept()
		if err == nil {
			io.Copy(io.Discard, nc) // never a word
			nc.Close()
		}
	}()
	tr := &h2http.Transport{TLSHandshakeTimeout: 20 * time.Millisecond}
	_, err := tr.RoundTrip(newRequest(t, "GET", "https://"+l.Addr().String()+"/", nil))
	wantTimeout(t, err)
}

func TestDialTLSContextIsUsedForHTTPSAlone(t *testing.T) {
	tr, url := secureServer(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	cfg := tr.TLSClientConfig
	tr.TLSClientConfig = nil
	tr.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("not this one") }
	tr.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		cfg.NextProtos = []string{"h2"}
		return (&tls.Dialer{Config: cfg}).DialContext(ctx, network, addr)
	}
	if got := get(t, tr, url); got != "200 OK" {
		t.Error(got)
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// rawTLS is a TLS server that serves one connection after the other, and a configuration that trusts it.
func rawTLS(t *testing.T, setup func(*tls.Config), serve func(net.Conn)) (addr string, client *tls.Config) {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil)
	srv.StartTLS()
	defer srv.Close()
	cfg := srv.TLS.Clone()
	cfg.NextProtos = []string{"h2"}
	setup(cfg)
	l := listen(t)
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			serve(tls.Server(nc, cfg))
			nc.Close()
		}
	}()
	return l.Addr().String(), trusting(srv)
}
