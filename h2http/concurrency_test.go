package h2http_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"github.com/google/go-cmp/cmp"
)

var oneStream = frame.Setting{ID: frame.SettingMaxConcurrentStreams, Value: 1}

// At the limit of concurrent streams the policy is the user's: wait for a stream to end, or open another connection.
//
// Contract: P4.
func TestB12AtTheLimitRequestsQueueInOrderOnOneConnection(t *testing.T) {
	policies := map[string]*h2http.Transport{
		"MaxConnsPerHost":             {MaxConnsPerHost: 1},
		"StrictMaxConcurrentRequests": {HTTP2: &http.HTTP2Config{StrictMaxConcurrentRequests: true}},
		"our own cap":                 {MaxConnsPerHost: 1, MaxConcurrentStreams: 1},
	}
	for name, tr := range policies {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) { testQueue(t, tr.Clone(), name != "our own cap") })
		})
	}
}

func testQueue(t *testing.T, tr *h2http.Transport, limit bool) {
	var settings []frame.Setting
	if limit {
		settings = append(settings, oneStream)
	}
	release := make(chan struct{})
	var paths []string
	tr, n := scripted(t, tr, greeted(func(s *peer.Server) {
		for range 5 {
			h := s.WantHeaders("a request arrives")
			paths = append(paths, value(h, ":path"))
			<-release
			quiet(s, "the only stream is taken")
			s.Send(answer(h.Stream, "200"))
		}
		untilClosed(s)
	}, settings...))
	results := make(chan string, 5)
	for i := range 5 {
		go func() { results <- get(t, tr, fmt.Sprintf("http://a.example/%d", i)) }()
		synctest.Wait() // so that they come in order
	}
	for range 5 {
		select {
		case release <- struct{}{}:
		case <-time.After(time.Minute):
		}
		if got := <-results; got != "200 OK" {
			t.Error(got)
		}
	}
	if diff := cmp.Diff([]string{"/0", "/1", "/2", "/3", "/4"}, paths); diff != "" {
		t.Errorf("order on the wire (-want +got):\n%s", diff)
	}
	if n.dialed() != 1 {
		t.Errorf("%d connections, want 1", n.dialed())
	}
}

// Contract: P4.
func TestB12AtTheLimitAnotherConnectionOpens(t *testing.T) {
	bubble(t, func(t *testing.T) {
		release := make(chan struct{})
		one := greeted(func(s *peer.Server) {
			h := s.WantHeaders("a request arrives")
			<-release
			s.Send(answer(h.Stream, "200"))
			untilClosed(s)
		}, oneStream)
		tr, n := scripted(t, &h2http.Transport{}, one, one, one)
		results := make(chan string, 10)
		for range 3 {
			go func() { results <- get(t, tr, "http://a.example/") }()
			synctest.Wait()
		}
		if n.dialed() != 3 {
			t.Errorf("%d connections for 3 requests at a limit of 1, want 3", n.dialed())
		}
		close(release)
		for range 3 {
			if got := <-results; got != "200 OK" {
				t.Error(got)
			}
		}
	})
}

func TestB12AQueuedRequestHonoursItsContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		release := make(chan struct{})
		tr, _ := scripted(t, &h2http.Transport{MaxConnsPerHost: 1}, greeted(func(s *peer.Server) {
			h := s.WantHeaders("the first request arrives")
			<-release
			s.Send(answer(h.Stream, "200"))
			h = s.WantHeaders("the request after the cancelled one arrives")
			if path := value(h, ":path"); path != "/after" {
				s.Fail("the request for %s arrives, which was cancelled before it could be sent", path)
			}
			s.Send(answer(h.Stream, "200"))
			untilClosed(s)
		}, oneStream))
		first := make(chan string, 1)
		go func() { first <- get(t, tr, "http://a.example/first") }()
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/queued", nil).WithContext(ctx))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("a queued request ended with %v after %v", err, time.Since(start))
		}
		close(release)
		if got := <-first; got != "200 OK" {
			t.Error(got)
		}
		if got := get(t, tr, "http://a.example/after"); got != "200 OK" {
			t.Error(got)
		}
	})
}

