package h2http_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/pipe"
	"golang.org/x/net/http2"
)

// TestExactlyOneOfResponseAndError, at every kind of end.
//
// Contract: S13, S15.
func TestExactlyOneOfResponseAndError(t *testing.T) {
	ends := map[string]func(s *peer.Server, h peer.Headers){
		"200": func(s *peer.Server, h peer.Headers) { s.Send(answer(h.Stream, "200")) },
		"301": func(s *peer.Server, h peer.Headers) { s.Send(answer(h.Stream, "301", "location", "/x")) },
		"401": func(s *peer.Server, h peer.Headers) { s.Send(answer(h.Stream, "401", "www-authenticate", "Basic")) },
		"599": func(s *peer.Server, h peer.Headers) { s.Send(answer(h.Stream, "599")) },
		"reset": func(s *peer.Server, h peer.Headers) {
			s.Send(frame.RSTStream{Stream: h.Stream, Code: frame.InternalError})
		},
		"malformed": func(s *peer.Server, h peer.Headers) { s.Send(answer(h.Stream, "20")) },
		"close":     func(s *peer.Server, h peer.Headers) { s.Conn().Close() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, _ := scripted(t, &h2http.Transport{}, oneExchange(end))
				resp, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
				if (resp == nil) == (err == nil) {
					t.Fatalf("response %v and error %v", resp, err)
				}
				if isStatus := len(name) == 3; isStatus != (err == nil) {
					t.Errorf("error %v", err)
				}
				if err == nil {
					if fmt.Sprint(resp.StatusCode) != name || resp.Body == nil {
						t.Errorf("%+v", resp)
					}
					resp.Body.Close()
				}
			})
		})
	}
}

// foreignStreamError is what another package may call its stream errors.
type foreignStreamError struct {
	StreamID uint32
	Code     foreignCode
	Cause    error
}

type foreignCode uint32

func (e foreignStreamError) Error() string { return fmt.Sprint(e.StreamID, " ", e.Code) }

// TestStreamErrorsConvert to types of the same shape, and have the text that others look for.
//
// Contract: N5, E25, E26.
func TestStreamErrorsConvert(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(frame.RSTStream{Stream: h.Stream, Code: frame.EnhanceYourCalm})
		}))
		_, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
		var foreign foreignStreamError
		if !errors.As(err, &foreign) || foreign.StreamID != 1 || foreign.Code != 11 {
			t.Errorf("%v converts to %+v", err, foreign)
		}
		var xnet http2.StreamError
		if !errors.As(err, &xnet) || xnet.StreamID != 1 || xnet.Code != http2.ErrCodeEnhanceYourCalm {
			t.Errorf("%v converts to %+v", err, xnet)
		}
		var own *h2flow.StreamError
		if !errors.As(err, &own) || !own.Remote || own.Code != frame.EnhanceYourCalm || h2flow.Retryable(err) {
			t.Errorf("%v is %+v", err, own)
		}
		if !strings.Contains(err.Error(), "stream error: stream ID 1; ENHANCE_YOUR_CALM") {
			t.Errorf("text %q", err)
		}
	})
}

// TestRegisteredWithNetHTTP serves https for net/http's own Transport, which takes over what is refused with
// http.ErrSkipAltProtocol.
//
// Contract: W7.
func TestRegisteredWithNetHTTP(t *testing.T) {
	tr, url := secureServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Proto, " ", r.UserAgent())
	}))
	std := &http.Transport{TLSClientConfig: tr.TLSClientConfig.Clone()}
	defer std.CloseIdleConnections()
	std.RegisterProtocol("https", skipping{tr})
	for path, want := range map[string]string{"/ours": "HTTP/2.0 h2flow/1", "/theirs": "HTTP/1.1 Go-http-client/1.1"} {
		resp, err := (&http.Client{Transport: std}).Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(body) != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", path, body, err, want)
		}
	}
}

// skipping leaves some requests to others.
type skipping struct{ http.RoundTripper }

func (s skipping) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.URL.Path, "/theirs") {
		return nil, http.ErrSkipAltProtocol
	}
	return s.RoundTripper.RoundTrip(r)
}

// TestManyWatches: hundreds of responses that stay open, on one connection, each closed from another goroutine than the
// one that reads it.
//
// Contract: W5, H3.
func TestManyWatches(t *testing.T) {
	before := runtime.NumGoroutine()
	bubble(t, func(t *testing.T) {
		const watches = 300
		tr := goServer(t, pipe.Link{RTT: time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
			fmt.Fprintln(w, "event")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		tr.PingInterval = 10 * time.Second
		var wg sync.WaitGroup
		bodies := make(chan io.ReadCloser, watches)
		for range watches {
			wg.Go(func() {
				resp, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
				if err != nil {
					t.Error(err)
					return
				}
				bodies <- resp.Body
				got, err := io.ReadAll(resp.Body)
				if string(got) != "event\n" || !errors.Is(err, h2http.ErrBodyClosed) {
					t.Errorf("%q, %v", got, err)
				}
			})
		}
		time.Sleep(time.Hour) // nothing happens, and nothing is given up
		for range watches {
			select {
			case b := <-bodies:
				b.Close()
			default:
				t.Fatal("a watch has not begun")
			}
		}
		wg.Wait()
		if s := tr.Stats(); s.Failures != 0 {
			t.Errorf("%+v", s)
		}
	})
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before and %d after", before, after)
	}
}

// TestReverseProxyPassesInterimResponsesAndCancels.
//
// Contract: W6.
func TestReverseProxyPassesInterimResponsesAndCancels(t *testing.T) {
	bubble(t, func(t *testing.T) {
		gone := make(chan struct{})
		tr := goServer(t, pipe.Link{}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", "</style.css>")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Set("X-Final", "yes")
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			close(gone)
		})
		var hints []string
		ctx, cancel := context.WithCancel(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
				hints = append(hints, fmt.Sprint(code, " ", h.Get("Link")))
				return nil
			},
		}))
		w := httptest.NewRecorder()
		time.AfterFunc(time.Second, cancel)
		func() {
			defer func() { recover() }() // ReverseProxy panics with ErrAbortHandler when the client has left
			reverseProxy(tr).ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "http://front.example/", nil))
		}()
		<-gone
		if len(hints) != 1 || hints[0] != "103 </style.css>" || w.Header().Get("X-Final") != "yes" {
			t.Errorf("hints %q, head %v", hints, w.Header())
		}
	})
}

