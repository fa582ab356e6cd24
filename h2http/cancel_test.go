package h2http_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
)

// A place is where a request can be when its context ends.
type place struct {
	name   string
	tr     *h2http.Transport
	body   func() io.Reader
	script func(s *peer.Server)
	// read says that RoundTrip returns and it is the body whose reading is cancelled.
	read bool
	// before, if not nil, runs first, and its result when the test ends.
	before func(t *testing.T, tr *h2http.Transport) func()
}

var places = []place{
	{name: "dialing", tr: &h2http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}},
	{name: "queued for a stream", tr: &h2http.Transport{MaxConnsPerHost: 1}, script: func(s *peer.Server) {
		s.Ignore = peer.IgnoreWindowUpdates
		s.Greet(oneStream)
		h := s.WantHeaders("the first request arrives")
		s.Send(head(h.Stream, "200"))
		untilClosed(s)
	}, before: func(t *testing.T, tr *h2http.Transport) func() {
		resp, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/first", nil))
		if err != nil {
			t.Fatal(err)
		}
		return func() { resp.Body.Close() }
	}},
	{name: "server silent from the start", script: untilClosed},
	{name: "waiting for the head", script: greeted(func(s *peer.Server) { untilClosed(s) })},
	{name: "waiting for 100", script: greeted(func(s *peer.Server) { untilClosed(s) }),
		body: func() io.Reader { return blocked() }},
	{name: "waiting for the send window", script: greeted(func(s *peer.Server) { untilClosed(s) }),
		body: func() io.Reader { return endless{} }},
	{name: "reading the request body", script: greeted(func(s *peer.Server) { untilClosed(s) }),
		body: func() io.Reader { return blocked() }},
	{name: "reading the response body", read: true, script: greeted(func(s *peer.Server) {
		h := s.WantHeaders("the request arrives")
		s.Send(head(h.Stream, "200"))
		untilClosed(s)
	})},
}

// Cancelling returns at once, wherever the request is and whatever the server does.
//
// Contract: E22a, E22b.
func TestCancellingReturnsAtOnceFromEveryPlace(t *testing.T) {
	cause := errors.New("the user has left")
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				p.run(t, ctx, func() time.Time {
					cancel(cause)
					return time.Now()
				}, func(err error) {
					if !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
						t.Errorf("error %v, want context.Canceled with its cause", err)
					}
				})
			})
		})
	}
}

// Contract: E22a, E23b.
func TestADeadlineIsATimeoutFromEveryPlace(t *testing.T) {
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				p.run(t, ctx, func() time.Time {
					d, _ := ctx.Deadline()
					return d
				}, func(err error) { wantTimeout(t, err) })
			})
		})
	}
}

// wantTimeout fails the test unless err is a timeout by every name.
func wantTimeout(t *testing.T, err error) {
	t.Helper()
	var nerr net.Error
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, os.ErrDeadlineExceeded) ||
		!errors.As(err, &nerr) || !nerr.Timeout() {
		t.Errorf("error %v (%T), want a timeout", err, err)
	}
}

// run brings a request to the place, calls end, which ends ctx, and checks the error and that it came when end said.
func (p place) run(t *testing.T, ctx context.Context, end func() time.Time, check func(error)) {
	tr := &h2http.Transport{}
	if p.tr != nil {
		tr = p.tr.Clone()
	}
	if dial := tr.DialContext; dial != nil {
		tr.AllowHTTP = true
	} else {
		tr, _ = scripted(t, tr, p.script)
	}
	if p.before != nil {
		defer p.before(t, tr)()
	}
	var body io.Reader
	if p.body != nil {
		body = p.body()
	}
	req := newRequest(t, "POST", "http://a.example/", body).WithContext(ctx)
	if strings.Contains(p.name, "100") {
		req.Header.Set("Expect", "100-continue")
		tr.ExpectContinueTimeout = time.Minute
	}
	result := make(chan error, 1)
	ended := make(chan time.Time, 1)
	go func() {
		resp, err := tr.RoundTrip(req)
		if p.read && err == nil {
			_, err = io.ReadAll(resp.Body)
			defer resp.Body.Close()
		}
		ended <- time.Now()
		result <- err
	}()
	synctest.Wait()
	select {
	case err := <-result:
		t.Fatalf("ended before it was cancelled: %v", err)
	default:
	}
	due := end()
	check(<-result)
	if got := <-ended; !got.Equal(due) {
		t.Errorf("returned %v after the end of the context", got.Sub(due))
	}
}

