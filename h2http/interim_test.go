package h2http_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"testing"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
	"github.com/google/go-cmp/cmp"
)

// Contract: S18.
func TestB32InterimResponsesReachTheTraceAndTheFinalOneTheCaller(t *testing.T) {
	rows.Cover(t, "9113-8.1-7", "9110-15.2-1")
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "103", "link", "</a>"), head(h.Stream, "103", "link", "</b>"),
				head(h.Stream, "200"), lastData(h.Stream, "final"))
		}))
		var got []string
		req := newRequest(t, "GET", "http://a.example/", nil)
		req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
			Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
				got = append(got, http.StatusText(code)+" "+h.Get("Link"))
				return nil
			},
		}))
		if answer := exchange(tr, req); answer != "200 OK final" {
			t.Error(answer)
		}
		if diff := cmp.Diff([]string{"Early Hints </a>", "Early Hints </b>"}, got); diff != "" {
			t.Errorf("interim responses (-want +got):\n%s", diff)
		}
	})
}

func TestB32TheTraceMayEndARequestAtAnInterimResponse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "103"))
			s.Want("the stream is cancelled", frame.RSTStream{Stream: h.Stream, Code: frame.Cancel})
		}))
		no := errors.New("no hints, please")
		req := newRequest(t, "GET", "http://a.example/", nil)
		req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
			Got1xxResponse: func(int, textproto.MIMEHeader) error { return no },
		}))
		if _, err := tr.RoundTrip(req); !errors.Is(err, no) {
			t.Errorf("error %v, want the hook's", err)
		}
	})
}

// Contract: S18.
func TestB32InterimResponsesAreBoundedAndWellFormed(t *testing.T) {
	rows.Cover(t, "9113-8.6-1", "9113-8.1-6")
	tests := []struct {
		name  string
		heads func(id frame.StreamID) []any
	}{
		{"endless", func(id frame.StreamID) []any {
			var all []any
			for range 200 {
				all = append(all, head(id, "103"))
			}
			return all
		}},
		{"101", func(id frame.StreamID) []any { return []any{head(id, "101"), answer(id, "200")} }},
		{"with END_STREAM", func(id frame.StreamID) []any { return []any{answer(id, "103")} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
					s.Send(tt.heads(h.Stream)...)
				}))
				_, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
				var serr *h2flow.StreamError
				if !errors.As(err, &serr) {
					t.Errorf("error %v, want a *StreamError", err)
				}
			})
		})
	}
}

// Contract: R10.
func TestB32ExpectContinueWaitsForTheServersWord(t *testing.T) {
	rows.Cover(t, "9110-10.1.1-2", "9110-10.1.1-3", "9110-10.1.1-4", "9110-10.1.1-5")
	const wait = 3 * time.Second
	tests := []struct {
		name   string
		script func(s *peer.Server, h peer.Headers)
		want   string
		sent   bool          // the body was read
		after  time.Duration // the response came
	}{
		{"100, then 200", func(s *peer.Server, h peer.Headers) {
			quiet(s, "the body waits for 100")
			s.Send(head(h.Stream, "100"))
			body, _ := s.Body(h.Stream)
			s.Send(head(h.Stream, "200"), lastData(h.Stream, string(body)))
		}, "200 OK body", true, time.Second},
		{"401 at once", func(s *peer.Server, h peer.Headers) {
			s.Send(answer(h.Stream, "401"))
			s.Want("no body is sent and the stream is closed", frame.RSTStream{Stream: h.Stream, Code: frame.Cancel})
		}, "401 Unauthorized", false, 0},
		{"417 at once", func(s *peer.Server, h peer.Headers) {
			s.Send(answer(h.Stream, "417"))
			s.Want("no body is sent and the stream is closed", frame.RSTStream{Stream: h.Stream, Code: frame.Cancel})
		}, "417 Expectation Failed", false, 0},
		{"200 at once", func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "200"), lastData(h.Stream, "no need"))
			s.Want("no body is sent and the stream is closed", frame.RSTStream{Stream: h.Stream, Code: frame.Cancel})
		}, "200 OK no need", false, 0},
		{"silence", func(s *peer.Server, h peer.Headers) {
			body, _ := s.Body(h.Stream)
			s.Send(head(h.Stream, "200"), lastData(h.Stream, string(body)))
		}, "200 OK body", true, wait},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, _ := scripted(t, &h2http.Transport{ExpectContinueTimeout: wait}, oneExchange(tt.script))
				body := watch("body")
				req := newRequest(t, "POST", "http://a.example/", body)
				req.Header.Set("Expect", "100-continue")
				start := time.Now()
				if got := exchange(tr, req); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				if took := time.Since(start); took != tt.after {
					t.Errorf("took %v, want %v", took, tt.after)
				}
				body.wantClosedOnce(t)
				if rest, _ := io.ReadAll(body.r); (len(rest) == 0) != tt.sent {
					t.Errorf("%q is left of the body; sent: %v", rest, tt.sent)
				}
			})
		})
	}
}
