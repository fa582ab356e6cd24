package peers

import (
	"time"

	"example.com/h2flow/flow"
)

// Neqo is the rule of neqo (00791098), Firefox's QUIC, on our offsets: a window is given back once a quarter of it was
// read, and raised by four times what was read above three quarters of it in a round trip. Its first windows and limits
// were not read: 65,535 and 10 MiB are assumptions.
type Neqo struct {
	// Max bounds both windows, in octets; zero means 10 MiB.
	Max int64
}

const (
	neqoWindow = 65535
	neqoMax    = 10 << 20
	neqoFactor = 4
)

var _ flow.Config = Neqo{}

// New makes the strategy of one connection.
func (p Neqo) New() flow.Strategy {
	limit := p.MaxConnWindow()
	return newTuned(side{size: neqoWindow, give: neqoRule}, side{size: neqoWindow, give: neqoRule}, limit, limit, neqoTune)
}

// String describes p so that Parse reads it back.
func (p Neqo) String() string { return describe("neqo", size("max", p.Max)) }

// MaxConnWindow is the most that the connection window ever is, in octets.
func (p Neqo) MaxConnWindow() int64 { return max(orDefault(p.Max, neqoMax), neqoWindow) }

// neqoRule restores a window of which less than three quarters are ahead of the reader.
func neqoRule(v view) int64 {
	if v.due > 0 && 4*(v.size-v.due) < 3*v.size {
		return v.due
	}
	return 0
}

func neqoTune(t *tuned, now time.Time, l *level, b *book, v view) {
	if neqoRule(v) == 0 {
		return
	}
	// The first update has nothing before it to measure from.
	if l.updated && t.rtt > 0 {
		expected := int64(float64(b.size) * 3 / 4 * float64(now.Sub(l.epoch)) / float64(t.rtt))
		if excess := v.due - expected; excess >= 0 {
			b.size = max(b.size, min(b.size+neqoFactor*excess, l.max))
		}
	}
	l.epoch, l.updated = now, true
}
