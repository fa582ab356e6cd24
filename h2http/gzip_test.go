package h2http_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"testing"

	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"github.com/google/go-cmp/cmp"
)

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

// Compression is undone only where the Transport itself asked for it.
//
// Contract: R11b.
func TestGzipIsTransparentOnlyIfWeAskedForIt(t *testing.T) {
	const text = "as plain as can be"
	packed := gzipped(text)
	type view struct {
		Asked        string
		Body         string
		Encoding     string
		Length       int64
		Uncompressed bool
		Trailer      string
	}
	plain := view{Body: packed, Encoding: "gzip", Length: int64(len(packed)), Trailer: "t"}
	tests := []struct {
		name   string
		tr     *h2http.Transport
		change func(r *http.Request)
		want   view
	}{
		{"by default", &h2http.Transport{}, func(*http.Request) {}, view{"gzip", text, "", -1, true, "t"}},
		{"disabled", &h2http.Transport{DisableCompression: true}, func(*http.Request) {},
			with(plain, func(v *view) { v.Asked = "(none)" })},
		{"asked for by the caller", &h2http.Transport{},
			func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip") },
			with(plain, func(v *view) { v.Asked = "gzip" })},
		{"a range", &h2http.Transport{}, func(r *http.Request) { r.Header.Set("Range", "bytes=0-9") },
			with(plain, func(v *view) { v.Asked = "(none)" })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var got view
				tr, _ := scripted(t, tt.tr, oneExchange(func(s *peer.Server, h peer.Headers) {
					got.Asked = value(h, "accept-encoding")
					r := head(h.Stream, "200", "content-encoding", "gzip")
					r.Fields = append(r.Fields, frame.Field{Name: "content-length", Value: strconv.Itoa(len(packed))})
					s.Send(r, data(h.Stream, packed[:5]), data(h.Stream, packed[5:]),
						peer.Headers{Stream: h.Stream, EndStream: true, Fields: fields("x-t", "t")})
				}))
				req := newRequest(t, "GET", "http://a.example/", nil)
				tt.change(req)
				resp, err := tr.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				if err != nil {
					t.Error(err)
				}
				got.Body, got.Length = string(body), resp.ContentLength
				got.Encoding = resp.Header.Get("Content-Encoding")
				got.Uncompressed, got.Trailer = resp.Uncompressed, resp.Trailer.Get("X-T")
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if _, ok := resp.Header["Content-Length"]; ok == resp.Uncompressed {
					t.Errorf("Content-Length in %v, uncompressed: %v", resp.Header, resp.Uncompressed)
				}
			})
		})
	}
}

func with[T any](v T, change func(*T)) T {
	change(&v)
	return v
}

func TestATruncatedOrBrokenGzipBodyIsAnError(t *testing.T) {
	packed := gzipped("as plain as can be")
	for name, body := range map[string]string{
		"truncated":         packed[:len(packed)-9],
		"cut in the header": packed[:5],
		"no gzip":           "as plain as can be",
		"wrong sum":         packed[:len(packed)-8] + "XXXXXXXX",
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
					s.Send(head(h.Stream, "200", "content-encoding", "gzip"), lastData(h.Stream, body))
				}))
				resp, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				if got, err := io.ReadAll(resp.Body); err == nil {
					t.Errorf("%q and no error", got)
				}
			})
		})
	}
}

// Servers leave the name of the coding on answers that have nothing to code.
func TestAnEmptyBodyIsNoBrokenGzip(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "200", "content-encoding", "gzip"), lastData(h.Stream, ""))
		}))
		if got := get(t, tr, "http://a.example/"); got != "200 OK" {
			t.Error(got)
		}
	})
}
