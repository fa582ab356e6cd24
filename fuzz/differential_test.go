package fuzz

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/hostile"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/pipe"
)

// answerOf is the answer of a correct server to a GET on stream 1, as choose decides it. What net/http and this client
// are known to treat differently is left out: content of 204 and 304, which net/http accepts, trailers that the head does
// not announce under names that net/http drops, and more than 1,000 PINGs at once, which this client ends as a flood.
func answerOf(choose hostile.Chooser) []any {
	var items []any
	section := func(end bool, pairs ...string) {
		h := peer.Headers{Stream: 1, EndStream: end, Continuations: choose.IntN(4)}
		for i := 0; i < len(pairs); i += 2 {
			h.Fields = append(h.Fields, frame.Field{Name: pairs[i], Value: pairs[i+1]})
		}
		items = append(items, h)
	}
	for range choose.IntN(3) {
		section(false, ":status", "103", "link", "</a>")
	}
	body := strings.Repeat("0123456789", choose.IntN(500))
	head := []string{":status", []string{"200", "201", "404", "500", "299", "418"}[choose.IntN(6)]}
	for i := range choose.IntN(5) {
		head = append(head, fmt.Sprintf("x-%d", choose.IntN(3)), strings.Repeat("v", choose.IntN(30)+i))
	}
	if choose.IntN(2) == 0 {
		head = append(head, "content-length", fmt.Sprint(len(body)))
	}
	trailers := choose.IntN(3) == 0
	section(body == "" && !trailers, head...)
	for body != "" {
		n := min(len(body), 1+choose.IntN(2000))
		d := frame.Data{Stream: 1, Data: []byte(body[:n]), EndStream: n == len(body) && !trailers}
		if choose.IntN(3) == 0 {
			d.Padded, d.PadLength = true, uint8(choose.IntN(200))
		}
		body = body[n:]
		if items = append(items, d); len(items) < 1000 {
			items = append(items, frame.Ping{})
		}
	}
	if trailers {
		section(true, "x-trailer", "t", "x-other", strings.Repeat("u", choose.IntN(50)))
	}
	return items
}

// outcome is what a caller of a round tripper sees.
func outcome(rt http.RoundTripper) string {
	req, err := http.NewRequest("GET", "http://a.example/", nil)
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return "error " + err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	lines := []string{fmt.Sprint(resp.StatusCode, resp.Proto, resp.ContentLength, len(body), err), string(body)}
	for kind, h := range map[string]http.Header{"header": resp.Header, "trailer": resp.Trailer} {
		for key, values := range h {
			lines = append(lines, fmt.Sprintf("%s %s %q", kind, key, values))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// served makes a dialer whose one connection answers the one request by items.
func served(t *testing.T, items []any) (dial func(context.Context, string, string) (net.Conn, error), done func()) {
	t.Helper()
	client, server := pipe.New(pipe.Link{}) // net/http stops reading while it cannot write
	result := peer.Serve(server, peer.HPACK, func(s *peer.Server) {
		s.Greet()
		s.Ignore = func(v fmt.Stringer) bool { _, ok := v.(peer.Headers); return !ok }
		s.WantHeaders("the request arrives")
		s.Send(items...)
		_, _ = io.Copy(io.Discard, s.Conn()) // until the client closes
	})
	used := false
	return func(context.Context, string, string) (net.Conn, error) {
			if used {
				return nil, errors.New("one connection is enough")
			}
			used = true
			return client, nil
		}, func() {
			client.Close()
			if err := <-result; err != nil {
				t.Errorf("the server: %v", err)
			}
		}
}

// FuzzDifferential: what a correct server answers is the same for the callers of net/http and of this client.
func FuzzDifferential(f *testing.F) {
	for seed := range 12 {
		octets := make([]byte, 60)
		choose := hostile.Seed(uint64(seed))
		for i := range octets {
			octets[i] = byte(choose.IntN(256))
		}
		f.Add(octets)
	}
	f.Fuzz(func(t *testing.T, octets []byte) {
		items := answerOf(hostile.Octets(octets))
		dial, done := served(t, items)
		ours := &h2http.Transport{AllowHTTP: true, DialContext: dial}
		got := outcome(ours)
		ours.CloseIdleConnections()
		done()

		dial, done = served(t, items)
		theirs := &http.Transport{DialContext: dial, Protocols: new(http.Protocols)}
		theirs.Protocols.SetUnencryptedHTTP2(true)
		want := outcome(theirs)
		theirs.CloseIdleConnections()
		done()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v\n(-net/http +h2flow)\n%s", items, diff)
		}
	})
}
