package h2http_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/pipe"
	"github.com/google/go-cmp/cmp"
)

func TestPolicies(t *testing.T) {
	conns := func(pairs ...int) (list []h2http.ConnState) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, h2http.ConnState{InFlight: pairs[i], Room: pairs[i+1]})
		}
		return list
	}
	fewest, most := h2http.FewestConns{}, h2http.MostConns{Conns: 3}
	tests := []struct {
		name   string
		policy h2http.Policy
		host   h2http.HostState
		want   h2http.Choice
	}{
		{"fewest: none yet", fewest, h2http.HostState{}, h2http.Dial},
		{"fewest: the first with room", fewest, h2http.HostState{Conns: conns(9, 0, 5, 1, 0, 9)}, 1},
		{"fewest: all full", fewest, h2http.HostState{Conns: conns(9, 0, 5, -1)}, h2http.Dial},
		{"most: none yet", most, h2http.HostState{}, h2http.DialAnother},
		{"most: an idle one", most, h2http.HostState{Conns: conns(9, 1, 0, 9)}, 1},
		{"most: none idle", most, h2http.HostState{Conns: conns(9, 1, 1, 9)}, h2http.DialAnother},
		{"most: enough of them", most, h2http.HostState{Conns: conns(9, 1, 2, 7, 2, 8)}, 1},
		{"most: enough with the dials", most, h2http.HostState{Conns: conns(9, 1), Dialing: 2}, 0},
		{"most: enough and all full", most, h2http.HostState{Conns: conns(9, 0, 9, 0, 9, 0)}, h2http.Dial},
		{"most: as many as the host may have", h2http.MostConns{}, h2http.HostState{Conns: conns(1, 1), MaxConns: 1}, 0},
		{"most: four if nothing else is said", h2http.MostConns{},
			h2http.HostState{Conns: conns(1, 1, 1, 1, 1, 1, 1, 1)}, 0},
	}
	for _, tt := range tests {
		if got := tt.policy.Choose(tt.host); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// numbered is Go's own server: it answers with the number of the connection once goOn is closed, and allows as many
// streams as limit says.
func numbered(t *testing.T, tr *h2http.Transport, link pipe.Link, limit int, goOn <-chan struct{}) *h2http.Transport {
	t.Helper()
	type number struct{}
	l := pipe.Listen(link)
	conns := 0
	srv := &http.Server{
		Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: limit},
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			conns++
			return context.WithValue(ctx, number{}, conns)
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-goOn
			fmt.Fprint(w, "connection ", r.Context().Value(number{}))
		}),
	}
	srv.Protocols.SetUnencryptedHTTP2(true)
	go srv.Serve(l)
	tr.AllowHTTP, tr.DialContext = true, l.DialContext
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		srv.Close()
		l.Close()
	})
	return tr
}

// onConns sends requests one after the other, none of which ends before all are there, and counts on which connection
// each was.
func onConns(t *testing.T, tr *h2http.Transport, requests, limit int) map[string]int {
	t.Helper()
	goOn := make(chan struct{})
	tr = numbered(t, tr, pipe.Link{}, limit, goOn)
	results := make(chan string, requests)
	for range requests {
		go func() { results <- get(t, tr, "http://a.example/") }()
		synctest.Wait()
	}
	close(goOn)
	counts := map[string]int{}
	for range requests {
		counts[strings.TrimPrefix(<-results, "200 OK ")]++
	}
	return counts
}

// everySecond is a policy of one's own: requests alternate between two connections.
type everySecond struct{ n *int }

func (p everySecond) Choose(h h2http.HostState) h2http.Choice {
	if len(h.Conns) < 2 {
		return h2http.DialAnother
	}
	*p.n++
	return h2http.Choice(*p.n % 2)
}

