package cli

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A progress is a bar on standard error that follows a counter of octets; where standard error is no terminal it
// shows nothing. What is measured only adds to the counter; drawing is left to a goroutine of its own.
type progress struct {
	octets atomic.Int64

	mu      sync.Mutex
	bar     *progressbar.ProgressBar // nil: nothing is shown
	once    sync.Once
	stop    chan struct{}
	stopped sync.WaitGroup
}

// progressInterval is how often the bar is drawn.
const progressInterval = 100 * time.Millisecond

// newProgress starts a bar of total octets; below 0 the total is not known. The caller ends it with finish.
func newProgress(e *env, total int64, text string) *progress {
	p := &progress{stop: make(chan struct{})}
	if !e.terminal {
		return p
	}
	p.bar = progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(e.stderr), progressbar.OptionSetDescription(text),
		progressbar.OptionShowBytes(true), progressbar.OptionShowTotalBytes(true), progressbar.OptionUseIECUnits(true),
		progressbar.OptionSetWidth(24), progressbar.OptionClearOnFinish(), progressbar.OptionUseANSICodes(true),
	)
	p.stopped.Go(p.follow)
	return p
}

func (p *progress) follow() {
	tick := time.NewTicker(progressInterval)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-tick.C:
			p.mu.Lock()
			p.bar.Set64(p.octets.Load())
			p.mu.Unlock()
		}
	}
}

// restart begins the bar anew with another text before it.
func (p *progress) restart(text string) {
	p.octets.Store(0)
	if p.bar == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bar.Reset()
	p.bar.Describe(text)
}

// print removes the bar from the terminal while f prints lines to it.
func (p *progress) print(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Clear()
	}
	f()
}

// finish removes the bar for good. It may be called again.
func (p *progress) finish() {
	if p.bar == nil {
		return
	}
	p.once.Do(func() {
		close(p.stop)
		p.stopped.Wait()
		p.bar.Clear()
	})
}
