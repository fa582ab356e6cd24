package h2http_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"github.com/google/go-cmp/cmp"
)

// oneExchange serves one request by script, and then lets the client close.
func oneExchange(script func(s *peer.Server, h peer.Headers)) func(*peer.Server) {
	return greeted(func(s *peer.Server) {
		script(s, s.WantHeaders("the request arrives"))
		untilClosed(s)
	})
}

func TestB32InterimResponsesReachTheTraceAndTheFinalOneTheCaller(t *testing.T) {
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

func TestB32InterimResponsesAreBoundedAndWellFormed(t *testing.T) {
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

func TestB32ExpectContinueWaitsForTheServersWord(t *testing.T) {
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

// The length that is declared is checked, wherever the end of the stream is said.
func TestB33ContentLengthThatDisagreesWithTheBodyIsAnError(t *testing.T) {
	tests := []struct {
		name   string
		lines  []string
		frames func(id frame.StreamID) []any
		body   string
		ok     bool
		noHead bool
	}{
		{"too few octets", []string{"10"}, func(id frame.StreamID) []any { return []any{lastData(id, "01234")} }, "01234", false, false},
		{"too many octets", []string{"10"}, func(id frame.StreamID) []any { return []any{lastData(id, "0123456789abcde")} }, "0123456789", false, false},
		{"too many octets in a second frame", []string{"10"}, func(id frame.StreamID) []any {
			return []any{data(id, "0123456789"), lastData(id, "abcde")}
		}, "0123456789", false, false},
		{"no body at all", []string{"10"}, nil, "", false, true},
		{"an empty frame", []string{"10"}, func(id frame.StreamID) []any { return []any{lastData(id, "")} }, "", false, false},
		{"trailers too early", []string{"10"}, func(id frame.StreamID) []any {
			return []any{data(id, "01234"), peer.Headers{Stream: id, EndStream: true, Fields: fields("x-t", "1")}}
		}, "01234", false, false},
		{"all octets and trailers", []string{"10"}, func(id frame.StreamID) []any {
			return []any{data(id, "0123456789"), peer.Headers{Stream: id, EndStream: true, Fields: fields("x-t", "1")}}
		}, "0123456789", true, false},
		{"a list", []string{"10, 10"}, func(id frame.StreamID) []any { return []any{lastData(id, "0123456789")} }, "", false, true},
		{"two that differ", []string{"10", "11"}, func(id frame.StreamID) []any { return []any{lastData(id, "0123456789")} }, "", false, true},
		{"not a number", []string{"ten"}, func(id frame.StreamID) []any { return []any{lastData(id, "0123456789")} }, "", false, true},
		{"signed", []string{"+10"}, func(id frame.StreamID) []any { return []any{lastData(id, "0123456789")} }, "", false, true},
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

func TestB34TrailersEndTheBody(t *testing.T) {
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
					s.Send(data(1, "still "), peer.Headers{Stream: 1, EndStream: true, Fields: fields("x-indexed", "as ever")})
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

// The whole of a response, as callers of net/http know it.
func TestResponseIsFilledIn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "299", "content-length", "2", "set-cookie", "a=1", "set-cookie", "b=2", "x-odd-NAME"[:5], "v"),
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
		got := view{resp.Status, resp.StatusCode, resp.Proto, resp.ProtoMajor, resp.ProtoMinor, resp.Header, resp.ContentLength, resp.Request == req}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestResponsesWithoutContent(t *testing.T) {
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

func TestATruncatedBodyIsNeverAnEOF(t *testing.T) {
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
