package peers

import (
	"time"

	"example.com/h2flow/flow"
)

// Quiche is the rule of Google's quiche (f44fa9f3) on our offsets, as its server side has it: a window is given back once
// half of it was read, and doubled if the time before was less than two smoothed round trips ago.
type Quiche struct {
	// Stream and Conn are the first windows, in octets; zero means 16 KiB, and 65,535 for the connection, the least that
	// HTTP/2 can express.
	Stream, Conn int64
	// Defects lets the connection's window lag behind: that it be one and a half times the largest stream's is then
	// compared with the limit and not with the window, and never holds.
	Defects bool
}

const (
	quicheStream    = 16 << 10
	quicheMaxStream = 16 << 20
	quicheMaxConn   = 24 << 20
	quicheRTTs      = 2
)

var _ flow.Config = Quiche{}

// New makes the strategy of one connection.
func (p Quiche) New() flow.Strategy {
	stream, conn := orDefault(p.Stream, quicheStream), max(p.Conn, flow.DefaultWindow)
	t := newTuned(side{size: stream, give: quicheRule}, side{size: conn, give: quicheRule},
		max(stream, quicheMaxStream), max(conn, quicheMaxConn), quicheTune)
	if !p.Defects {
		t.least = 3
	}
	return t
}

// String describes p so that Parse reads it back.
func (p Quiche) String() string {
	return describe("quiche", size("stream", p.Stream), size("conn", p.Conn), flag("defects", p.Defects))
}

// MaxConnWindow is the most that the connection window ever is, in octets.
func (p Quiche) MaxConnWindow() int64 { return max(p.Conn, quicheMaxConn) }

// quicheRule restores a window of which less than half is ahead of the reader.
func quicheRule(v view) int64 {
	if v.due > 0 && 2*(v.size-v.due) < v.size {
		return v.due
	}
	return 0
}

func quicheTune(t *tuned, now time.Time, l *level, b *book, v view) {
	if quicheRule(v) == 0 {
		return
	}
	if t.rtt > 0 && now.Sub(l.epoch) < time.Duration(quicheRTTs*t.rtt) {
		b.size = max(b.size, min(2*b.size, l.max))
	}
	l.epoch = now
}
