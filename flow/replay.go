package flow

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Replay is what another strategy decided on the events of a Log.
//
// It is a counterfactual of decisions and not of the transfer: the log is an open loop. The octets arrive when they
// arrived under the recorded strategy, whatever the other one grants, so a Replay has no completion time, octets may
// arrive that the other strategy never granted, and what it would have let the peer send earlier does not come earlier.
// Only its own grants are real to it: from the first difference on, the offsets that it sees have its own Granted.
type Replay struct {
	// Recorded and Replayed are the two strategies.
	Recorded, Replayed Totals
	// Events is how many events the log has.
	Events int
	// Differences are the events at which the two asked for different actions, in their order.
	Differences []Difference
	// Beyond counts DATA frames that the replayed strategy had not granted when they came, on either level.
	Beyond int
}

// Totals are what one strategy asked for in all.
type Totals struct {
	// Strategy is the Config, Windows what it opened with.
	Strategy string
	Windows  Windows
	// Grants counts WINDOW_UPDATE frames, on both levels; StreamOctets and ConnOctets are what they granted.
	Grants                   int
	StreamOctets, ConnOctets int64
	// Settings counts changes of the initial window, Pings the PINGs asked for.
	Settings, Pings int
}

// A Difference is one event that the two strategies answered differently.
type Difference struct {
	At                 time.Duration
	Event              Event // as the replayed strategy saw it
	Recorded, Replayed []Action
}

// Replay feeds the events of l to a new strategy of cfg. The same Config gives no difference.
func (l *Log) Replay(cfg Config) Replay {
	r := &replayer{
		log: l, strategy: cfg.New(), start: time.Unix(0, 0).UTC(), streams: make(map[uint32]int64),
		out: Replay{Events: len(l.Entries)},
	}
	w := r.strategy.Open(r.start)
	r.conn, r.initial = max(w.Conn, DefaultWindow), w.Stream
	r.diverged = w != l.Windows
	r.out.Recorded = Totals{Strategy: l.Strategy, Windows: l.Windows}
	r.out.Replayed = Totals{Strategy: cfg.String(), Windows: w}
	for _, e := range l.Entries {
		r.out.Recorded.add(e.Actions)
		r.step(e)
	}
	return r.out
}

// replayer feeds a log to a strategy.
//
// Model: until the first difference every event is told as it was recorded. From then on the strategy sees its own
// grants: conn, and for each stream what streams has above initial. What was recorded as an answer to an action, a
// refusal or a Tick, is told only if the strategy asked for it.
type replayer struct {
	log      *Log
	strategy Strategy
	start    time.Time
	out      Replay
	diverged bool

	conn    int64
	initial int64
	streams map[uint32]int64
	asked   []Action // by the last event
}

func (r *replayer) step(e LogEntry) {
	now := r.start.Add(e.At)
	if r.diverged {
		r.ticks(now, e.Event)
		switch e.Event.Kind {
		case Tick:
			r.skip(e)
			return
		case ActionRefused:
			i := slices.Index(r.asked, e.Event.Action)
			if i < 0 {
				r.skip(e)
				return
			}
			r.apply(e.Event.Action, -1)
		}
		if e.Event.Kind == FrameStart {
			r.check(e.Event)
		}
	} else if e.Event.Kind == ActionRefused {
		r.apply(e.Event.Action, -1)
	}
	r.tell(now, e.At, e.Event, e.Actions)
	if e.Event.Kind == StreamClosed {
		delete(r.streams, e.Event.Stream)
	}
}

// skip leaves out an event that answers the recorded strategy alone.
func (r *replayer) skip(e LogEntry) {
	if len(e.Actions) > 0 {
		r.out.Differences = append(r.out.Differences, Difference{At: e.At, Event: e.Event, Recorded: e.Actions})
	}
}

// tell asks the strategy, and compares.
func (r *replayer) tell(now time.Time, at time.Duration, ev Event, recorded []Action) {
	if r.diverged {
		ev = r.own(ev)
	}
	got := r.strategy.Decide(now, ev, nil)
	if ev.Kind != ActionRefused {
		r.asked = append(r.asked[:0], got...)
	}
	for _, a := range got {
		r.apply(a, 1)
	}
	r.out.Replayed.add(got)
	if !slices.Equal(got, recorded) {
		r.diverged = true
		r.out.Differences = append(r.out.Differences, Difference{at, ev, recorded, slices.Clone(got)})
	}
}

// own is ev with the grants of the replayed strategy.
func (r *replayer) own(ev Event) Event {
	ev.ConnWindow.Granted = r.conn
	ev.InitialWindow = r.initial
	if ev.StreamWindow != (Offsets{}) {
		ev.StreamWindow.Granted = r.initial + r.streams[ev.Stream]
	}
	return ev
}

// check counts a frame that was not granted.
func (r *replayer) check(ev Event) {
	if ev = r.own(ev); ev.ConnWindow.Window() < 0 || ev.Stream != 0 && ev.StreamWindow.Window() < 0 {
		r.out.Beyond++
	}
}

// apply carries out an action of the replayed strategy, or takes it back.
func (r *replayer) apply(a Action, sign int64) {
	switch a.Kind {
	case ActGrantConn:
		r.conn += sign * a.N
	case ActGrantStream:
		r.streams[a.Stream] += sign * a.N
	case ActSetInitialWindow:
		if sign > 0 {
			r.initial = a.N
		}
	}
}

// ticks gives the strategy the Ticks that fall due before now.
func (r *replayer) ticks(now time.Time, state Event) {
	for range maxTicks {
		d := r.strategy.Deadline()
		if d.IsZero() || d.After(now) {
			return
		}
		ev := Event{
			Kind: Tick, ConnWindow: state.ConnWindow, InitialWindow: state.InitialWindow, OpenStreams: state.OpenStreams,
			Pings: state.Pings,
		}
		r.tell(d, d.Sub(r.start), ev, nil)
		if next := r.strategy.Deadline(); !next.After(d) {
			return // it asks again with the next event
		}
	}
}

// maxTicks bounds the Ticks between two events of a log.
const maxTicks = 10_000

func (t *Totals) add(actions []Action) {
	for _, a := range actions {
		switch a.Kind {
		case ActGrantStream:
			t.Grants++
			t.StreamOctets += a.N
		case ActGrantConn:
			t.Grants++
			t.ConnOctets += a.N
		case ActSetInitialWindow:
			t.Settings++
		case ActPing:
			t.Pings++
		}
	}
}

// String is the totals side by side, the first differences, and what they are worth.
func (r Replay) String() string {
	var b strings.Builder
	for _, t := range []Totals{r.Recorded, r.Replayed} {
		fmt.Fprintf(&b, "%s: opens with %d and %d, %d grants of %d and %d octets, %d SETTINGS, %d PINGs\n",
			t.Strategy, t.Windows.Stream, t.Windows.Conn, t.Grants, t.StreamOctets, t.ConnOctets, t.Settings, t.Pings)
	}
	fmt.Fprintf(&b, "%d of %d events are answered differently", len(r.Differences), r.Events)
	if r.Beyond > 0 {
		fmt.Fprintf(&b, "; %d frames came that the second had not granted", r.Beyond)
	}
	b.WriteString("\n")
	for i, d := range r.Differences {
		if i == 10 {
			fmt.Fprintf(&b, "... and %d more\n", len(r.Differences)-i)
			break
		}
		fmt.Fprintf(&b, "%s %s: %v, not %v\n", d.At, d.Event, d.Replayed, d.Recorded)
	}
	b.WriteString("open loop: the octets came as the first strategy let them; this is no completion time\n")
	return b.String()
}