// TestThePolicyChoosesTheConnection, within the limits.
//
// Contract: P2, P3.
func TestThePolicyChoosesTheConnection(t *testing.T) {
	tests := []struct {
		name  string
		tr    *h2http.Transport
		limit int
		want  map[string]int
	}{
		{"fewest", &h2http.Transport{}, 100, map[string]int{"connection 1": 6}},
		{"fewest at the limit", &h2http.Transport{}, 2,
			map[string]int{"connection 1": 2, "connection 2": 2, "connection 3": 2}},
		{"most", &h2http.Transport{Policy: h2http.MostConns{Conns: 3}}, 100,
			map[string]int{"connection 1": 2, "connection 2": 2, "connection 3": 2}},
		{"most within the maximum", &h2http.Transport{Policy: h2http.MostConns{Conns: 3}, MaxConnsPerHost: 2}, 100,
			map[string]int{"connection 1": 3, "connection 2": 3}},
		{"one's own", &h2http.Transport{Policy: everySecond{new(int)}}, 100,
			map[string]int{"connection 1": 3, "connection 2": 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				if diff := cmp.Diff(tt.want, onConns(t, tt.tr, 6, tt.limit)); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestMaxConnsPerHost holds where the policy would open more.
//
// Contract: P3.
func TestMaxConnsPerHost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		if counts := onConns(t, &h2http.Transport{MaxConnsPerHost: 2}, 9, 2); len(counts) != 2 {
			t.Errorf("requests by connection: %v, want 2 connections", counts)
		}
	})
}

// TestMinConnsPerHost opens connections beside the first, and keeps them.
//
// Contract: P3.
func TestMinConnsPerHost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, n := scripted(t, &h2http.Transport{MinConnsPerHost: 3, IdleConnTimeout: time.Second},
			greeted(serve), greeted(serve), greeted(serve))
		for range 2 {
			if got := get(t, tr, "http://a.example/"); got != "200 OK" {
				t.Error(got)
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if conns := tr.Stats().Hosts[0].Conns; n.dialed() != 3 || len(conns) != 3 {
				t.Errorf("%d connections were made and %d are there, want 3", n.dialed(), len(conns))
			}
		}
	})
}

// TestMaxIdleConns closes the connection that has been idle longest.
//
// Contract: P7.
func TestMaxIdleConns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, n := scripted(t, &h2http.Transport{MaxIdleConns: 2}, greeted(serve), greeted(serve), greeted(serve),
			greeted(serve))
		for _, host := range []string{"a", "b", "c", "b", "c", "a"} {
			if got := get(t, tr, "http://"+host+".example/"); got != "200 OK" {
				t.Error(got)
			}
			time.Sleep(time.Second)
		}
		if n.dialed() != 4 { // a was closed for c
			t.Errorf("%d connections, want 4", n.dialed())
		}
	})
}

// TestMaxConnAge: what a connection serves goes on, and the next request goes to a new one.
//
// Contract: P6.
func TestMaxConnAge(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, n := scripted(t, &h2http.Transport{MaxConnAge: time.Minute, PingInterval: -1}, greeted(func(s *peer.Server) {
			long := s.WantHeaders("a long request")
			time.Sleep(2 * time.Minute)
			s.Send(answer(long.Stream, "200"))
			s.Ignore = besides[frame.GoAway]
			s.WantClose("the connection is closed after its last request")
		}), greeted(serve), greeted(serve))
		long := make(chan string, 1)
		go func() { long <- get(t, tr, "http://a.example/long") }()
		time.Sleep(47 * time.Second) // a fifth less than a minute at the earliest
		if n.dialed() != 1 || len(tr.Stats().Hosts[0].Conns) != 1 {
			t.Error("the connection retired too early")
		}
		time.Sleep(14 * time.Second)
		if got := get(t, tr, "http://a.example/"); got != "200 OK" || n.dialed() != 2 {
			t.Errorf("%s, %d connections, want 2", got, n.dialed())
		}
		if got := <-long; got != "200 OK" {
			t.Errorf("the long request: %s", got)
		}
		time.Sleep(time.Minute) // the second one retires while it is idle
		synctest.Wait()
		if hosts := tr.Stats().Hosts; len(hosts) != 0 {
			t.Errorf("%+v", hosts)
		}
	})
}

// TestConnAgesDiffer, so that connections which were opened together do not retire together.
//
// Contract: P6.
func TestConnAgesDiffer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		scripts := make([]func(*peer.Server), 20)
		for i := range scripts {
			scripts[i] = greeted(serve)
		}
		tr, _ := scripted(t, &h2http.Transport{MaxConnAge: 100 * time.Second}, scripts...)
		for i := range scripts {
			if got := get(t, tr, fmt.Sprintf("http://host%d.example/", i)); got != "200 OK" {
				t.Error(got)
			}
		}
		counts := map[int]bool{}
		for range 101 {
			time.Sleep(time.Second)
			counts[len(tr.Stats().Hosts)] = true
		}
		if !counts[20] || !counts[0] || len(counts) < 5 {
			t.Errorf("numbers of connections seen in time: %v, want many between 20 and 0", counts)
		}
	})
}

