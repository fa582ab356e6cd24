package h2http_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
	"github.com/google/go-cmp/cmp"
)

// oneExchange serves one request by script, and then lets the client close.
func oneExchange(script func(s *peer.Server, h peer.Headers)) func(*peer.Server) {
	return greeted(func(s *peer.Server) {
		script(s, s.WantHeaders("the request arrives"))
		untilClosed(s)
	})
}

// ends makes a body of one frame.
func ends(text string) func(id frame.StreamID) []any {
	return func(id frame.StreamID) []any { return []any{lastData(id, text)} }
}

// The length that is declared is checked, wherever the end of the stream is said.
//
// Contract: S16b.
func TestB33ContentLengthThatDisagreesWithTheBodyIsAnError(t *testing.T) {
	rows.Cover(t, "9113-8.1.1-1", "9113-8.1.1-4")
	tests := []struct {
		name   string
		lines  []string
		frames func(id frame.StreamID) []any
		body   string
		ok     bool
		noHead bool
	}{
		{"too few octets", []string{"10"}, ends("01234"), "01234", false, false},
		{"too many octets", []string{"10"}, ends("0123456789abcde"), "0123456789", false, false},
		{"too many octets in a second frame", []string{"10"}, func(id frame.StreamID) []any {
			return []any{data(id, "0123456789"), lastData(id, "abcde")}
		}, "0123456789", false, false},
		{"no body at all", []string{"10"}, nil, "", false, true},
		{"an empty frame", []string{"10"}, ends(""), "", false, false},
		{"trailers too early", []string{"10"}, func(id frame.StreamID) []any {
			return []any{data(id, "01234"), peer.Headers{Stream: id, EndStream: true, Fields: fields("x-t", "1")}}
		}, "01234", false, false},
		{"all octets and trailers", []string{"10"}, func(id frame.StreamID) []any {
			return []any{data(id, "0123456789"), peer.Headers{Stream: id, EndStream: true, Fields: fields("x-t", "1")}}
		}, "0123456789", true, false},
		{"a list", []string{"10, 10"}, ends("0123456789"), "", false, true},
		{"two that differ", []string{"10", "11"}, ends("0123456789"), "", false, true},
		{"not a number", []string{"ten"}, ends("0123456789"), "", false, true},
		{"signed", []string{"+10"}, ends("0123456789"), "", false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, _ := scripted(t, &h2http.Transport{}, greeted(func(s *peer.Server) {
					s.Ignore = onlyHeaders
					h := s.WantHeaders("the request arrives")
					r := head(h.Stream, "200")
					for _, l := range tt.lines {
						r.Fields = append(r.Fields, frame.Field{Name: "content-length", Value: l})
					}
					r.EndStream = tt.frames == nil
					s.Send(r)
					if tt.frames != nil {
						s.Send(tt.frames(h.Stream)...)
					}
					h = s.WantHeaders("the connection stays and serves the next request")
					s.Send(head(h.Stream, "200"), lastData(h.Stream, "next"))
					untilClosed(s)
				}))
				resp, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
				if (err != nil) != tt.noHead {
					t.Fatalf("RoundTrip: %v", err)
				}
				if err == nil {
					var body []byte
					body, err = io.ReadAll(resp.Body)
					resp.Body.Close()
					if string(body) != tt.body {
						t.Errorf("body %q, want %q", body, tt.body)
					}
				}
				if (err == nil) != tt.ok {
					t.Errorf("error %v, want ok=%v", err, tt.ok)
				}
				if got := get(t, tr, "http://a.example/"); got != "200 OK next" {
					t.Errorf("the next request: %s", got)
				}
			})
		})
	}
}

// Contract: S17.
func TestB34TrailersEndTheBody(t *testing.T) {
	rows.Cover(t, "9113-8.1-12", "9110-6.5.1-1")
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "200", "trailer", "X-Announced, X-Missing"), data(h.Stream, "x"),
				peer.Headers{Stream: h.Stream, EndStream: true, Continuations: 1, Fields: fields(
					"x-announced", "1", "x-surprise", "2", "x-surprise", "3")})
		}))
		resp, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if diff := cmp.Diff(http.Header{"X-Announced": nil, "X-Missing": nil}, resp.Trailer); diff != "" {
			t.Errorf("trailers before the end (-want +got):\n%s", diff)
		}
		if _, ok := resp.Header["Trailer"]; ok {
			t.Error("the announcement is in Header; it belongs to Trailer")
		}
		if body, err := io.ReadAll(resp.Body); string(body) != "x" || err != nil {
			t.Errorf("body %q, error %v", body, err)
		}
		want := http.Header{"X-Announced": {"1"}, "X-Missing": nil, "X-Surprise": {"2", "3"}}
		if diff := cmp.Diff(want, resp.Trailer); diff != "" {
			t.Errorf("trailers after the end (-want +got):\n%s", diff)
		}
	})
}