// A server that stops reading the socket holds up no cancel, no new request and no Close.
func TestCancellingDoesNotWaitForTheSocket(t *testing.T) {
	bubble(t, func(t *testing.T) {
		stuck := make(chan struct{})
		tr := &h2http.Transport{WriteTimeout: time.Hour}
		tr, _ = scripted(t, tr, func(s *peer.Server) {
			s.Read() // SETTINGS; nothing more is read, and net.Pipe has no buffer
			<-stuck
		})
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() {
			_, err := tr.RoundTrip(newRequest(t, "POST", "http://a.example/", endless{}).WithContext(ctx))
			result <- err
		}()
		synctest.Wait()
		noTime(t, "cancel", func() {
			cancel()
			if err := <-result; !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
		short, cancelShort := context.WithTimeout(t.Context(), time.Second)
		defer cancelShort()
		start := time.Now()
		_, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil).WithContext(short))
		if took := time.Since(start); took != time.Second {
			t.Errorf("a request with a timeout of 1s took %v: %v", took, err)
		}
		noTime(t, "CloseIdleConnections", tr.CloseIdleConnections)
		close(stuck)
	})
}

// An http.Client with a Timeout sets a deadline and the Cancel channel, and reads the error's type.
//
// Contract: E23a.
func TestClientTimeout(t *testing.T) {
	for _, where := range []string{"head", "body"} {
		t.Run(where, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
					if where == "body" {
						s.Send(head(h.Stream, "200"))
					}
					s.Want("the stream is cancelled", frame.RSTStream{Stream: h.Stream, Code: frame.Cancel})
				}))
				client := &http.Client{Transport: tr, Timeout: time.Second}
				start := time.Now()
				resp, err := client.Get("http://a.example/")
				if where == "body" {
					if err != nil {
						t.Fatal(err)
					}
					_, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				var nerr net.Error
				if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &nerr) || !nerr.Timeout() {
					t.Errorf("error %v, want a timeout", err)
				}
				if took := time.Since(start); took != time.Second {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

func TestClientTimeoutDoesNotTouchAResponseInTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "200"), lastData(h.Stream, "in time"))
		}))
		resp, err := (&http.Client{Transport: tr, Timeout: time.Second}).Get("http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(body) != "in time" || err != nil {
			t.Errorf("%q, %v", body, err)
		}
	})
}

// Contract: E23a.
func TestRequestCancelIsHonoured(t *testing.T) {
	for _, where := range []string{"head", "body"} {
		t.Run(where, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
					if where == "body" {
						s.Send(head(h.Stream, "200"))
					}
					s.Want("the stream is cancelled", frame.RSTStream{Stream: h.Stream, Code: frame.Cancel})
				}))
				cancel := make(chan struct{})
				req := newRequest(t, "GET", "http://a.example/", nil)
				//lint:ignore SA1019 http.Client still sets it
				req.Cancel = cancel
				time.AfterFunc(time.Second, func() { close(cancel) })
				resp, err := tr.RoundTrip(req)
				if where == "body" {
					if err != nil {
						t.Fatal(err)
					}
					_, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				if !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

// The time starts when the request is sent, its body included.
func TestResponseHeaderTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{ResponseHeaderTimeout: time.Second}, greeted(func(s *peer.Server) {
			s.Ignore = onlyHeaders
			for range 2 {
				s.WantHeaders("a request arrives that is not answered")
			}
			h := s.WantHeaders("a request arrives that is answered in time")
			s.Send(head(h.Stream, "200"), data(h.Stream, "first "))
			time.Sleep(5 * time.Second)
			s.Send(lastData(h.Stream, "second"))
			untilClosed(s)
		}))
		start := time.Now()
		_, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
		wantTimeout(t, err)
		if took := time.Since(start); took != time.Second {
			t.Errorf("without a body it took %v", took)
		}
		synctest.Wait() // the server has given a sign of life, so that the next request is put on its connection
		r, w := io.Pipe()
		time.AfterFunc(5*time.Second, func() { w.Close() })
		start = time.Now()
		_, err = tr.RoundTrip(newRequest(t, "POST", "http://a.example/", r))
		wantTimeout(t, err)
		if took := time.Since(start); took != 6*time.Second {
			t.Errorf("with a body of 5s it took %v", took)
		}
		if got := get(t, tr, "http://a.example/"); got != "200 OK first second" {
			t.Errorf("a slow body after a head in time: %s", got)
		}
	})
}
