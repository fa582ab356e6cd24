package flowtest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"example.com/h2flow/flow"
)

// TB is the part of testing.TB that Run needs.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// Bounded is implemented by a Config that promises a bound of memory. Run holds it to that.
type Bounded interface {
	// MemoryBound is the most octets that are unread on one connection and granted to its peer, together.
	MemoryBound() int64
}

// Tolerant is implemented by a Config that promises that streams which nobody reads do not stop the others. Run holds
// it to that.
type Tolerant interface {
	// SlowReaders is how many streams of one connection may have no reader while all others still make progress.
	SlowReaders() int
}

// Growing is implemented by a Config that promises no bound of memory, but whose connection window grows up to a limit.
// Without it, Run takes a connection window of more than twice the first one for credit that was given twice.
type Growing interface {
	// MaxConnWindow is the most that the connection window ever is, in octets.
	MaxConnWindow() int64
}

// Run drives strategies made by cfg through all scenarios. With a *testing.T each is a subtest; otherwise a scenario
// that fails is reported by one Errorf, and the others go on.
func Run(t TB, cfg flow.Config) {
	t.Helper()
	for _, sc := range scenarios {
		if tt, ok := t.(*testing.T); ok {
			tt.Run(sc.name, func(tt *testing.T) {
				if err := sc.check(cfg); err != nil {
					tt.Errorf("%s: %v", cfg, err)
				}
			})
		} else if err := sc.check(cfg); err != nil {
			t.Errorf("%s: %s: %v", cfg, sc.name, err)
		}
	}
}

var scenarios = []struct {
	name  string
	check func(cfg flow.Config) error
}{
	{"a reader that keeps up gets everything", func(cfg flow.Config) error {
		return transfer(cfg, func(m *model) { m.open(3<<20, instant, nil) })
	}},
	{"a server that sends only whole frames is never left waiting", wholeFrames},
	{"a slow reader gets everything", func(cfg flow.Config) error {
		return transfer(cfg, func(m *model) { m.open(3<<20, slow, nil) })
	}},
	{"slow and bursty readers do not inflate the window", noInflation},
	{"padding is given back", padding},
	{"cancelled streams leak nothing and give nothing twice", cancelled},
	{"streams that nobody reads stop growing", neverRead},
	{"as many slow readers as promised stop nobody else", slowReaders},
	{"any mix of streams ends", mixes},
	{"the same events give the same actions", determinism},
	{"refused actions are not repeated for ever", closing},
}

var (
	slow   = reader{octets: 64 << 10, every: 100 * time.Millisecond}
	bursty = reader{every: time.Second}
	lan    = Path{RTT: 20 * time.Millisecond, Rate: 12_500_000}
)

// transfer runs what begin starts to its end.
func transfer(cfg flow.Config, begin func(m *model)) error {
	m := newModel(cfg, lan)
	begin(m)
	return m.finish()
}

// finish runs m until all its streams are over; a stream that is not by then has stalled.
func (m *model) finish() error {
	m.run(time.Hour)
	m.stalled()
	return m.failure
}

// wholeFrames has servers that use no part of a window smaller than their frame, unless it ends the body. Frames of
// 16,375 octets leave 35 of 65,535 unused, as a server does that stops at 65,500.
func wholeFrames(cfg flow.Config) error {
	for _, frame := range []int64{16384, 16375, 9000} {
		err := transfer(cfg, func(m *model) {
			m.server.frame, m.server.whole = frame, true
			m.open(3<<20, instant, nil)
			m.open(1<<20, slow, nil)
		})
		if err != nil {
			return fmt.Errorf("frames of %d octets: %w", frame, err)
		}
	}
	return nil
}

// noInflation compares the most that a stream's window ever holds with what it holds when nobody reads at all.
func noInflation(cfg flow.Config) error {
	peak := func(r reader) (int64, error) {
		m := newModel(cfg, lan)
		m.open(endless, r, nil)
		m.run(20 * time.Second)
		return m.peakStream, m.failure
	}
	unread, err := peak(never)
	if err != nil {
		return err
	}
	for _, r := range []reader{slow, bursty} {
		got, err := peak(r)
		if err != nil {
			return err
		}
		if got > 2*unread {
			return fmt.Errorf("a reader of %d octets each %s makes the stream's window hold %d octets; unread it holds %d",
				r.octets, r.every, got, unread)
		}
	}
	return nil
}

// padding sends frames of mostly padding, and of nothing else but the octet that says how much.
func padding(cfg flow.Config) error {
	for _, pad := range []int64{1, 256} {
		err := transfer(cfg, func(m *model) {
			m.server.frame, m.server.pad = 200, pad
			m.open(400_000, instant, nil)
		})
		if err != nil {
			return fmt.Errorf("%d octets of padding and its length a frame: %w", pad, err)
		}
	}
	return nil
}

