package h2http_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
)

// TestWhatIsSafeToSendAgain is the table of retry safety: what happens to a request, and whether it is sent again on
// another connection, where nothing more was allowed, where idempotent requests are repeated, and for one that is not
// idempotent.
//
// Contract: L4, R9a, R9b.
func TestWhatIsSafeToSendAgain(t *testing.T) {
	const yes, no = true, false
	rst := func(code frame.ErrCode) func(*peer.Server, peer.Headers) {
		return func(s *peer.Server, h peer.Headers) {
			s.Send(frame.RSTStream{Stream: h.Stream, Code: code})
			untilClosed(s)
		}
	}
	tests := []struct {
		name    string
		before  int // requests that are served on the connection before
		event   func(s *peer.Server, h peer.Headers)
		always  bool // also what is not idempotent, by default
		allowed bool // an idempotent one where that is allowed
	}{
		{"REFUSED_STREAM", 0, rst(frame.RefusedStream), yes, yes},
		{"GOAWAY below the stream", 0, func(s *peer.Server, _ peer.Headers) {
			s.Send(frame.GoAway{LastStream: 0})
			untilClosed(s)
		}, yes, yes},
		{"GOAWAY with the stream, then close", 0, func(s *peer.Server, h peer.Headers) {
			s.Send(frame.GoAway{LastStream: h.Stream})
		}, no, yes},
		{"close", 0, func(s *peer.Server, _ peer.Headers) {}, no, yes},
		{"silence until the PING times out", 0, func(s *peer.Server, _ peer.Headers) {
			s.NoPong = true
			untilClosed(s)
		}, no, yes},
		{"RST_STREAM with another code", 0, rst(frame.InternalError), no, no},
		{"RST_STREAM CANCEL", 0, rst(frame.Cancel), no, no},
		{"an error of the protocol in the first answer", 0, func(s *peer.Server, h peer.Headers) {
			s.Send(frame.WindowUpdate{})
			untilClosed(s)
		}, no, no},
		{"an error of the protocol later", 1, func(s *peer.Server, h peer.Headers) {
			s.Send(frame.WindowUpdate{})
			untilClosed(s)
		}, no, yes},
		{"an interim head, then close", 0, func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "103"))
		}, no, no},
		{"an interim head, then REFUSED_STREAM", 0, func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "103"))
			rst(frame.RefusedStream)(s, h)
		}, no, no},
		{"the head, then close", 0, func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "200"))
		}, no, no},
	}
	for _, tt := range tests {
		for _, c := range []struct {
			method  string
			allowed bool
			key     bool
			want    bool
		}{
			{"POST", no, no, tt.always}, {"POST", yes, no, tt.always}, {"POST", yes, yes, tt.allowed},
			{"GET", no, no, tt.always}, {"GET", yes, no, tt.allowed}, {"PUT", yes, no, tt.allowed},
			{"DELETE", yes, no, tt.allowed}, {"PATCH", yes, no, tt.always},
		} {
			t.Run(fmt.Sprintf("%s, %s, allowed %v, key %v", tt.name, c.method, c.allowed, c.key), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					again := false
					once := greeted(func(s *peer.Server) {
						for range tt.before {
							h := s.WantHeaders("a request before")
							s.Send(answer(h.Stream, "204"))
						}
						h := s.WantHeaders("the request")
						if !h.EndStream {
							s.Body(h.Stream)
						}
						tt.event(s, h)
					})
					second := func(s *peer.Server, h peer.Headers) {
						again = true
						if !h.EndStream {
							s.Body(h.Stream)
						}
						s.Send(answer(h.Stream, "204"))
					}
					tr := &h2http.Transport{RetryIdempotent: c.allowed}
					if tt.name == "REFUSED_STREAM" { // it is sent again on the same connection
						once = greeted(func(s *peer.Server) {
							h := s.WantHeaders("the request")
							if !h.EndStream {
								s.Body(h.Stream)
							}
							s.Send(frame.RSTStream{Stream: h.Stream, Code: frame.RefusedStream})
							second(s, s.WantHeaders("the request again"))
							untilClosed(s)
						})
					}
					tr, n := scripted(t, tr, once, oneExchange(second))
					for range tt.before {
						get(t, tr, "http://a.example/")
					}
					var body io.Reader
					if c.method == "POST" || c.method == "PUT" || c.method == "PATCH" {
						body = strings.NewReader("body") // net/http makes GetBody for it
					}
					req := newRequest(t, c.method, "http://a.example/", body)
					if c.key {
						req.Header.Set("Idempotency-Key", "1")
					}
					resp, err := tr.RoundTrip(req)
					if err == nil {
						_, err = io.ReadAll(resp.Body)
						resp.Body.Close()
					}
					if again != c.want || (err == nil) != c.want {
						t.Errorf("sent again: %v, error %v, %d connections; want %v", again, err, n.dialed(), c.want)
					}
				})
			})
		}
	}
}

// TestWhatNeverLeftIsSentElsewhere: nothing of a request was written when its connection broke.
//
// Contract: L4.
func TestWhatNeverLeftIsSentElsewhere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, n := scripted(t, &h2http.Transport{}, greeted(serve))
		dial := tr.DialContext
		first := true
		tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if first {
				first = false
				client, _ := net.Pipe()
				return unwritable{client}, nil
			}
			return dial(ctx, network, addr)
		}
		if got := exchange(tr, newRequest(t, http.MethodPost, "http://a.example/", nil)); got != "200 OK" || n.dialed() != 1 {
			t.Errorf("%s, %d further connections", got, n.dialed())
		}
	})
}

// unwritable takes nothing.
type unwritable struct{ net.Conn }

func (unwritable) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