// Whatever ends a stream gives its slot back.
func TestB13ASlotComesBackOnEveryEndOfAStream(t *testing.T) {
	const rounds = 10
	failing := errors.New("the body fails")
	ways := []struct {
		name string
		try  func(t *testing.T, tr *h2http.Transport)
		peer func(s *peer.Server) // serves one of the rounds
	}{
		{"the body reader fails", func(t *testing.T, tr *h2http.Transport) {
			body := &watchedBody{r: io.MultiReader(&oneByte{}, &failingReader{failing})}
			if _, err := tr.RoundTrip(newRequest(t, "POST", "http://a.example/", body)); !errors.Is(err, failing) {
				t.Errorf("error %v, want the body's own", err)
			}
			body.wantClosedOnce(t)
		}, func(s *peer.Server) {
			h := s.WantHeaders("the head arrives")
			for {
				if v, ok := s.Read().(frame.RSTStream); ok {
					if v != (frame.RSTStream{Stream: h.Stream, Code: frame.Cancel}) {
						s.Fail("%v", v)
					}
					return
				}
			}
		}},
		{"cancel after the head", func(t *testing.T, tr *h2http.Transport) {
			ctx, cancel := context.WithCancel(t.Context())
			resp, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil).WithContext(ctx))
			if err != nil {
				t.Fatal(err)
			}
			cancel()
			if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
				t.Errorf("Read after cancel: %v", err)
			}
			resp.Body.Close()
		}, func(s *peer.Server) {
			h := s.WantHeaders("the request arrives")
			s.Send(head(h.Stream, "200"))
			s.Want("an abandoned stream gets one RST_STREAM", frame.RSTStream{Stream: h.Stream, Code: frame.Cancel})
		}},
		{"the body is closed early", func(t *testing.T, tr *h2http.Transport) {
			resp, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}, func(s *peer.Server) {
			h := s.WantHeaders("the request arrives")
			s.Send(head(h.Stream, "200"), data(h.Stream, "unread"))
			s.Want("an abandoned stream gets one RST_STREAM", frame.RSTStream{Stream: h.Stream, Code: frame.Cancel})
		}},
		{"the context has ended before", func(t *testing.T, tr *h2http.Transport) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			req := newRequest(t, "GET", "http://a.example/", nil).WithContext(ctx)
			if _, err := tr.RoundTrip(req); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		}, func(*peer.Server) {}},
		{"the server refuses every attempt", func(t *testing.T, tr *h2http.Transport) {
			_, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
			if codeOf(err) != frame.RefusedStream {
				t.Errorf("error %v, want REFUSED_STREAM", err)
			}
		}, func(s *peer.Server) {
			for range 4 {
				h := s.WantHeaders("an attempt arrives")
				s.Send(frame.RSTStream{Stream: h.Stream, Code: frame.RefusedStream})
			}
		}},
		{"the server resets", func(t *testing.T, tr *h2http.Transport) {
			if _, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil)); err == nil {
				t.Error("no error")
			}
		}, func(s *peer.Server) {
			h := s.WantHeaders("the request arrives")
			s.Send(frame.RSTStream{Stream: h.Stream, Code: frame.InternalError})
		}},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, _ := scripted(t, &h2http.Transport{MaxConnsPerHost: 1}, greeted(func(s *peer.Server) {
					for range rounds {
						way.peer(s)
					}
					h := s.WantHeaders("the last request arrives, and nothing before it")
					s.Send(answer(h.Stream, "204"))
					untilClosed(s)
				}, frame.Setting{ID: frame.SettingMaxConcurrentStreams, Value: 2}))
				for range rounds {
					way.try(t, tr)
				}
				noTime(t, "the request after them", func() {
					if got := get(t, tr, "http://a.example/"); got != "204 No Content" {
						t.Error(got)
					}
				})
			})
		})
	}
}

// oneByte gives one octet and ends.
type oneByte struct{ done bool }

func (o *oneByte) Read(p []byte) (int, error) {
	if o.done {
		return 0, io.EOF
	}
	o.done = true
	return copy(p, "x"), nil
}

type failingReader struct{ err error }

func (f *failingReader) Read([]byte) (int, error) { return 0, f.err }
