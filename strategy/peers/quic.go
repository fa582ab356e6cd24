package peers

import (
	"time"

	"example.com/h2flow/flow"
)

// smoothedRTT is the round-trip time of models of QUIC, which has one at any time; here it is made of what the connection
// measures anyway, and 0 until then.
type smoothedRTT time.Duration

func (s *smoothedRTT) sample(ev flow.Event) {
	if ev.Kind != flow.RTTSample || ev.RTT <= 0 {
		return
	}
	if *s == 0 {
		*s = smoothedRTT(ev.RTT)
		return
	}
	*s += (smoothedRTT(ev.RTT) - *s) / 8
}

// tuned is a model with one rule that sets the window of a level just before it gives it back.
type tuned struct {
	*client
	tune   func(now time.Time, l *level, b *book, v view)
	rtt    smoothedRTT
	levels map[uint32]*level // 0 is the connection
	// least keeps the connection's window at so many halves of the largest stream's; 0 leaves it.
	least     int64
	maxStream int64
}

// level is what a rule remembers between two updates.
type level struct {
	max     int64
	started bool
	updated bool
	epoch   time.Time // when the measured time began
	base    int64     // octets read by then
	read    int64     // octets read by now
	space   int64     // octets read in the time before
}

func newTuned(stream, conn side, maxStream, maxConn int64, tune func(*tuned, time.Time, *level, *book, view)) *tuned {
	t := &tuned{client: newClient(stream, conn), levels: map[uint32]*level{0: {max: maxConn}}, maxStream: maxStream}
	t.tune = func(now time.Time, l *level, b *book, v view) { tune(t, now, l, b, v) }
	return t
}

func (t *tuned) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	b := t.track(now, ev)
	t.rtt.sample(ev)
	switch ev.Kind {
	case flow.StreamOpened:
		t.levels[ev.Stream] = &level{max: t.maxStream}
	case flow.StreamClosed:
		delete(t.levels, ev.Stream)
	case flow.Consumed, flow.Received:
		if b != nil && !b.ended {
			l := t.levels[ev.Stream]
			l.read = ev.StreamWindow.Consumed
			t.begin(l, now)
			t.tune(now, l, b, t.streamView(now, b, ev.StreamWindow))
			if want := b.size / 2 * t.least; want > t.total.size {
				t.grow(min(want, t.levels[0].max))
			}
		}
		l := t.levels[0]
		l.read = ev.ConnWindow.Consumed
		t.begin(l, now)
		t.tune(now, l, &t.total, t.connView(now, ev.ConnWindow))
	}
	return t.grant(now, ev, dst)
}

// begin starts the measured time at the first octets.
func (t *tuned) begin(l *level, now time.Time) {
	if !l.started {
		l.started, l.epoch = true, now
	}
}
