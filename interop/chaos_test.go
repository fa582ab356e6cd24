package interop

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/h2http"
)

// What the server of the chaos does with one request out of a hundred each.
const (
	oneOf      = 100
	chaosDelay = 20 * time.Millisecond
)

// chaos is how much of it there is.
type chaos struct {
	requests int
	workers  int
	conns    int
	every    time.Duration // from one restart to the next
}

func chaosSize() chaos {
	if long() {
		return chaos{requests: 1_000_000, workers: 64, conns: 8, every: time.Second}
	}
	return chaos{requests: 5_000, workers: 32, conns: 8, every: 100 * time.Millisecond}
}

// A server restarts gracefully all the time, resets one stream in a hundred and delays another. Every request that may be
// made again succeeds: the Transport repeats what the server has not taken, the test what was reset. If the restarts come so
// fast that the Transport's tries are used up, the error says that the request may be made again, and the test does; at one
// restart a second that never happens. A request reaches a handler once, unless the test repeated it. Afterwards nothing is left of it all, neither goroutines nor memory.
func TestChaos(t *testing.T) {
	size := chaosSize()
	o := newOrigin(t)
	seen := newTally(size.requests)
	p := newPhoenix(t, o, http.HandlerFunc(seen.serve))
	transport := &h2http.Transport{
		TLSClientConfig: o.trust,
		Policy:          h2http.MostConns{},
		MaxConnsPerHost: size.conns,
		MinConnsPerHost: size.conns,
	}
	client := &http.Client{Transport: transport}
	ctx, cancel := context.WithCancel(t.Context())
	restarting := make(chan int)
	go func() { restarting <- p.restartEvery(ctx, size.every) }()
	var flat flatness
	var next atomic.Int64
	var wg sync.WaitGroup
	for range size.workers {
		wg.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= size.requests {
					return
				}
				seen.ask(t, client, p.addr, n)
				if n%(size.requests/10) == size.requests/20 {
					flat.look()
				}
			}
		})
	}
	wg.Wait()
	cancel()
	t.Logf("%d requests, %d restarts, %d repeated by the test after a reset", size.requests, <-restarting, seen.resets.Load())
	if n := seen.handed.Load(); n > 0 && size.every >= time.Second {
		t.Errorf("%d requests came back unserved", n)
	}
	seen.check(t)
	flat.check(t, 8<<20)
	transport.CloseIdleConnections()
}

// A tally counts what became of each request.
type tally struct {
	served []atomic.Int32 // how often a handler got it
	tries  []atomic.Int32 // how often the test made it
	resets atomic.Int64
	handed atomic.Int64 // given back unserved, as the error says
}

func newTally(n int) *tally {
	return &tally{served: make([]atomic.Int32, n), tries: make([]atomic.Int32, n)}
}

// serve answers with the path, or resets the stream, sometimes in the middle of the answer.
func (s *tally) serve(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil || n < 0 || n >= len(s.served) {
		http.NotFound(w, r)
		return
	}
	s.served[n].Add(1)
	switch rand.IntN(oneOf) {
	case 0:
		if n%2 == 0 {
			io.WriteString(w, "/")
			http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	case 1:
		select {
		case <-time.After(chaosDelay):
		case <-r.Context().Done():
		}
	}
	io.WriteString(w, r.URL.Path)
}

// ask makes request n until it is answered. Only a reset by the server's handler is a reason to repeat it.
func (s *tally) ask(t *testing.T, client *http.Client, addr string, n int) {
	want := "/" + strconv.Itoa(n)
	for s.tries[n].Add(1) < 20 {
		got, err := fetch(client, "https://"+addr+want)
		switch {
		case err == nil && got == want:
			return
		case err == nil:
			t.Errorf("request %d got %q", n, got)
			return
		case h2flow.Retryable(err):
			s.handed.Add(1)
			continue
		case !strings.Contains(err.Error(), "INTERNAL_ERROR; received from peer"):
			t.Errorf("request %d: %v", n, err)
			return
		}
		s.resets.Add(1)
	}
	t.Errorf("request %d was reset every time", n)
}

func fetch(client *http.Client, url string) (string, error) {
	resp, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %s", resp.Status)
	}
	return string(body), err
}

// check finds requests that the Transport sent to a handler more often than it was asked to.
func (s *tally) check(t *testing.T) {
	t.Helper()
	for n := range s.served {
		if served, tries := s.served[n].Load(), s.tries[n].Load(); served > tries || served == 0 {
			t.Errorf("request %d was made %d times, and served %d times", n, tries, served)
		}
	}
}

// flatness remembers how much there was while the load went on.
type flatness struct {
	mu         sync.Mutex
	goroutines []int
	heap       []uint64
}

func (f *flatness) look() {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.goroutines = append(f.goroutines, runtime.NumGoroutine())
	f.heap = append(f.heap, m.HeapAlloc)
}

// check compares the later looks with the earlier ones. The load is the same all the time, so neither may grow by more than
// what it varies by: half, and a little that does not count, of the heap slack octets.
func (f *flatness) check(t *testing.T, slack uint64) {
	t.Helper()
	t.Logf("goroutines %v", f.goroutines)
	t.Logf("heap %v", f.heap)
	early, late := f.heap[:len(f.heap)/2], f.heap[len(f.heap)/2:]
	if limit := slices.Max(early)*3/2 + slack; slices.Max(late) > limit {
		t.Errorf("the heap grew to %d octets, from %d", slices.Max(late), slices.Max(early))
	}
	earlyG, lateG := f.goroutines[:len(f.goroutines)/2], f.goroutines[len(f.goroutines)/2:]
	if limit := slices.Max(earlyG)*3/2 + 100; slices.Max(lateG) > limit {
		t.Errorf("goroutines grew to %d, from %d", slices.Max(lateG), slices.Max(earlyG))
	}
}
