package h2http_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
	"github.com/google/go-cmp/cmp"
)

// sentFields is what a request looks like on the wire, as "name: value", sorted by name.
func sentFields(t *testing.T, tr *h2http.Transport, req *http.Request) []string {
	t.Helper()
	var lines []string
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, tr, oneExchange(func(s *peer.Server, h peer.Headers) {
			for _, f := range h.Fields {
				lines = append(lines, f.Name+": "+f.Value)
			}
			if !h.EndStream {
				s.Body(h.Stream)
			}
			s.Send(answer(h.Stream, "200"))
		}))
		if got := exchange(tr, req.WithContext(t.Context())); got != "200 OK" {
			t.Error(got)
		}
	})
	slices.SortStableFunc(lines, func(a, b string) int {
		return strings.Compare(a[:strings.LastIndex(a, ": ")], b[:strings.LastIndex(b, ": ")])
	})
	return lines
}

// Habits of HTTP/1 do not reach the wire.
//
// Contract: R1, R5a, R6c, R7a, R8, R11a.
func TestB36FieldsOfHTTP1ConnectionsNeverReachTheWire(t *testing.T) {
	rows.Cover(t, "9113-8.2.2-1", "9113-8.2.2-3", "9113-8.2-1", "9113-8.2.3-1", "9113-8.3.1-2", "9113-8.3.1-3",
		"9113-8.3.1-4", "9113-8.3.1-5", "9113-8.3.1-6", "9113-8.3.1-7", "9113-8.1-10", "9110-4.2.4-1", "9110-7.2-1",
		"9110-8.6-1", "9110-8.6-2", "9110-5.3-1", "9110-10.1.1-1")
	basic := []string{":authority: a.example", ":method: GET", ":path: /", ":scheme: http", "accept-encoding: gzip"}
	agent := "user-agent: h2flow/1"
	plain := append(slices.Clone(basic), agent)
	tests := []struct {
		name   string
		change func(r *http.Request)
		want   []string
	}{
		{"nothing special", func(*http.Request) {}, plain},
		{"empty method", func(r *http.Request) { r.Method = "" }, plain},
		{"connection fields that mean nothing", func(r *http.Request) {
			r.Header = http.Header{
				"Connection": {"keep-alive"}, "Keep-Alive": {"timeout=5"}, "Proxy-Connection": {"keep-alive"},
				"Transfer-Encoding": {"chunked"}, "Http2-Settings": {"AAMAAABk"}, "Content-Length": {"99"},
			}
		}, plain},
		{"Connection: close", func(r *http.Request) { r.Header.Set("Connection", "close") }, plain},
		{"Host differs from the URL", func(r *http.Request) {
			r.Host = "B.example:8080"
			r.Header["Host"] = []string{"c.example"}
		}, append([]string{":authority: B.example:8080"}, append(slices.Clone(basic[1:]), agent)...)},
		{"Host with a zone", func(r *http.Request) { r.Host = "[fe80::1%eth0]:80" },
			append([]string{":authority: [fe80::1]:80"}, plain[1:]...)},
		{"Host with a colon and no port", func(r *http.Request) { r.Host = "a.example:" }, plain},
		{"userinfo", func(r *http.Request) { r.URL.User = url.UserPassword("me", "secret") }, plain},
		{"TE", func(r *http.Request) { r.Header["Te"] = []string{"gzip, Trailers;q=1", "trailers"} },
			append(slices.Clone(basic), "te: trailers", agent)},
		{"TE without trailers", func(r *http.Request) { r.Header["Te"] = []string{"gzip"} }, plain},
		{"cookies", func(r *http.Request) { r.Header["Cookie"] = []string{"a=1; b=2", "c=3;"} },
			append(slices.Clone(basic), "cookie: a=1", "cookie: b=2", "cookie: c=3", agent)},
		{"names in mixed case, spaces around values",
			func(r *http.Request) { r.Header["x-MIXED"] = []string{" v\t", "w"} },
			append(slices.Clone(basic), agent, "x-mixed: v", "x-mixed: w")},
		{"own agent and encoding, whatever the spelling", func(r *http.Request) {
			r.Header["user-agent"] = []string{"me", "ignored"}
			r.Header["accept-encoding"] = []string{"br"}
		}, append(slices.Clone(basic[:4]), "accept-encoding: br", "user-agent: me")},
		{"no agent", func(r *http.Request) { r.Header["User-Agent"] = []string{""} }, basic},
		{"a range is not compressed", func(r *http.Request) { r.Header.Set("Range", "bytes=0-1") },
			append(slices.Clone(basic[:4]), "range: bytes=0-1", agent)},
		{"path and query", func(r *http.Request) { r.URL.Path, r.URL.RawQuery = "/a b/ü", "q=1&r=%20" },
			append(append(slices.Clone(basic[:2]), ":path: /a%20b/%C3%BC?q=1&r=%20"),
				append(slices.Clone(basic[3:]), agent)...)},
		{"no path", func(r *http.Request) { r.URL.Path, r.URL.RawQuery = "", "x" },
			append(append(slices.Clone(basic[:2]), ":path: /?x"), append(slices.Clone(basic[3:]), agent)...)},
		{"a fragment", func(r *http.Request) { r.URL.Fragment = "part" }, plain},
		{"a length of one's own", func(r *http.Request) {
			r.Method, r.Body, r.ContentLength = "PUT", io.NopCloser(strings.NewReader("abc")), 3
			r.Header["Content-Length"] = []string{"3", "4"}
		}, []string{basic[0], ":method: PUT", basic[2], basic[3], basic[4], "content-length: 3", agent}},
		{"an expectation without a body", func(r *http.Request) { r.Header.Set("Expect", "100-continue") }, plain},
		{"asterisk", func(r *http.Request) { r.Method, r.URL.Path = "OPTIONS", "*" },
			[]string{basic[0], ":method: OPTIONS", ":path: *", basic[3], basic[4], agent}},
		{"POST without a body", func(r *http.Request) { r.Method = "POST" },
			[]string{basic[0], ":method: POST", basic[2], basic[3], basic[4], "content-length: 0", agent}},
		{"a body of known length", func(r *http.Request) {
			r.Method, r.Body, r.ContentLength = "PUT", io.NopCloser(strings.NewReader("abc")), 3
		}, []string{basic[0], ":method: PUT", basic[2], basic[3], basic[4], "content-length: 3", agent}},
		{"a body of unknown length", func(r *http.Request) {
			r.Method, r.Body, r.ContentLength = "PUT", io.NopCloser(strings.NewReader("abc")), 0
		}, []string{basic[0], ":method: PUT", basic[2], basic[3], basic[4], agent}},
		{"trailers are announced", func(r *http.Request) { r.Trailer = http.Header{"X-B": nil, "X-A": nil} },
			append(slices.Clone(basic), "trailer: x-a,x-b", agent)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest("GET", "http://a.example/", nil)
			if err != nil {
				t.Fatal(err)
			}
			tt.change(req)
			before := req.Clone(context.Background())
			got := sentFields(t, &h2http.Transport{}, req)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("on the wire (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before.Header, req.Header); diff != "" || before.Method != req.Method {
				t.Errorf("RoundTrip changed the request (-before +after):\n%s", diff)
			}
		})
	}
}

