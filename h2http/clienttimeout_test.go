package h2http_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
)

// TestClientTimeoutIsADeadline: an http.Client with a Timeout ends the context and closes Request.Cancel in the same
// instant, in either order. The error is the deadline's, never one about a channel that the caller knows nothing of.
//
// Contract: E23b.
func TestClientTimeoutIsADeadline(t *testing.T) {
	for range 50 {
		bubble(t, func(t *testing.T) {
			tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
				s.Want("the stream is cancelled", frame.RSTStream{Stream: h.Stream, Code: frame.Cancel})
			}))
			_, err := (&http.Client{Transport: tr, Timeout: time.Second}).Get("http://a.example/")
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
				strings.Contains(err.Error(), "Request.Cancel") {
				t.Fatalf("error %v", err)
			}
		})
	}
}
