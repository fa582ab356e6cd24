package h2http_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
)

// TestClientConnCountsItsPlaces: Reserve takes one, RoundTrip or Release gives it back, and who has none waits.
//
// Contract: N3.
func TestClientConnCountsItsPlaces(t *testing.T) {
	bubble(t, func(t *testing.T) {
		goOn := make(chan struct{})
		tr, _ := scripted(t, &h2http.Transport{}, greeted(func(s *peer.Server) {
			for range 3 {
				h := s.WantHeaders("a request")
				<-goOn
				s.Send(answer(h.Stream, "200", "x-path", value(h, ":path")))
			}
			s.Send(frame.GoAway{LastStream: 5})
			untilClosed(s)
		}, frame.Setting{ID: frame.SettingMaxConcurrentStreams, Value: 2}))
		c, err := tr.NewClientConn(t.Context(), "http", "a.example:80")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		want := func(when string, available, inFlight int) {
			t.Helper()
			synctest.Wait()
			if a, i := c.Available(), c.InFlight(); a != available || i != inFlight {
				t.Errorf("%s: %d available and %d in flight, want %d and %d", when, a, i, available, inFlight)
			}
		}
		want("at the beginning", 2, 0)
		if err := errors.Join(c.Reserve(), c.Reserve()); err != nil {
			t.Error(err)
		}
		want("two reserved", 0, 2)
		if err := c.Reserve(); !errors.Is(err, h2http.ErrNoSlot) {
			t.Errorf("a third place: %v", err)
		}
		results := make(chan string, 10)
		for _, path := range []string{"/1", "/2"} { // they have the two places
			go func() { results <- path + " " + get(t, c, "http://a.example"+path) }()
			synctest.Wait()
		}
		want("both used", 0, 2)
		go func() { results <- "/3 " + get(t, c, "http://a.example/3") }() // it has none, and waits
		synctest.Wait()
		for range 3 {
			goOn <- struct{}{}
			synctest.Wait()
		}
		got := map[string]bool{<-results: true, <-results: true, <-results: true}
		for _, w := range []string{"/1 200 OK", "/2 200 OK", "/3 200 OK"} {
			if !got[w] {
				t.Errorf("%v, want %s", got, w)
			}
		}
		want("after GOAWAY", 0, 0)
		if err := c.Reserve(); !errors.Is(err, h2flow.ErrConnClosed) || c.Err() == nil {
			t.Errorf("Reserve: %v, Err: %v", err, c.Err())
		}
	})
}

// TestARequestThatWaitsGetsAReleasedPlace.
//
// Contract: N3.
func TestARequestThatWaitsGetsAReleasedPlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, greeted(serve, oneStream))
		c, err := tr.NewClientConn(t.Context(), "http", "a.example:80")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		synctest.Wait()
		if err := c.Reserve(); err != nil {
			t.Fatal(err)
		}
		// The only place is taken, and it is not for this one: it belongs to the next RoundTrip, which is this one.
		if got := get(t, c, "http://a.example/"); got != "200 OK" {
			t.Error(got)
		}
		c.Release() // without a reservation it does nothing
		if a := c.Available(); a != 1 {
			t.Errorf("%d available, want 1", a)
		}
		if err := c.Reserve(); err != nil {
			t.Fatal(err)
		}
		req := newRequest(t, "GET", "http://a.example/", nil)
		req.Method = "BAD METHOD"
		if _, err := c.RoundTrip(req); err == nil {
			t.Error("no error")
		}
		if a := c.Available(); a != 1 {
			t.Errorf("%d available after a request that was refused, want 1", a)
		}
	})
}

// TestStateHook is called when a place comes free and when the connection ends, and not after it was taken away.
//
// Contract: N3.
func TestStateHook(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, greeted(serve))
		c, err := tr.NewClientConn(t.Context(), "http", "a.example:80")
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		calls, ended := 0, 0
		synctest.Wait()
		c.SetStateHook(func(c *h2http.ClientConn) {
			mu.Lock()
			defer mu.Unlock()
			calls++
			if c.Err() != nil && c.Available() == 0 {
				ended++
			}
		})
		took := func() (int, int) {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			a, b := calls, ended
			calls, ended = 0, 0
			return a, b
		}
		if n, _ := took(); n != 1 {
			t.Errorf("%d calls for what had changed before, want 1", n)
		}
		if got := get(t, c, "http://a.example/"); got != "200 OK" {
			t.Error(got)
		}
		if n, e := took(); n == 0 || e != 0 {
			t.Errorf("%d calls, %d with an error, after a request", n, e)
		}
		c.Close()
		if _, e := took(); e == 0 {
			t.Error("the end was not told")
		}
		c.SetStateHook(nil)
		time.Sleep(time.Second)
		if n, _ := took(); n != 0 {
			t.Errorf("%d calls after the hook was taken away", n)
		}
	})
}
