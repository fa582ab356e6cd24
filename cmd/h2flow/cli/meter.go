package cli

import (
	"sync"
	"time"

	"example.com/h2flow/flow"
)

// A runMeter measures the runs of one h2flow connection one after another. The connection calls it from its own
// goroutines, the demo from another.
type runMeter struct {
	mu    sync.Mutex
	meter flow.Meter
}

var _ flow.Observer = (*runMeter)(nil)

// newRunMeter returns a meter that also takes samples. The zero value takes none.
func newRunMeter() *runMeter {
	return &runMeter{meter: flow.Meter{Series: true}}
}

// Opened implements flow.Observer.
func (m *runMeter) Opened(now time.Time, w flow.Windows) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.meter.Opened(now, w)
}

// Decided implements flow.Observer.
func (m *runMeter) Decided(now time.Time, ev flow.Event, actions []flow.Action) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.meter.Decided(now, ev, actions)
}

// cut returns what was measured since the last cut, and begins anew.
func (m *runMeter) cut(now time.Time) (flow.Metrics, []flow.Sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.meter.Sample(now)
	metrics, samples := m.meter.Metrics(), m.meter.Samples
	m.meter.Restart()
	m.meter.Sample(now)
	return metrics, samples
}
