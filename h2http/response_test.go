package h2http_test

import (
	"io"
	"net/http"
	"testing"

	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
	"github.com/google/go-cmp/cmp"
)

// The whole of a response, as callers of net/http know it.
//
// Contract: S14, S16a.
func TestResponseIsFilledIn(t *testing.T) {
	rows.Cover(t, "9113-8.3.2-2", "9110-15-1", "9110-5.1-1")
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "299", "content-length", "2", "set-cookie", "a=1", "set-cookie", "b=2",
				"x-odd-NAME"[:5], "v"),
				lastData(h.Stream, "ab"))
		}))
		req := newRequest(t, "GET", "http://a.example/", nil)
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		type view struct {
			Status        string
			Code          int
			Proto         string
			Major, Minor  int
			Header        http.Header
			ContentLength int64
			SameRequest   bool
		}
		want := view{"299", 299, "HTTP/2.0", 2, 0, http.Header{
			"Content-Length": {"2"}, "Set-Cookie": {"a=1", "b=2"}, "X-Odd": {"v"},
		}, 2, true}
		got := view{resp.Status, resp.StatusCode, resp.Proto, resp.ProtoMajor, resp.ProtoMinor, resp.Header,
			resp.ContentLength, resp.Request == req}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// Contract: S14, S16a.
func TestResponsesWithoutContent(t *testing.T) {
	rows.Cover(t, "9110-15.3.5-1", "9110-15.4.5-1", "9110-15.3.6-1", "9113-8.1.1-2")
	tests := []struct {
		name, method, status string
		endOnHead            bool
		lines                []string
		length               int64
	}{
		{"HEAD", "HEAD", "200", true, []string{"content-length", "1234"}, 1234},
		{"HEAD without a length", "HEAD", "200", true, nil, -1},
		{"HEAD that ends later", "HEAD", "200", false, []string{"content-length", "1234"}, 1234},
		{"204", "GET", "204", true, nil, 0},
		{"204 that ends later", "GET", "204", false, nil, -1},
		{"205", "GET", "205", true, nil, 0},
		{"304", "GET", "304", true, []string{"content-length", "1234"}, 1234},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
					r := head(h.Stream, tt.status, tt.lines...)
					r.EndStream = tt.endOnHead
					s.Send(r)
					if !tt.endOnHead {
						s.Send(lastData(h.Stream, ""))
					}
				}))
				resp, err := tr.RoundTrip(newRequest(t, tt.method, "http://a.example/", nil))
				if err != nil {
					t.Fatal(err)
				}
				if body, err := io.ReadAll(resp.Body); len(body) != 0 || err != nil {
					t.Errorf("body %q, error %v", body, err)
				}
				if resp.ContentLength != tt.length {
					t.Errorf("length %d, want %d", resp.ContentLength, tt.length)
				}
				resp.Body.Close()
			})
		})
	}
}
