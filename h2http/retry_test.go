package h2http_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
	"github.com/google/go-cmp/cmp"
)

// Streams above the identifier in GOAWAY were not processed, so they go to another connection whatever their method.
//
// Contract: R9a.
func TestB17StreamsAboveTheLastAreSentAgainWhateverTheMethod(t *testing.T) {
	rows.Cover(t, "9113-6.8-1", "9113-6.8-2", "9113-6.8-3", "9113-8.7-2")
	bubble(t, func(t *testing.T) {
		var again []string
		tr, _ := scripted(t, &h2http.Transport{},
			greeted(func(s *peer.Server) {
				for range 2 {
					s.WantHeaders("a GET arrives")
				}
				post := s.WantHeaders("the POST arrives")
				s.Body(post.Stream)
				s.Send(frame.GoAway{LastStream: 1})
				s.Send(head(1, "200"), lastData(1, "one"))
				s.Ignore = besides[frame.GoAway]
				s.WantClose("a drained connection is closed")
			}),
			greeted(func(s *peer.Server) {
				heads := map[frame.StreamID]string{}
				for len(again) < 2 {
					var id frame.StreamID
					var body string
					switch v := s.Read().(type) {
					case peer.Headers:
						id = v.Stream
						heads[id] = value(v, ":method") + " " + value(v, ":path") + " "
						if !v.EndStream {
							continue
						}
					case frame.Data:
						id, body = v.Stream, string(v.Data)
					}
					again = append(again, heads[id]+body)
					s.Send(answer(id, "204"))
				}
				untilClosed(s)
			}))
		results := make(chan string, 10)
		for _, path := range []string{"/1", "/3"} {
			go func() { results <- path + " " + get(t, tr, "http://a.example"+path) }()
			synctest.Wait()
		}
		go func() {
			results <- "/5 " + exchange(tr, newRequest(t, "POST", "http://a.example/5", strings.NewReader("body")))
		}()
		got := map[string]bool{}
		for range 3 {
			got[<-results] = true
		}
		want := map[string]bool{"/1 200 OK one": true, "/3 204 No Content": true, "/5 204 No Content": true}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		set := map[string]bool{}
		for _, a := range again {
			set[a] = true
		}
		if diff := cmp.Diff(map[string]bool{"GET /3 ": true, "POST /5 body": true}, set); diff != "" {
			t.Errorf("sent again (-want +got):\n%s", diff)
		}
	})
}

// A stream that the server may have processed is never sent again, not even if it is idempotent.
//
// Contract: R9b, W3.
func TestB17WhatMayHaveBeenProcessedIsNotSentAgain(t *testing.T) {
	rows.Cover(t, "9113-6.8-12", "9113-6.8-13", "9110-9.2.2-1", "9113-5.4.3-1")
	ends := map[string]func(s *peer.Server){
		"GOAWAY that includes it, then close": func(s *peer.Server) {
			s.Send(frame.GoAway{LastStream: 1, Code: frame.InternalError})
		},
		"close": func(s *peer.Server) {},
		"RST_STREAM with a code": func(s *peer.Server) {
			s.Send(frame.RSTStream{Stream: 1,
				Code: frame.InternalError})
			untilClosed(s)
		},
		"RST_STREAM after a head": func(s *peer.Server) {
			s.Send(head(1, "200"), frame.RSTStream{Stream: 1, Code: frame.RefusedStream})
			untilClosed(s)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, n := scripted(t, &h2http.Transport{}, greeted(func(s *peer.Server) {
					s.WantHeaders("the request arrives")
					end(s)
				}))
				resp, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
				if err == nil {
					_, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				if err == nil || h2flow.Retryable(err) {
					t.Errorf("error %v, want one that is not safe to retry", err)
				}
				if n.dialed() != 1 {
					t.Errorf("%d connections, want 1", n.dialed())
				}
			})
		})
	}
}

// refuseAfterBody reads one request with its body and says that it was not processed.
func refuseAfterBody(s *peer.Server) {
	h := s.WantHeaders("the request arrives")
	s.Body(h.Stream)
	s.Send(frame.GoAway{LastStream: 0})
	untilClosed(s)
}

// Contract: R9b, W2.
func TestB18ARetryGetsTheWholeBodyFromGetBody(t *testing.T) {
	rows.Cover(t, "9113-8.7-2")
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, greeted(refuseAfterBody), greeted(func(s *peer.Server) {
			h := s.WantHeaders("the request comes again")
			body, _ := s.Body(h.Stream)
			if string(body) != "0123456789" || value(h, "content-length") != "10" {
				s.Fail("second attempt: content-length %s, body %q", value(h, "content-length"), body)
			}
			s.Send(answer(h.Stream, "200"))
			untilClosed(s)
		}))
		first, second := watch("0123456789"), watch("0123456789")
		req := newRequest(t, "POST", "http://a.example/", first)
		req.ContentLength = 10
		req.GetBody = func() (io.ReadCloser, error) {
			first.wantClosedOnce(t) // before the second is made
			return second, nil
		}
		if got := exchange(tr, req); got != "200 OK" {
			t.Error(got)
		}
		first.wantClosedOnce(t)
		second.wantClosedOnce(t)
	})
}

// Contract: R9b, E26.
func TestB18WithoutGetBodyTheErrorNamesIt(t *testing.T) {
	rows.Cover(t, "9113-8.7-2")
	bubble(t, func(t *testing.T) {
		tr, n := scripted(t, &h2http.Transport{}, greeted(refuseAfterBody))
		body := watch("0123456789")
		_, err := tr.RoundTrip(newRequest(t, "POST", "http://a.example/", body))
		if err == nil || !strings.Contains(err.Error(), "define Request.GetBody to avoid this error") {
			t.Errorf("error %v", err)
		}
		if !errors.Is(err, h2flow.ErrNotProcessed) {
			t.Errorf("error %v does not say that the request was not processed", err)
		}
		body.wantClosedOnce(t)
		if n.dialed() != 1 {
			t.Errorf("%d connections, want 1", n.dialed())
		}
	})
}