// Contract: W4.
func TestB34AResponseMayBeAHeadAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(answer(h.Stream, "200", "grpc-status", "0"))
		}))
		resp, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); len(body) != 0 || err != nil || resp.ContentLength != 0 {
			t.Errorf("body %q, error %v, length %d", body, err, resp.ContentLength)
		}
		if resp.Header.Get("Grpc-Status") != "0" {
			t.Errorf("header %v", resp.Header)
		}
		resp.Body.Close()
	})
}

func TestB34PseudoHeaderFieldsInTrailersAreMalformed(t *testing.T) {
	rows.Cover(t, "9113-8.1-4")
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "200"), data(h.Stream, "x"),
				peer.Headers{Stream: h.Stream, EndStream: true, Fields: fields(":status", "200")})
		}))
		got := get(t, tr, "http://a.example/")
		if !strings.HasPrefix(got, "200 OK x stream error: stream ID 1; PROTOCOL_ERROR") {
			t.Error(got)
		}
	})
}

func TestB35MalformedHeadsFailTheirRequestAlone(t *testing.T) {
	rows.Cover(t, "9113-8.1.1-3", "9113-8.1.1-4")
	heads := map[string][]frame.Field{
		"empty":                         nil,
		"no :status":                    fields("x-a", "1"),
		":status that is no number":     fields(":status", "abc"),
		":status with a sign":           fields(":status", "+200"),
		":status with four digits":      fields(":status", "0200"),
		":status twice":                 fields(":status", "200", ":status", "200"),
		":status after a regular field": fields("x-a", "1", ":status", "200"),
		":path in a response":           fields(":status", "200", ":path", "/"),
		"a name in upper case":          fields(":status", "200", "X-Upper", "1"),
		"a value with CR":               fields(":status", "200", "x-a", "a\rb"),
		"a value with LF":               fields(":status", "200", "x-a", "a\nb"),
		"a value with NUL":              fields(":status", "200", "x-a", "a\x00b"),
		"connection":                    fields(":status", "200", "connection", "close"),
		"transfer-encoding":             fields(":status", "200", "transfer-encoding", "chunked"),
	}
	for name, list := range heads {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, _ := scripted(t, &h2http.Transport{}, greeted(func(s *peer.Server) {
					s.WantHeaders("the first request arrives")
					s.Send(head(1, "200", "x-indexed", "as ever"))
					s.WantHeaders("the second request arrives")
					s.Send(peer.Headers{Stream: 3, EndStream: true, Fields: list})
					s.Want("a malformed head resets its stream", frame.RSTStream{Stream: 3, Code: frame.ProtocolError})
					s.Send(data(1, "still "),
						peer.Headers{Stream: 1, EndStream: true, Fields: fields("x-indexed", "as ever")})
					untilClosed(s)
				}))
				resp, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/1", nil))
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				_, err = tr.RoundTrip(newRequest(t, "GET", "http://a.example/3", nil))
				var serr *h2flow.StreamError
				if !errors.As(err, &serr) || serr.Code != frame.ProtocolError || serr.Remote {
					t.Errorf("error %v, want our own PROTOCOL_ERROR on stream 3", err)
				}
				body, err := io.ReadAll(resp.Body)
				if string(body) != "still " || err != nil || resp.Trailer.Get("X-Indexed") != "as ever" {
					t.Errorf("the other stream: %q, %v, trailers %v", body, err, resp.Trailer)
				}
			})
		})
	}
}

// Contract: S20.
func TestATruncatedBodyIsNeverAnEOF(t *testing.T) {
	rows.Cover(t, "9113-8.1-13", "9110-6.1-1")
	ends := map[string]func(s *peer.Server, id frame.StreamID){
		"reset": func(s *peer.Server, id frame.StreamID) {
			s.Send(frame.RSTStream{Stream: id, Code: frame.InternalError})
		},
		"goaway": func(s *peer.Server, id frame.StreamID) {
			s.Send(frame.GoAway{LastStream: id, Code: frame.InternalError})
			s.Conn().Close()
		},
		"close": func(s *peer.Server, id frame.StreamID) { s.Conn().Close() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, _ := scripted(t, &h2http.Transport{}, greeted(func(s *peer.Server) {
					h := s.WantHeaders("the request arrives")
					s.Send(head(h.Stream, "200"), data(h.Stream, "half"))
					end(s, h.Stream)
				}))
				resp, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				if string(body) != "half" || err == nil {
					t.Errorf("body %q, error %v", body, err)
				}
				if _, again := resp.Body.Read(make([]byte, 1)); again != err {
					t.Errorf("the next Read says %v, want %v again", again, err)
				}
			})
		})
	}
}
