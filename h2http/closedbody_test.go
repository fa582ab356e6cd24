package h2http_test

import (
	"errors"
	"io"
	"testing"

	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
)

// TestReadAfterCloseIsAnError, also where the body had been read to its end before: io.EOF would say that all is well.
//
// Contract: S20.
func TestReadAfterCloseIsAnError(t *testing.T) {
	for _, toTheEnd := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
				s.Send(head(h.Stream, "200"), lastData(h.Stream, "body"))
			}))
			resp, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
			if err != nil {
				t.Fatal(err)
			}
			if toTheEnd {
				if _, err := io.ReadAll(resp.Body); err != nil {
					t.Fatal(err)
				}
			}
			resp.Body.Close()
			if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, h2http.ErrBodyClosed) {
				t.Errorf("read to the end: %v: Read gives %d, %v", toTheEnd, n, err)
			}
			if n, err := io.Copy(io.Discard, resp.Body); n != 0 || !errors.Is(err, h2http.ErrBodyClosed) {
				t.Errorf("read to the end: %v: WriteTo gives %d, %v", toTheEnd, n, err)
			}
		})
	}
}