// A body of which no octet was read is as good as new.
//
// Contract: R9b.
func TestB18AnUnreadBodyNeedsNoGetBody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		body := watch("0123456789")
		tr, _ := scripted(t, &h2http.Transport{}, greeted(func(s *peer.Server) {
			s.WantHeaders("the request arrives")
			s.Send(frame.GoAway{LastStream: 0})
			untilClosed(s)
		}), greeted(func(s *peer.Server) {
			h := s.WantHeaders("the request comes again")
			s.Send(head(h.Stream, "100"))
			octets, _ := s.Body(h.Stream)
			s.Send(head(h.Stream, "200"), lastData(h.Stream, string(octets)))
			untilClosed(s)
		}))
		req := newRequest(t, "POST", "http://a.example/", body)
		req.Header.Set("Expect", "100-continue") // so that the body waits
		if got := exchange(tr, req); got != "200 OK 0123456789" {
			t.Error(got)
		}
		body.wantClosedOnce(t)
	})
}

// A graceful GOAWAY lets what is in progress finish, sends what is new elsewhere, and the connection is closed then.
func TestB19AGracefulGoAwayDrains(t *testing.T) {
	rows.Cover(t, "9113-6.8-3", "9113-6.8-5", "9113-6.8-6")
	bubble(t, func(t *testing.T) {
		finish := make(chan struct{})
		tr, n := scripted(t, &h2http.Transport{},
			greeted(func(s *peer.Server) {
				s.WantHeaders("the first request arrives")
				s.WantHeaders("the second request arrives")
				s.Send(frame.GoAway{LastStream: frame.MaxStreamID})
				<-finish
				s.Send(frame.GoAway{LastStream: 3}, head(1, "200"), lastData(1, "one"), head(3, "200"),
					lastData(3, "three"))
				s.Ignore = func(v fmt.Stringer) bool {
					g, ok := v.(frame.GoAway)
					if ok && g.LastStream != 0 {
						s.Fail("our GOAWAY names stream %d; the server opened none", g.LastStream)
					}
					return ok || peer.IgnoreWindowUpdates(v)
				}
				s.WantClose("a drained connection is closed")
			}),
			greeted(func(s *peer.Server) {
				h := s.WantHeaders("the new request arrives on another connection")
				s.Send(answer(h.Stream, "204"))
				untilClosed(s)
			}))
		results := make(chan string, 2)
		for range 2 {
			go func() { results <- get(t, tr, "http://a.example/") }()
			synctest.Wait()
		}
		if got := get(t, tr, "http://a.example/new"); got != "204 No Content" {
			t.Error(got)
		}
		if n.dialed() != 2 {
			t.Errorf("%d connections, want 2", n.dialed())
		}
		close(finish)
		got := map[string]bool{<-results: true, <-results: true}
		if diff := cmp.Diff(map[string]bool{"200 OK one": true, "200 OK three": true}, got); diff != "" {
			t.Errorf("what was in progress (-want +got):\n%s", diff)
		}
	})
}

// Retries are few, have pauses between them, and are counted for the request: new connections do not start them anew.
//
// Contract: R9a.
func TestB20RetriesAreBounded(t *testing.T) {
	rows.Cover(t, "9110-9.2.2-2", "9113-8.7-1")
	refuse := greeted(func(s *peer.Server) {
		s.Ignore = onlyHeaders
		for range 10 {
			h := s.WantHeaders("a request arrives")
			s.Send(frame.RSTStream{Stream: h.Stream, Code: frame.RefusedStream})
		}
	})
	calm := greeted(func(s *peer.Server) {
		s.WantHeaders("a request arrives")
		s.Send(frame.GoAway{LastStream: 0, Code: frame.EnhanceYourCalm})
		untilClosed(s)
	})
	tests := []struct {
		name    string
		scripts []func(*peer.Server)
		dials   int
		atLeast time.Duration
		code    frame.ErrCode
	}{
		{"every stream is refused", []func(*peer.Server){func(s *peer.Server) {
			defer func() { recover() }() // the client leaves before the tenth
			refuse(s)
		}}, 1, 100 * time.Millisecond, frame.RefusedStream},
		{"every connection is told to calm down", []func(*peer.Server){calm, calm, calm, calm, calm, calm}, 4,
			3 * time.Second, frame.EnhanceYourCalm},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, n := scripted(t, &h2http.Transport{}, tt.scripts...)
				start := time.Now()
				_, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
				took := time.Since(start)
				if took < tt.atLeast || took > time.Minute {
					t.Errorf("gave up after %v, want %v or a little more", took, tt.atLeast)
				}
				if !errors.Is(err, h2flow.ErrNotProcessed) || codeOf(err) != tt.code {
					t.Errorf("error %v (code %v), want one that says not processed, with %v", err, codeOf(err), tt.code)
				}
				if n.dialed() != tt.dials {
					t.Errorf("%d connections, want %d", n.dialed(), tt.dials)
				}
			})
		})
	}
}

// codeOf is the code that an error carries, whichever type it has.
func codeOf(err error) frame.ErrCode {
	var (
		goAway *h2flow.GoAwayError
		stream *h2flow.StreamError
		conn   *h2flow.ConnError
	)
	switch {
	case errors.As(err, &goAway):
		return goAway.ErrCode
	case errors.As(err, &stream):
		return stream.Code
	case errors.As(err, &conn):
		return conn.Code
	}
	return frame.NoError
}
