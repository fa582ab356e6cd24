package load

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// A cost is what the process has used up to a moment.
type cost struct {
	user, sys      *float64
	mallocs, bytes uint64
}

func costNow() cost {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c := cost{mallocs: m.Mallocs, bytes: m.TotalAlloc}
	c.user, c.sys = cpuTime()
	return c
}

// difference is b-a, or nil if either is not known.
func difference(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	d := *b - *a
	return &d
}

// A heapWatch looks at the size of the heap every now and then, without stopping the program.
type heapWatch struct {
	peak    int64
	done    chan struct{}
	stopped sync.WaitGroup
}

const heapInterval = 10 * time.Millisecond

func watchHeap() *heapWatch {
	w := &heapWatch{done: make(chan struct{})}
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	look := func() {
		metrics.Read(sample)
		w.peak = max(w.peak, int64(sample[0].Value.Uint64()))
	}
	look()
	tick := time.NewTicker(heapInterval)
	w.stopped.Go(func() {
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				look()
			case <-w.done:
				look()
				return
			}
		}
	})
	return w
}

// stop ends the watch and returns the peak in octets.
func (w *heapWatch) stop() int64 {
	close(w.done)
	w.stopped.Wait()
	return w.peak
}