func TestSecretsStayOutOfTheCompressionTable(t *testing.T) {
	rows.Cover(t, "9113-10.6-1", "7541-7.1.3-1")
	bubble(t, func(t *testing.T) {
		long := "session=" + strings.Repeat("x", 20)
		want := map[string]bool{"authorization Bearer x": true, "proxy-authorization Basic x": true, "cookie a=1": true,
			"cookie " + long: false, "x-plain v": false}
		got := map[string]bool{}
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			for _, f := range h.Fields {
				if _, ok := want[f.Name+" "+f.Value]; ok {
					got[f.Name+" "+f.Value] = f.Sensitive
				}
			}
			s.Send(answer(h.Stream, "200"))
		}))
		req := newRequest(t, "GET", "http://a.example/", nil)
		req.Header = http.Header{"Authorization": {"Bearer x"}, "Proxy-Authorization": {"Basic x"},
			"Cookie": {"a=1; " + long}, "X-Plain": {"v"}}
		if answer := exchange(tr, req); answer != "200 OK" {
			t.Error(answer)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("never indexed (-want +got):\n%s", diff)
		}
	})
}

// What is wrong with a request is found before a connection is made, and its body is closed.
//
// Contract: R2, R4, R6b.
func TestB36InvalidRequestsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	rows.Cover(t, "9113-8.2.1-6", "9113-8.2.2-1", "9113-10.3-1", "9110-9.1-1", "9110-6.5.1-2", "9110-9.3.6-1",
		"9110-9.3.8-1")
	tests := []struct {
		name   string
		change func(r *http.Request)
		want   string // in the error
	}{
		{"no URL", func(r *http.Request) { r.URL = nil }, "no URL"},
		{"no Header", func(r *http.Request) { r.Header = nil }, "no Header"},
		{"no host", func(r *http.Request) { r.URL.Host, r.Host = "", "" }, "no host"},
		{"unknown scheme", func(r *http.Request) { r.URL.Scheme = "ftp" }, `scheme "ftp"`},
		{"method with a space", func(r *http.Request) { r.Method = "GET /" }, `method "GET /"`},
		{"host outside ASCII with a bad label", func(r *http.Request) { r.Host = "xn--a\u00fc!.xn--\xff" }, "host"},
		{"host outside ASCII with a line end", func(r *http.Request) { r.Host = "bücher.example\r\nx: y" }, "host"},
		{"host with a path", func(r *http.Request) { r.Host = "a.example/x" }, "host"},
		{"host with userinfo", func(r *http.Request) { r.Host = "me@a.example" }, "host"},
		{"host with a line end", func(r *http.Request) { r.Host = "a.example\r\nx: y" }, "host"},
		{"query with a line end", func(r *http.Request) { r.URL.RawQuery = "a\r\nb" }, "query"},
		{"query with a space", func(r *http.Request) { r.URL.RawQuery = "a b" }, "query"},
		{"opaque path", func(r *http.Request) { r.URL.Opaque = "mailto" }, "path"},
		{"field name with a space", func(r *http.Request) { r.Header["X Y"] = []string{"1"} }, `"X Y"`},
		{"empty field name", func(r *http.Request) { r.Header[""] = []string{"1"} }, `""`},
		{"pseudo-header field", func(r *http.Request) { r.Header[":path"] = []string{"/"} }, `":path"`},
		{"field name outside ASCII", func(r *http.Request) { r.Header["X-Ü"] = []string{"1"} }, "X-Ü"},
		{"value with CR LF", func(r *http.Request) { r.Header["X"] = []string{"1\r\nY: 2"} }, "value of field x"},
		{"value with NUL", func(r *http.Request) { r.Header["X"] = []string{"ok", "1\x00"} }, "value of field x"},
		{"value of a field that is dropped", func(r *http.Request) { r.Header["Host"] = []string{"a\n"} },
			"value of field host"},
		{"Upgrade", func(r *http.Request) { r.Header["Upgrade"] = []string{"websocket"} }, "upgrade"},
		{"Connection names a field", func(r *http.Request) {
			r.Header["Connection"] = []string{"keep-alive, X"}
			r.Header["X"] = []string{"1"}
		}, "connection"},
		{"Transfer-Encoding", func(r *http.Request) { r.Header["Transfer-Encoding"] = []string{"gzip, chunked"} },
			"transfer-encoding"},
		{"trailer name", func(r *http.Request) { r.Trailer = http.Header{"X Y": nil} }, "trailer"},
		{"trailer that frames the message", func(r *http.Request) { r.Trailer = http.Header{"Content-Length": nil} },
			"trailer"},
		{"TRACE with a body", func(r *http.Request) { r.Method = "TRACE" }, "TRACE"},
		{"CONNECT without a port", func(r *http.Request) { r.Method, r.Host = "CONNECT", "a.example" }, "no port"},
		{"CONNECT to an address without a port", func(r *http.Request) { r.Method, r.Host = "CONNECT", "[::1]" }, "no port"},
		{"length without a body", func(r *http.Request) { r.Body, r.ContentLength = nil, 3 }, "without a Body"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := &h2http.Transport{AllowHTTP: true,
				DialContext: func(context.Context, string, string) (net.Conn, error) {
					t.Error("a connection is made")
					return nil, errors.New("no")
				}}
			body := watch("body")
			req := newRequest(t, "POST", "http://a.example/", body)
			tt.change(req)
			resp, err := tr.RoundTrip(req)
			var rerr *h2http.RequestError
			if resp != nil || !errors.As(err, &rerr) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("response %v, error %v; want a *RequestError with %q", resp, err, tt.want)
			}
			if req.Body != nil {
				body.wantClosedOnce(t)
			}
		})
	}
}

