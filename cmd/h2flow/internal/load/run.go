package load

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A lane that fails so often in a row gives up, so that a server that is gone ends a timed run early.
const maxFailuresInARow = 10

// Latencies are counted in units of 100 ns, up to ten minutes, with three digits.
const (
	latencyUnit = 100 * time.Nanosecond
	maxLatency  = int64(10 * time.Minute / latencyUnit)
)

// A sizeError is a body of another size than the Spec says.
type sizeError struct{ want, got int64 }

func (e *sizeError) Error() string {
	return fmt.Sprintf("a body of %d octets came, want %d", e.got, e.want)
}

// Run does what spec says in this process and measures it. Single requests that fail are counted; an error means that
// there is nothing to count, because the Spec makes no sense, the warm-up failed, or ctx ended.
func Run(ctx context.Context, spec Spec) (result *Result, err error) {
	s, err := newSession(spec)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, s.abort)
	defer stop()
	var groups []group
	var lanes []lane
	for range spec.Conns {
		g := s.newGroup()
		groups = append(groups, g)
		for range spec.Streams {
			lanes = append(lanes, g.lane())
		}
	}
	defer func() {
		for _, g := range groups {
			g.close()
		}
	}()
	endBeside, err := s.startBeside(ctx, groups)
	if err != nil {
		return nil, err
	}
	defer func() {
		if failure := endBeside(); err == nil && failure != nil {
			result, err = nil, failure
		}
	}()
	if spec.Warmup > 0 {
		warm := newTally()
		warm.drive(lanes, func() func() bool {
			left := spec.Warmup
			return func() bool { left--; return left >= 0 && ctx.Err() == nil }
		})
		if warm.failures > 0 && ctx.Err() == nil {
			return nil, fmt.Errorf("warming up: %s", warm.firstFailure)
		}
	}
	result = measure(ctx, s, lanes)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return result, nil
}

// startBeside begins the downloads that run beside, and returns when octets of each have come. The function that it
// returns ends them, and says whether one had ended before by itself.
func (s *session) startBeside(ctx context.Context, groups []group) (end func() error, err error) {
	if s.spec.Beside == "" {
		return func() error { return nil }, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	failed := make(chan error, len(groups))
	for _, g := range groups {
		working.Go(func() {
			for ctx.Err() == nil {
				n, err := g.beside(ctx)
				if err == nil && n == 0 {
					err = errors.New("the body is empty")
				}
				if err != nil {
					failed <- fmt.Errorf("the download beside: %w", err)
					return
				}
			}
		})
	}
	end = func() (err error) {
		select {
		case err = <-failed:
		default:
		}
		cancel()
		working.Wait()
		return err
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for s.besideBytes.Load() < int64(len(groups)) {
		select {
		case err := <-failed:
			end()
			return nil, err
		case <-tick.C:
		}
	}
	return end, nil
}

// measure does the measured part of a run.
func measure(ctx context.Context, s *session, lanes []lane) *Result {
	t := newTally()
	var begun atomic.Int64
	runtime.GC()
	heap := watchHeap()
	before := costNow()
	start := time.Now()
	more := func() bool {
		return (s.spec.Duration <= 0 || time.Since(start) < s.spec.Duration) && ctx.Err() == nil &&
			(s.spec.Requests <= 0 || begun.Add(1) <= s.spec.Requests)
	}
	t.drive(lanes, func() func() bool { return more })
	seconds := time.Since(start).Seconds()
	after := costNow()

	r := &Result{
		Proto: s.proto, Requests: t.requests, Bytes: t.bytes, Failures: t.failures, FirstFailure: t.firstFailure,
		Seconds: seconds, Conns: s.spec.Conns, Streams: s.spec.Streams,
		UserSeconds: difference(before.user, after.user), SysSeconds: difference(before.sys, after.sys),
		Allocs: int64(after.mallocs - before.mallocs), AllocBytes: int64(after.bytes - before.bytes),
		BesideBytes:   s.besideBytes.Load(),
		PeakHeapBytes: heap.stop(), PeakRSSBytes: peakRSS(),
		P50: t.percentile(50), P90: t.percentile(90), P99: t.percentile(99),
	}
	if s.spec.Client == HTTP1 {
		r.Conns, r.Streams = r.Conns*r.Streams, 1
	}
	return r
}

// A tally counts what the lanes did.
type tally struct {
	mu           sync.Mutex
	requests     int64
	bytes        int64
	failures     int64
	firstFailure string
	latency      *hdrhistogram.Histogram
}

func newTally() *tally { return &tally{latency: hdrhistogram.New(1, maxLatency, 3)} }

// drive lets every lane do requests while its own more says so, and returns when all have ended.
func (t *tally) drive(lanes []lane, newMore func() func() bool) {
	var working sync.WaitGroup
	for _, l := range lanes {
		more := newMore()
		working.Go(func() {
			for inARow := 0; inARow < maxFailuresInARow && more(); {
				start := time.Now()
				n, err := l.do()
				t.add(n, err, time.Since(start))
				if err != nil {
					inARow++
				} else {
					inARow = 0
				}
			}
		})
	}
	working.Wait()
}

func (t *tally) add(n int64, err error, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		if t.failures++; t.failures == 1 {
			t.firstFailure = err.Error()
		}
		return
	}
	t.requests++
	t.bytes += n
	t.latency.RecordValue(min(max(int64(took/latencyUnit), 1), maxLatency))
}

// percentile is in milliseconds; nil without requests.
func (t *tally) percentile(p float64) *float64 {
	if t.requests == 0 {
		return nil
	}
	ms := float64(t.latency.ValueAtPercentile(p)) * float64(latencyUnit) / float64(time.Millisecond)
	return &ms
}