// TestLogger tells the life of connections and is silent without one.
//
// Contract: H1, O2.
func TestLogger(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var mu sync.Mutex
		var log bytes.Buffer
		events := 0
		tr, _ := scripted(t, &h2http.Transport{
			Logger: slog.New(slog.NewTextHandler(&lockedWriter{&mu, &log}, &slog.HandlerOptions{Level: slog.LevelDebug})),
			OnEvent: func(h2flow.Event) {
				mu.Lock()
				defer mu.Unlock()
				events++
			},
		}, greeted(func(s *peer.Server) {
			h := s.WantHeaders("the request")
			s.Send(answer(h.Stream, "200"))
			s.Send(frame.GoAway{LastStream: 1, Code: frame.InternalError, Debug: []byte("out of paper")})
			untilClosed(s)
		}))
		if got := get(t, tr, "http://a.example/"); got != "200 OK" {
			t.Error(got)
		}
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		for _, want := range []string{
			`level=DEBUG msg="HTTP/2 connection opened" conn=`, `level=DEBUG msg="HTTP/2 response head"`, "status=200",
			`level=WARN msg="HTTP/2 GOAWAY received"`, "out of paper",
		} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log has no %q:\n%s", want, log.String())
			}
		}
		if strings.Contains(log.String(), "frame") || events == 0 {
			t.Errorf("frames are logged, or %d events were told:\n%s", events, log.String())
		}
	})
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// TestKeyLog writes the secrets of TLS where the configuration says, in the form that capture tools read.
//
// Contract: O5.
func TestKeyLog(t *testing.T) {
	tr, url := secureServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	var keys bytes.Buffer
	tr.TLSClientConfig.KeyLogWriter = &keys
	if got := get(t, tr, url); got != "200 OK" {
		t.Error(got)
	}
	if !strings.Contains(keys.String(), "CLIENT_TRAFFIC_SECRET_0 ") {
		t.Errorf("keys %q", keys.String())
	}
}

// TestTransportBudget: twenty connections of a Transport whose responses are read slowly stay within its budget together.
//
// Contract: P9.
func TestTransportBudget(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const conns, most = 20, 1 << 20
		body := noise(1 << 20)
		tr := goServer(t, pipe.Link{RTT: 10 * time.Millisecond, Rate: 1e9}, func(w http.ResponseWriter, r *http.Request) {
			w.Write(body)
		})
		tr.Budget = h2flow.NewBudget(most)
		var wg sync.WaitGroup
		for i := range conns { // a host each, so a connection each
			wg.Go(func() {
				resp, err := tr.RoundTrip(newRequest(t, "GET", fmt.Sprintf("http://host%d.example/", i), nil))
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				var got bytes.Buffer
				for err == nil { // slowly
					time.Sleep(50 * time.Millisecond)
					_, err = io.CopyN(&got, resp.Body, 20000)
					if used := tr.Budget.Used(); used > most {
						t.Errorf("%d octets of %d are promised", used, most)
					}
				}
				if err != io.EOF || !bytes.Equal(got.Bytes(), body) {
					t.Errorf("%d octets, %v", got.Len(), err)
				}
			})
		}
		wg.Wait()
		tr.CloseIdleConnections()
		time.Sleep(time.Second)
		if used := tr.Budget.Used(); used != 0 {
			t.Errorf("%d octets are still promised", used)
		}
	})
}

// TestFramesAndStreamsCanBeRangedOver.
//
// Contract: H4.
func TestFramesAndStreamsCanBeRangedOver(t *testing.T) {
	octets := frame.RSTStream{Stream: 3, Code: frame.Cancel}.AppendTo(frame.Ping{}.AppendTo(nil))
	var types []string
	for h := range frame.All(octets) {
		types = append(types, h.Type.String())
	}
	if strings.Join(types, " ") != "PING RST_STREAM" {
		t.Errorf("frames %v", types)
	}
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "200"))
		}))
		c, err := tr.NewClientConn(t.Context(), "http", "a.example:80")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		resp, err := c.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		n := 0
		for s := range c.Conn().Streams() {
			if n++; s.ID() != 1 {
				t.Errorf("stream %d", s.ID())
			}
		}
		if n != 1 {
			t.Errorf("%d streams, want 1", n)
		}
	})
}