func TestCleartextIsSpokenOnlyWhenAskedFor(t *testing.T) {
	tr := &h2http.Transport{}
	_, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
	if err == nil || !strings.Contains(err.Error(), "AllowHTTP") {
		t.Errorf("error %v, want one that names AllowHTTP", err)
	}
}

// Contract: R6a.
func TestConnectionCloseIsTheLastRequestOfItsConnection(t *testing.T) {
	changes := map[string]func(r *http.Request){
		"Request.Close":     func(r *http.Request) { r.Close = true },
		"Connection: close": func(r *http.Request) { r.Header.Set("Connection", "close") },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				once := greeted(func(s *peer.Server) {
					h := s.WantHeaders("the request arrives")
					s.Send(answer(h.Stream, "200"))
					s.Ignore = besides[frame.GoAway]
					s.WantClose("the connection is closed after its last request")
				})
				tr, n := scripted(t, &h2http.Transport{}, once, greeted(func(s *peer.Server) {
					h := s.WantHeaders("the next request arrives on another connection")
					s.Send(answer(h.Stream, "200"))
					untilClosed(s)
				}))
				req := newRequest(t, "GET", "http://a.example/", nil)
				change(req)
				if got := exchange(tr, req); got != "200 OK" {
					t.Error(got)
				}
				if got := get(t, tr, "http://a.example/"); got != "200 OK" || n.dialed() != 2 {
					t.Errorf("%s, %d connections", got, n.dialed())
				}
			})
		})
	}
}
