package h2http_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
)

// impatient does a GET that waits for a second.
func impatient(t *testing.T, tr *h2http.Transport) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	resp, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil).WithContext(ctx))
	if err == nil {
		resp.Body.Close()
	}
	return err
}

// After a request has timed out in silence, no other is put on that connection.
func TestB41ADeadConnectionLeavesThePool(t *testing.T) {
	rows.Cover(t, "9113-9.1-2")
	for name, conns := range map[string]int{"any number of connections": 0, "one connection at most": 1} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				pings := 0
				tr, n := scripted(t, &h2http.Transport{MaxConnsPerHost: conns}, greeted(func(s *peer.Server) {
					h := s.WantHeaders("a good exchange")
					s.Send(answer(h.Stream, "200"))
					s.NoPong, s.Timeout = true, time.Hour
					defer func() { recover() }() // the client closes
					for {
						if p, ok := s.Read().(frame.Ping); ok && !p.Ack {
							pings++
						}
					}
				}), greeted(serve))
				if err := impatient(t, tr); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				if err := impatient(t, tr); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("error %v", err)
				}
				for range 2 {
					if err := impatient(t, tr); err != nil {
						t.Errorf("a later request: %v", err)
					}
				}
				if n.dialed() != 2 {
					t.Errorf("%d connections, want 2", n.dialed())
				}
				time.Sleep(20 * time.Second)
				if err := <-n.results[0]; err != nil || pings != 1 {
					t.Errorf("the dead connection: %v, %d PINGs, want 1", err, pings)
				}
				n.results = n.results[1:]
			})
		})
	}
}

// A server that is alive but slow keeps its connection, and is not asked for a sign of life by every request.
func TestB43ASlowServerIsNotPingedForEveryTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		pings := 0
		tr, n := scripted(t, &h2http.Transport{}, greeted(func(s *peer.Server) {
			s.NoPong, s.Timeout = true, time.Hour
			defer func() { recover() }() // the client closes
			for {
				if p, ok := s.Read().(frame.Ping); ok && !p.Ack {
					pings++
					s.Send(frame.Ping{Ack: true, Data: p.Data})
				}
			}
		}))
		for range 9 {
			if err := impatient(t, tr); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			time.Sleep(time.Millisecond)
		}
		if n.dialed() != 1 || pings != 1 {
			t.Errorf("%d connections and %d PINGs for 9 timeouts, want 1 and 1", n.dialed(), pings)
		}
	})
}

// A caller that loses interest says nothing about the server.
func TestB43CancelledRequestsCauseNoPing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, n := scripted(t, &h2http.Transport{}, greeted(func(s *peer.Server) {
			s.NoPong, s.Timeout = true, time.Hour
			defer func() { recover() }() // the client closes
			for {
				if p, ok := s.Read().(frame.Ping); ok {
					t.Errorf("%v", p)
				}
			}
		}))
		for range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(10*time.Millisecond, cancel)
			_, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil).WithContext(ctx))
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		}
		if n.dialed() != 1 {
			t.Errorf("%d connections, want 1", n.dialed())
		}
	})
}
