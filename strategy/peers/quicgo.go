package peers

import (
	"time"

	"example.com/h2flow/flow"
)

// QUICGo is the rule of quic-go (2cfe6ee0) on our offsets: a window is given back once a quarter of it was read, and
// doubled before that if more than half of it was read faster than four smoothed round trips allow. The connection keeps
// one and a half times the largest stream's window. QUIC has a round-trip time without asking; here it is what the
// connection measures anyway.
type QUICGo struct{}

const (
	quicGoStream    = 512 << 10
	quicGoConn      = quicGoStream * 3 / 2
	quicGoMaxStream = 6 << 20
	quicGoMaxConn   = 15 << 20
	quicGoRTTs      = 4
)

var _ flow.Config = QUICGo{}

// New makes the strategy of one connection.
func (QUICGo) New() flow.Strategy {
	t := newTuned(side{size: quicGoStream, give: quarterRead}, side{size: quicGoConn, give: quarterRead},
		quicGoMaxStream, quicGoMaxConn, quicGoTune)
	t.least = 3
	return t
}

// String describes the model so that Parse reads it back.
func (QUICGo) String() string { return describe("quic-go") }

// MaxConnWindow is the most that the connection window ever is, in octets.
func (QUICGo) MaxConnWindow() int64 { return quicGoMaxConn }

// quarterRead restores a window of which at most three quarters are ahead of the reader.
func quarterRead(v view) int64 {
	if v.due > 0 && 4*(v.size-v.due) <= 3*v.size {
		return v.due
	}
	return 0
}

func quicGoTune(t *tuned, now time.Time, l *level, b *book, v view) {
	if quarterRead(v) == 0 {
		return
	}
	read := l.read - l.base
	if 2*read <= b.size {
		return
	}
	allowed := float64(quicGoRTTs*t.rtt) * (float64(read) / float64(b.size))
	if t.rtt > 0 && float64(now.Sub(l.epoch)) < allowed {
		b.size = max(b.size, min(2*b.size, l.max))
	}
	l.epoch, l.base = now, l.read
}
