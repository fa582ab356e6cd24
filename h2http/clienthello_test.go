package h2http_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
)

// A hello is what is looked at in a ClientHello.
type hello struct {
	compression []byte
	alpn        []byte // the list of names, each behind its length
	serverName  string
}

// readHello reads the first handshake message of a TLS client, which fits one record. RFC 8446, Section 4.1.2.
func readHello(r io.Reader) (hello, error) {
	header := make([]byte, 5)
	if _, err := io.ReadFull(r, header); err != nil {
		return hello{}, err
	}
	record := make([]byte, binary.BigEndian.Uint16(header[3:]))
	if _, err := io.ReadFull(r, record); err != nil {
		return hello{}, err
	}
	rest := record[4+2+32:] // type and length, version, random
	vector := func(width int) (v []byte) {
		n := 0
		for _, b := range rest[:width] {
			n = n<<8 | int(b)
		}
		v, rest = rest[width:width+n], rest[width+n:]
		return v
	}
	vector(1) // session
	vector(2) // cipher suites
	h := hello{compression: vector(1)}
	for rest = vector(2); len(rest) > 0; {
		kind := binary.BigEndian.Uint16(rest)
		rest = rest[2:]
		switch body := vector(2); kind {
		case 0: // a list of names: length, type, length, name
			h.serverName = string(body[5:])
		case 16:
			h.alpn = body[2:]
		}
	}
	return h, nil
}

// What the first octets of a connection over TLS say: h2 and nothing else, whatever was asked for; the name of the
// host; no compression.
func TestTheClientHello(t *testing.T) {
	rows.Cover(t, "9113-3.1-1", "9113-3.2-1", "9113-9.2-2", "9113-9.2.1-1", "9113-10.6-2")
	want := hello{compression: []byte{0}, alpn: []byte{2, 'h', '2'}, serverName: "a.example"}
	user := &tls.Config{NextProtos: []string{"h2c", "http/1.1"}, Renegotiation: tls.RenegotiateFreelyAsClient}
	dials := map[string]func(dial func(context.Context, string, string) (net.Conn, error)) error{
		"h2http": func(dial func(context.Context, string, string) (net.Conn, error)) error {
			tr := &h2http.Transport{TLSClientConfig: user, DialContext: dial}
			_, err := tr.RoundTrip(newRequest(t, "GET", "https://a.example/", nil))
			return err
		},
		"the low-level API": func(dial func(context.Context, string, string) (net.Conn, error)) error {
			_, err := h2flow.Dial(t.Context(), "a.example:443", &h2flow.Config{TLSConfig: user, DialContext: dial})
			return err
		},
	}
	for name, connect := range dials {
		t.Run(name, func(t *testing.T) {
			client, server := net.Pipe()
			got := make(chan hello, 1)
			go func() {
				h, err := readHello(server)
				if err != nil {
					t.Error(err)
				}
				got <- h
				server.Close()
			}()
			err := connect(func(context.Context, string, string) (net.Conn, error) { return client, nil })
			if err == nil {
				t.Error("the server hung up, and there is no error")
			}
			if diff := cmp.Diff(want, <-got, cmp.AllowUnexported(hello{})); diff != "" {
				t.Errorf("ClientHello (-want +got):\n%s", diff)
			}
		})
	}
}

// The cipher suites of TLS 1.2 that HTTP/2 does not prohibit are all good enough, with P-256 as with other curves.
func TestPermittedCipherSuites(t *testing.T) {
	rows.Cover(t, "9113-9.2.2-2", "9113-9.2.2-3")
	for _, suite := range []uint16{
		tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	} {
		for _, curve := range []tls.CurveID{tls.CurveP256, tls.CurveP384, tls.X25519} {
			t.Run(tls.CipherSuiteName(suite)+" "+curve.String(), func(t *testing.T) {
				srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
				srv.EnableHTTP2 = true
				srv.TLS = &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite},
					CurvePreferences: []tls.CurveID{curve}}
				if suite != tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 {
					// Go's server insists on the suite that every peer must have.
					srv.TLS.CipherSuites = append(srv.TLS.CipherSuites, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256)
				}
				srv.StartTLS()
				defer srv.Close()
				client := trusting(srv)
				client.CipherSuites = []uint16{suite}
				tr := &h2http.Transport{TLSClientConfig: client}
				defer tr.CloseIdleConnections()
				resp, err := tr.RoundTrip(newRequest(t, "GET", srv.URL, nil))
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				if resp.TLS.CipherSuite != suite || resp.ProtoMajor != 2 {
					t.Errorf("%s, %s", tls.CipherSuiteName(resp.TLS.CipherSuite), resp.Proto)
				}
			})
		}
	}
}

// A certificate for another host than the URL's is refused, with HTTP/2 as with anything else.
func TestACertificateForAnotherHostIsRefused(t *testing.T) {
	rows.Cover(t, "9110-4.3.4-1")
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the request arrived")
	}))
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	tr := &h2http.Transport{TLSClientConfig: trusting(srv)}
	tr.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, srv.Listener.Addr().String())
	}
	_, err := tr.RoundTrip(newRequest(t, "GET", "https://other.test/", nil))
	var wrong *tls.CertificateVerificationError
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "other.test") {
		t.Errorf("error %v", err)
	}
}

// A connection serves the one host that it was made for, and a 421 is the caller's to see.
func TestAConnectionServesOneHost(t *testing.T) {
	rows.Cover(t, "9113-9.1.1-1", "9113-9.1.1-2")
	bubble(t, func(t *testing.T) {
		misdirected := greeted(func(s *peer.Server) {
			h := s.WantHeaders("the request arrives")
			s.Send(answer(h.Stream, "421"))
			untilClosed(s)
		})
		tr, n := scripted(t, &h2http.Transport{}, greeted(serve), misdirected)
		var dialed []string
		dial := tr.DialContext
		tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			dialed = append(dialed, addr)
			return dial(ctx, network, addr)
		}
		got := []string{get(t, tr, "http://a.example/"), get(t, tr, "http://b.example/"), get(t, tr, "http://a.example/")}
		if diff := cmp.Diff([]string{"200 OK", "421 Misdirected Request", "200 OK"}, got); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		if want := []string{"a.example:80", "b.example:80"}; !slices.Equal(dialed, want) || n.dialed() != 2 {
			t.Errorf("dialed %q, want %q", dialed, want)
		}
	})
}

// A server that wants HTTP/1.1 for a request says so by a code that the caller can recognise.
func TestHTTP11RequiredIsRecognised(t *testing.T) {
	rows.Cover(t, "9113-7-2")
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(frame.RSTStream{Stream: h.Stream, Code: frame.HTTP11Required})
		}))
		_, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
		var serr *h2flow.StreamError
		if !errors.As(err, &serr) || serr.Code != frame.HTTP11Required || !serr.Remote {
			t.Errorf("error %v", err)
		}
	})
}

// A request without a body ends with its head, whatever its method.
func TestARequestWithoutABodyEndsWithItsHead(t *testing.T) {
	rows.Cover(t, "9110-9.3.1-1", "9113-8.3.1-8")
	for _, method := range []string{"GET", "HEAD", "DELETE", "OPTIONS", "POST"} {
		bubble(t, func(t *testing.T) {
			tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
				if !h.EndStream || value(h, ":method") != method || value(h, ":scheme") != "http" {
					s.Fail("%v", h)
				}
				s.Send(answer(h.Stream, "204"))
			}))
			if got := exchange(tr, newRequest(t, method, "http://a.example/", nil)); got != "204 No Content" {
				t.Errorf("%s: %s", method, got)
			}
			synctest.Wait()
		})
	}
}