// TestTheQueueCanBeSeen: how many requests wait, and how long they have waited.
//
// Contract: P5, O4.
func TestTheQueueCanBeSeen(t *testing.T) {
	bubble(t, func(t *testing.T) {
		goOn := make(chan struct{})
		tr := numbered(t, &h2http.Transport{MaxConnsPerHost: 1}, pipe.Link{}, 1, goOn)
		results := make(chan string, 10)
		for range 3 {
			go func() { results <- get(t, tr, "http://a.example/") }()
			synctest.Wait()
		}
		time.Sleep(time.Second)
		if s := tr.Stats(); len(s.Hosts) != 1 || s.Hosts[0].Waiting != 2 || s.Requests != 3 || s.Dials != 1 {
			t.Errorf("%+v", s)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if got := exchange(tr, newRequest(t, "GET", "http://a.example/", nil).WithContext(ctx)); got != "context deadline exceeded" {
			t.Error(got)
		}
		close(goOn)
		for range 3 {
			<-results
		}
		synctest.Wait()
		h := tr.Stats().Hosts[0]
		if h.Waiting != 0 || h.Waited != 3 || h.WaitMax != 3*time.Second || h.WaitTotal != 8*time.Second {
			t.Errorf("%d wait, %d have waited for %v, %v at most; want 0, 3, 8s, 3s", h.Waiting, h.Waited, h.WaitTotal,
				h.WaitMax)
		}
		if c := h.Conns[0]; c.Requests != 3 || c.Active != 0 || !c.State.SettingsReceived || c.Remote == "" {
			t.Errorf("%+v", c)
		}
		if s := tr.Stats(); s.Failures != 1 || s.Requests != 4 {
			t.Errorf("%+v", s)
		}
	})
}

// TestAQueueOutlivesItsConnection: those who wait go to a new one when it ends, in order, and fail if there is none.
func TestAQueueOutlivesItsConnection(t *testing.T) {
	for name, again := range map[string]bool{"another dial succeeds": true, "no other dial succeeds": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				end := make(chan struct{})
				scripts := []func(*peer.Server){greeted(func(s *peer.Server) {
					s.WantHeaders("the first request")
					<-end
				}, oneStream)}
				if again {
					scripts = append(scripts, greeted(serve, oneStream))
				}
				tr, n := scripted(t, &h2http.Transport{MaxConnsPerHost: 1}, scripts...)
				results := make(chan string, 10)
				for range 4 {
					go func() { results <- get(t, tr, "http://a.example/") }()
					synctest.Wait()
				}
				close(end)
				good := 0
				for range 4 {
					if <-results == "200 OK" {
						good++
					}
				}
				want := 0
				if again {
					want = 3
				}
				if good != want {
					t.Errorf("%d requests were served after the end of the first connection, want %d", good, want)
				}
				if d := n.dialed(); d != 2 {
					t.Errorf("%d dials, want 2", d)
				}
			})
		})
	}
}

// TestAnAbandonedDialFailsNobodyElse, not even those who wait in the queue.
func TestAnAbandonedDialFailsNobodyElse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{MaxConnsPerHost: 1}, greeted(serve))
		dial := tr.DialContext
		first := true
		tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if first {
				first = false
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return dial(ctx, network, addr)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		results := make(chan string, 2)
		go func() { results <- exchange(tr, newRequest(t, "GET", "http://a.example/", nil).WithContext(ctx)) }()
		synctest.Wait()
		time.Sleep(999 * time.Millisecond)
		go func() { time.Sleep(2 * time.Millisecond); results <- get(t, tr, "http://a.example/") }()
		if got := <-results; got != "context deadline exceeded" {
			t.Error(got)
		}
		if got := <-results; got != "200 OK" {
			t.Error(got)
		}
	})
}

// TestNoRoomIsLost: however requests and ends of streams cross, nobody waits for a stream while one is free.
//
// Contract: P4, B13.
func TestNoRoomIsLost(t *testing.T) {
	goOn := make(chan struct{})
	close(goOn)
	bubble(t, func(t *testing.T) {
		tr := numbered(t, &h2http.Transport{MaxConnsPerHost: 1}, pipe.Link{RTT: time.Millisecond}, 1, goOn)
		const workers, requests = 8, 100
		get(t, tr, "http://a.example/") // the limit is known from now on
		results := make(chan string, workers)
		for range workers {
			go func() {
				last := ""
				for range requests {
					if last = get(t, tr, "http://a.example/"); last != "200 OK connection 1" {
						break
					}
				}
				results <- last
			}()
		}
		for range workers {
			if got := <-results; got != "200 OK connection 1" {
				t.Error(got)
			}
		}
		if s := tr.Stats(); s.Failures+s.Retries != 0 || s.Hosts[0].Waiting != 0 || s.Hosts[0].Waited == 0 {
			t.Errorf("%+v", s)
		}
	})
}
