package h2http_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/pipe"
	"github.com/google/go-cmp/cmp"
)

// goServer is Go's own server at the other end of a path in memory, and a Transport to it.
func goServer(t *testing.T, link pipe.Link, handler http.HandlerFunc) *h2http.Transport {
	t.Helper()
	l := pipe.Listen(link)
	srv := &http.Server{Handler: handler, Protocols: new(http.Protocols)}
	srv.Protocols.SetUnencryptedHTTP2(true)
	go srv.Serve(l)
	tr := &h2http.Transport{AllowHTTP: true, DialContext: l.DialContext}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		srv.Close()
		l.Close()
	})
	return tr
}

// noise is n octets that do not repeat soon.
func noise(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// Contract: R7a.
func TestBodiesOfManySizesArriveWhole(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr := goServer(t, pipe.Link{RTT: 20 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Length", strconv.FormatInt(r.ContentLength, 10))
			io.Copy(w, r.Body)
		})
		for _, size := range []int{0, 1, 9, 16383, 16384, 16385, 65535, 65536, 1 << 20} {
			for name, known := range map[string]bool{"known": true, "unknown": false} {
				want := noise(size)
				req := newRequest(t, "POST", "http://a.example/", bytes.NewReader(want))
				length := strconv.Itoa(size)
				if !known {
					req.Body, req.GetBody = io.NopCloser(bytes.NewReader(want)), nil
					req.ContentLength, length = -1, "-1"
				}
				resp, err := tr.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || sha256.Sum256(got) != sha256.Sum256(want) || resp.Header.Get("X-Length") != length {
					t.Errorf("%d octets of %s length: %d came back, declared as %s; error %v", size, name, len(got),
						resp.Header.Get("X-Length"), err)
				}
			}
		}
	})
}

func TestManyRequestsAtOnceOnOneConnection(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr := goServer(t, pipe.Link{RTT: 20 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, r.RemoteAddr, " ", r.URL.Path)
		})
		tr.MaxConnsPerHost = 1
		const requests = 600 // above the server's limit of concurrent streams
		results := make(chan string, requests)
		for i := range requests {
			go func() {
				results <- strings.Replace(get(t, tr, fmt.Sprintf("http://a.example/%d", i)), fmt.Sprint("/", i), "", 1)
			}()
		}
		seen := map[string]int{}
		for range requests {
			seen[<-results]++
		}
		if len(seen) != 1 {
			t.Errorf("results %v, want one for all", seen)
		}
	})
}

// A warm request takes one round trip and nothing more.
func TestAWarmRequestTakesOneRoundTrip(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const rtt = 50 * time.Millisecond
		tr := goServer(t, pipe.Link{RTT: rtt}, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
		for i := range 3 {
			start := time.Now()
			got := exchange(tr, newRequest(t, "POST", "http://a.example/", strings.NewReader("x")))
			if got != "200 OK x" {
				t.Error(got)
			}
			// The first too: nobody waits for the server's SETTINGS.
			if took := time.Since(start); took != rtt {
				t.Errorf("request %d took %v, want %v", i, took, rtt)
			}
		}
	})
}

// Contract: S15, W1, W2.
func TestAClientFollowsRedirectsWithBodyAndCookies(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr := goServer(t, pipe.Link{}, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/from" {
				http.SetCookie(w, &http.Cookie{Name: "seen", Value: "yes"})
				http.Redirect(w, r, "/to", http.StatusTemporaryRedirect)
				return
			}
			body, err := io.ReadAll(r.Body)
			fmt.Fprint(w, r.Method, " ", string(body), " ", err, " ", r.CookiesNamed("seen"))
		})
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: tr, Jar: jar}
		resp, err := client.Post("http://a.example/from", "text/plain", strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if got, err := io.ReadAll(resp.Body); string(got) != "POST body <nil> [seen=yes]" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// A reverse proxy passes on what arrives as it arrives, and trailers.
//
// Contract: W6.
func TestAReverseProxyStreamsThroughTheTransport(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr := goServer(t, pipe.Link{}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Trailer", "X-End")
			for i := range 3 {
				fmt.Fprint(w, i)
				w.(http.Flusher).Flush()
				time.Sleep(time.Second)
			}
			w.Header().Set("X-End", "yes")
		})
		proxy := reverseProxy(tr)
		w := &timedRecorder{ResponseRecorder: httptest.NewRecorder(), start: time.Now()}
		proxy.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "http://front.example/", nil))
		if diff := cmp.Diff([]string{"0 after 0s", "1 after 1s", "2 after 2s"}, w.pieces); diff != "" {
			t.Errorf("what the proxy passed on (-want +got):\n%s", diff)
		}
		if res := w.Result(); res.Trailer.Get("X-End") != "yes" {
			t.Errorf("trailers %v", res.Trailer)
		}
	})
}

func reverseProxy(rt http.RoundTripper) *httputil.ReverseProxy {
	target := &url.URL{Scheme: "http", Host: "a.example"}
	return &httputil.ReverseProxy{
		Transport: rt, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
	}
}

// A timedRecorder also notes when each piece came.
type timedRecorder struct {
	*httptest.ResponseRecorder
	start  time.Time
	pieces []string
}

func (r *timedRecorder) Write(p []byte) (int, error) {
	r.pieces = append(r.pieces, fmt.Sprintf("%s after %v", p, time.Since(r.start)))
	return r.ResponseRecorder.Write(p)
}

// A response head above the limit fails its request alone.
func TestAHeadAboveTheLimitFailsItsRequestAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr := goServer(t, pipe.Link{}, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/large" {
				w.Header().Set("X-Large", strings.Repeat("x", 5000))
			}
		})
		tr.MaxResponseHeaderBytes, tr.MaxConnsPerHost = 4096, 1
		resp, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/large", nil))
		var serr *h2flow.StreamError
		if !errors.As(err, &serr) {
			t.Errorf("response %v, error %v; want a *StreamError", resp, err)
		}
		if got := get(t, tr, "http://a.example/small"); got != "200 OK" {
			t.Errorf("the next request: %s", got)
		}
	})
}

// A connection that the server closes while it is idle is not tried again.
func TestAConnectionClosedWhileIdleIsForgotten(t *testing.T) {
	bubble(t, func(t *testing.T) {
		once := greeted(func(s *peer.Server) {
			h := s.WantHeaders("a request arrives")
			s.Send(answer(h.Stream, "200"))
			time.Sleep(time.Second)
		})
		tr, n := scripted(t, &h2http.Transport{}, once, once)
		for i := range 2 {
			body := io.NopCloser(strings.NewReader("cannot be sent twice"))
			if got := exchange(tr, newRequest(t, "POST", "http://a.example/", body)); got != "200 OK" {
				t.Errorf("request %d: %s", i, got)
			}
			time.Sleep(2 * time.Second)
		}
		if n.dialed() != 2 {
			t.Errorf("%d connections, want 2", n.dialed())
		}
	})
}
