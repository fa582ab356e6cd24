package h2http_test

import (
	"io"
	"net/http"
	"net/url"
	"testing"

	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
	"github.com/google/go-cmp/cmp"
)

// connect is a request for a tunnel to target through a proxy.
func connect(t *testing.T, target string, body io.Reader) *http.Request {
	t.Helper()
	req := newRequest(t, http.MethodConnect, "http://proxy.example/", body)
	req.URL = &url.URL{Scheme: "http", Host: "proxy.example"}
	req.Host = target
	return req
}

// Contract: R5c.
func TestB58ConnectMakesATunnel(t *testing.T) {
	rows.Cover(t, "9113-8.5-1", "9113-8.5-2", "9110-9.3.6-2", "9110-9.3.6-3")
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			want := fields(":method", "CONNECT", ":authority", "example.org:443", "user-agent", "h2flow/1")
			if diff := cmp.Diff(want, h.Fields); diff != "" {
				s.Fail("the head of CONNECT (-want +got):\n%s", diff)
			}
			s.Send(head(h.Stream, "200", "content-length", "3"))
			s.Want("octets go up", data(h.Stream, "hello"))
			s.Send(data(h.Stream, "more than three"))
			s.Want("the client ends its side", lastData(h.Stream, ""))
			s.Send(lastData(h.Stream, "!"))
		}))
		r, w := io.Pipe()
		resp, err := tr.RoundTrip(connect(t, "example.org:443", r))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.ContentLength != -1 {
			t.Errorf("a tunnel has a length of %d", resp.ContentLength)
		}
		if _, err := io.WriteString(w, "hello"); err != nil {
			t.Error(err)
		}
		buf := make([]byte, 100)
		if n, err := resp.Body.Read(buf); string(buf[:n]) != "more than three" || err != nil {
			t.Errorf("%q, %v", buf[:n], err)
		}
		w.Close()
		if rest, err := io.ReadAll(resp.Body); string(rest) != "!" || err != nil {
			t.Errorf("%q, %v", rest, err)
		}
	})
}

func TestB58AnEndOfTheTunnelsTargetIsAnError(t *testing.T) {
	rows.Cover(t, "9113-8.5-6")
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "200"), frame.RSTStream{Stream: h.Stream, Code: frame.ConnectError})
		}))
		r, w := io.Pipe()
		defer w.Close()
		resp, err := tr.RoundTrip(connect(t, "example.org:443", r))
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if codeOf(err) != frame.ConnectError {
			t.Errorf("error %v, want CONNECT_ERROR", err)
		}
	})
}

func TestB58ARefusedTunnelIsAnOrdinaryResponse(t *testing.T) {
	rows.Cover(t, "9110-9.3.6-3")
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "407", "content-length", "4"), lastData(h.Stream, "auth"))
		}))
		r, w := io.Pipe()
		defer w.Close()
		if got := exchange(tr, connect(t, "example.org:443", r)); got != "407 Proxy Authentication Required auth" {
			t.Error(got)
		}
	})
}
