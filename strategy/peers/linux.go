package peers

import (
	"time"

	"example.com/h2flow/flow"
)

// Linux is the tuning of the receive buffer of Linux's TCP on our offsets: once each round trip the window becomes a
// multiple of what the application took in it, and never falls. The window is announced in steps of an eighth.
type Linux struct {
	// Rule is which kernels: 1 those of 2014, 2 those from 4.15 to 6.15, 3 that of 6.16, 4, and zero, those since.
	Rule int64
	// Max is tcp_rmem[2], in octets; zero means 6 MiB.
	Max int64
}

const (
	linuxStart   = 65535
	linuxMax     = 6 << 20
	linuxSegment = 1460
	linuxSpace   = 10 * linuxSegment // what counts as taken in the round trip before the first
	linuxNewest  = 4
)

var _ flow.Config = Linux{}

// New makes the strategy of one connection.
func (p Linux) New() flow.Strategy {
	eighth := func(v view) int64 {
		if v.due > 0 && v.due >= v.size/8 {
			return v.due
		}
		return 0
	}
	limit := p.MaxConnWindow()
	kernel := min(max(p.Rule, 0), linuxNewest)
	if kernel == 0 {
		kernel = linuxNewest
	}
	tune := func(t *tuned, now time.Time, l *level, b *book, v view) { linuxTune(kernel, t, now, l, b, v) }
	return newTuned(side{size: linuxStart, give: eighth}, side{size: linuxStart, give: eighth}, limit, limit, tune)
}

// String describes p so that Parse reads it back.
func (p Linux) String() string { return describe("linux", size("rule", p.Rule), size("max", p.Max)) }

// MaxConnWindow is the most that the connection window ever is, in octets.
func (p Linux) MaxConnWindow() int64 { return max(orDefault(p.Max, linuxMax), linuxStart) }

// linuxTune measures one round trip after the other. l.base is what was read when it began, l.space what the one before
// took.
func linuxTune(kernel int64, t *tuned, now time.Time, l *level, b *book, v view) {
	if t.rtt == 0 || now.Sub(l.epoch) < time.Duration(t.rtt) {
		return
	}
	taken := l.read - l.base
	if kernel >= 3 {
		taken -= v.unread
	}
	l.epoch, l.base = now, l.read
	before := max(l.space, linuxSpace)
	if taken <= before {
		return
	}
	l.space = taken
	b.size = max(b.size, min(linuxWindow(kernel, taken, before), l.max))
}

// linuxWindow is the window after a round trip that took c octets, when the largest before took p.
func linuxWindow(kernel, c, p int64) int64 {
	w := 2 * c
	if kernel <= 2 {
		w += 16 * linuxSegment
	}
	switch kernel {
	case 1:
		switch {
		case 2*c >= 3*p:
			w *= 2
		case 4*c >= 5*p:
			w += w / 2
		}
	case 2, linuxNewest:
		w += 2 * (w * (c - p) / p)
	}
	return w
}
