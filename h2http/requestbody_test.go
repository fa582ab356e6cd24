package h2http_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
)

// Once the caller has control back, nothing touches the request body.
//
// Contract: R2, R3.
func TestB53TheBodyIsTheCallersAgainWhenRoundTripOrCloseReturns(t *testing.T) {
	tests := []struct {
		name   string
		script func(s *peer.Server, h peer.Headers)
	}{
		{"400 at once", func(s *peer.Server, h peer.Headers) { s.Send(answer(h.Stream, "400")) }},
		{"200 at once", func(s *peer.Server, h peer.Headers) { s.Send(answer(h.Stream, "200")) }},
		{"reset", func(s *peer.Server, h peer.Headers) {
			s.Send(frame.RSTStream{Stream: h.Stream, Code: frame.InternalError})
		}},
		{"the server drops the connection", func(s *peer.Server, _ peer.Headers) { s.Conn().Close() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 200 {
				bubble(t, func(t *testing.T) {
					tr, _ := scripted(t, &h2http.Transport{}, greeted(func(s *peer.Server) {
						tt.script(s, s.WantHeaders("the request arrives"))
						untilClosed(s)
					}))
					shared := bufio.NewReader(endless{})
					body := &watchedBody{r: io.LimitReader(shared, 1<<20)}
					resp, err := tr.RoundTrip(newRequest(t, "POST", "http://a.example/", body))
					if err == nil {
						resp.Body.Close()
					}
					// The race detector sees it if anybody else still reads.
					if _, err := shared.ReadByte(); err != nil {
						t.Error(err)
					}
					body.wantClosedOnce(t)
				})
			}
		})
	}
}

// A Read that ignores that its body was closed is left behind after a moment.
func TestB53AReadThatIgnoresCloseHoldsNobodyUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		tr, _ := scripted(t, &h2http.Transport{}, greeted(func(s *peer.Server) {
			s.WantHeaders("the request arrives")
			cancel()
			untilClosed(s)
		}))
		r, w := io.Pipe()
		defer w.Close()
		body := &watchedBody{r: r} // Close does not end Read
		start := time.Now()
		_, err := tr.RoundTrip(newRequest(t, "POST", "http://a.example/", body).WithContext(ctx))
		if took := time.Since(start); !errors.Is(err, context.Canceled) || took > time.Second {
			t.Errorf("error %v after %v", err, took)
		}
		body.wantClosedOnce(t)
	})
}

// The body is closed exactly once however the request ends; see also the tests of refused requests.
//
// Contract: R2.
func TestTheRequestBodyIsClosedOnceOnEveryPath(t *testing.T) {
	ok := oneExchange(func(s *peer.Server, h peer.Headers) {
		s.Body(h.Stream)
		s.Send(answer(h.Stream, "200"))
	})
	tests := []struct {
		name string
		do   func(t *testing.T, body io.ReadCloser)
	}{
		{"success", func(t *testing.T, body io.ReadCloser) {
			tr, _ := scripted(t, &h2http.Transport{}, ok)
			if got := exchange(tr, newRequest(t, "POST", "http://a.example/", body)); got != "200 OK" {
				t.Error(got)
			}
		}},
		{"the dial fails", func(t *testing.T, body io.ReadCloser) {
			tr, _ := scripted(t, &h2http.Transport{})
			if _, err := tr.RoundTrip(newRequest(t, "POST", "http://a.example/", body)); err == nil {
				t.Error("no error")
			}
		}},
		{"cancelled before", func(t *testing.T, body io.ReadCloser) {
			tr, _ := scripted(t, &h2http.Transport{})
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := tr.RoundTrip(newRequest(t, "POST", "http://a.example/",
				body).WithContext(ctx)); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}},
		{"reset after the head", func(t *testing.T, body io.ReadCloser) {
			tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
				s.Send(head(h.Stream, "200"), frame.RSTStream{Stream: h.Stream, Code: frame.InternalError})
			}))
			resp, err := tr.RoundTrip(newRequest(t, "POST", "http://a.example/", body))
			if err != nil {
				return
			}
			var serr *h2flow.StreamError
			if _, err := io.ReadAll(resp.Body); !errors.As(err, &serr) {
				t.Errorf("body error %v", err)
			}
			resp.Body.Close()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := watch("body")
			bubble(t, func(t *testing.T) {
				tt.do(t, body)
				synctest.Wait()
			})
			body.wantClosedOnce(t)
		})
	}
}