// cancelled opens and cancels streams in turn, with much unread and more on the way, and then looks at what is left of
// the connection window: a leak would have used it up, a credit given twice would have raised it above any bound.
func cancelled(cfg flow.Config) error {
	m := newModel(cfg, lan)
	initial := m.conn.Offsets().Granted
	rounds := 0
	var next func()
	next = func() {
		if rounds++; rounds > 60 {
			return
		}
		r := never
		if rounds%3 == 0 {
			r = slow
		}
		s := m.open(endless, r, nil)
		m.after(150*time.Millisecond, func() { m.cancel(s); next() })
	}
	next()
	if err := m.finish(); err != nil {
		return err
	}
	o := m.conn.Offsets()
	if o.Unread() != 0 || o.Charged != o.Received {
		return fmt.Errorf("bug in the model: no stream is open but the connection window is %s", o)
	}
	if o.Window() < initial/8 {
		return fmt.Errorf("credit leaked: the connection window was %d octets, after all streams it is %s", initial, o)
	}
	most := 2 * initial
	if g, ok := cfg.(Growing); ok {
		most = g.MaxConnWindow()
	}
	if m.bound == 0 && o.Window() > most {
		return fmt.Errorf("credit given twice: the connection window was %d octets, after all streams it is %s", initial, o)
	}
	return nil
}

// neverRead opens endless bodies that nobody reads: the server has to stop.
func neverRead(cfg flow.Config) error {
	m := newModel(cfg, Path{RTT: time.Millisecond})
	for range 50 {
		m.open(endless, never, nil)
	}
	m.run(time.Hour)
	return m.failure
}

// slowReaders opens as many streams without a reader as the Config promises to bear, and then downloads beside them.
func slowReaders(cfg flow.Config) error {
	t, ok := cfg.(Tolerant)
	if !ok {
		return nil
	}
	m := newModel(cfg, lan)
	for range min(t.SlowReaders(), 200) {
		m.open(endless, never, nil)
	}
	finished := false
	// By then the streams without readers have got all they can.
	m.after(time.Minute, func() { m.open(4<<20, instant, func() { finished = true }) })
	m.run(time.Hour)
	if m.failure == nil && !finished {
		return fmt.Errorf("%d streams that nobody reads stop another: connection window %s",
			min(t.SlowReaders(), 200), m.conn.Offsets())
	}
	return m.failure
}

// mix is a connection of many streams, of which the seed decides everything.
func mix(cfg flow.Config, seed uint64) (*model, error) {
	random := rand.New(rand.NewPCG(seed, 0))
	m := newModel(cfg, Path{
		RTT:       time.Duration(1+random.IntN(100)) * time.Millisecond,
		Rate:      1_000_000 << random.IntN(7),
		SlowStart: random.IntN(2) == 0,
	})
	m.server.frame = 1 + random.Int64N(16384)
	m.server.pad = max(0, random.Int64N(400)-200)
	m.server.whole = m.server.pad == 0 && random.IntN(2) == 0
	readers := []reader{instant, {octets: 1000}, {}, slow, {octets: 20_000, every: 3 * time.Millisecond}, bursty}
	left := 60
	var next func()
	next = func() {
		if left--; left < 0 {
			return
		}
		s := m.open(random.Int64N(1<<(4+random.IntN(17))), readers[random.IntN(len(readers))], next)
		if random.IntN(4) == 0 {
			m.after(time.Duration(random.IntN(300))*time.Millisecond, func() {
				if m.streams[s.id] == s {
					m.cancel(s)
					next()
				}
			})
		}
	}
	for range 1 + random.IntN(20) {
		next()
	}
	return m, m.finish()
}

func mixes(cfg flow.Config) error {
	for seed := range uint64(12) {
		if _, err := mix(cfg, seed); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	return nil
}

// determinism runs the same mixes twice. The second strategy comes from the same Config, so that state which strategies
// share by mistake shows too.
func determinism(cfg flow.Config) error {
	for seed := range uint64(4) {
		first, err := mix(cfg, seed)
		if err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		second, err := mix(cfg, seed)
		if err != nil {
			return fmt.Errorf("seed %d, second run: %w", seed, err)
		}
		if first.transcript != second.transcript {
			return fmt.Errorf("seed %d: two runs differ in their actions", seed)
		}
	}
	return nil
}

// closing refuses every action from some time on, as a connection does that is about to end.
func closing(cfg flow.Config) error {
	m := newModel(cfg, lan)
	m.open(1<<20, instant, nil)
	m.open(1<<20, slow, nil)
	m.after(30*time.Millisecond, func() {
		m.closing = true
		m.decide(flow.Event{Kind: flow.GoAway})
	})
	m.run(10 * time.Second)
	return m.failure
}
