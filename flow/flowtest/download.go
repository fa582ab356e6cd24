package flowtest

import (
	"time"

	"example.com/h2flow/flow"
)

// A Result is one download of the model.
type Result struct {
	// Took is the virtual time from the request to the last octet read.
	Took time.Duration
	// Grants is the number of WINDOW_UPDATE frames sent in that time.
	Grants int
	// PeakStream is the most that was unread on, or granted to, one stream at any instant since the connection opened,
	// in octets.
	PeakStream int64
}

// Download is how long bodies of the given sizes, in octets, take one after the other on one connection in virtual
// time, with a reader that reads at once. The model knows delay, rate and slow start, no loss and no queue limits: it
// ranks strategies, it does not predict times. The error is the first promise that the strategy broke, or the stall.
func Download(cfg flow.Config, path Path, sizes ...int64) ([]Result, error) {
	m := newModel(cfg, path)
	var results []Result
	var next func()
	next = func() {
		if len(results) == len(sizes) {
			return
		}
		opened, grants := m.now, m.grants
		m.open(sizes[len(results)], instant, func() {
			results = append(results, Result{m.now.Sub(opened), m.grants - grants, m.peakStream})
			next()
		})
	}
	// The connection has settled before the first request: what is measured is the window, not the handshake.
	m.after(2*path.RTT, next)
	m.run(24 * time.Hour)
	if len(results) < len(sizes) {
		m.stalled()
	}
	return results, m.failure
}

// stalled is the failure of a model that has nothing left to do before its streams are over.
func (m *model) stalled() {
	for id := uint32(1); id < m.nextID; id += 2 {
		if s := m.streams[id]; s != nil {
			m.failf("stream %d waits for ever: its window is %s, the connection's %s",
				id, s.recv.OffsetsOver(m.base.Initial()), m.conn.Offsets())
			return
		}
	}
}
