package conn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/rows"
	"github.com/google/go-cmp/cmp"
)

// scripted is a strategy that asks for what it is told to at the next event that is no refusal, and records.
type scripted struct {
	returning
	next    []flow.Action
	refused []string
	events  []flow.Event
	tick    time.Time
}

func (s *scripted) Deadline() time.Time { return s.tick }

func (s *scripted) Decide(_ time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	s.events = append(s.events, ev)
	if ev.Kind == flow.ActionRefused {
		s.refused = append(s.refused, fmt.Sprint(ev.Action.Kind, " ", ev.Action.Stream, " ", ev.Action.N, ": ", ev.Refusal))
		return dst
	}
	if ev.Kind == flow.Tick {
		s.tick = time.Time{}
	}
	dst = append(dst, s.next...)
	s.next = nil
	return dst
}

// newScripted returns a greeted connection under scripted strategies, and a way to ask for actions.
func newScripted(t *testing.T, stream, connection int64) (*testConn, *scripted, func(...flow.Action)) {
	var made []*scripted
	tc := newTestConn(t, withStrategy(func() flow.Strategy {
		s := &scripted{returning: returning{stream: stream, conn: connection}}
		made = append(made, s)
		return s
	}))
	tc.greet()
	ask := func(actions ...flow.Action) {
		t.Helper()
		for _, s := range made {
			s.next = actions
		}
		tc.step(func(s *side) { s.c.RTTSample(tc.now, flow.SourceKernel, time.Millisecond) })
	}
	return tc, made[0], ask
}

// Actions that the protocol does not allow are not carried out, and the strategy is told why.
func TestIllegalActionsAreRefused(t *testing.T) {
	tests := []struct {
		name    string
		action  flow.Action
		refusal flow.Refusal // 0: dropped silently, or carried out
		sent    []fmt.Stringer
	}{
		{"connection, 0", flow.GrantConn(0), flow.RefusedIncrement, nil},
		{"connection, negative", flow.GrantConn(-1), flow.RefusedIncrement, nil},
		{"connection, most negative", flow.GrantConn(math.MinInt64), flow.RefusedIncrement, nil},
		{"connection, above 2^31-1", flow.GrantConn(1<<31 - 65535), flow.RefusedOverflow, nil},
		{"connection, largest", flow.GrantConn(math.MaxInt64), flow.RefusedOverflow, nil},
		{"connection, to 2^31-1", flow.GrantConn(1<<31 - 1 - 65535), 0,
			[]fmt.Stringer{frame.WindowUpdate{Increment: 1<<31 - 1 - 65535}}},
		{"stream, 0", flow.GrantStream(1, 0), flow.RefusedIncrement, nil},
		{"stream, negative", flow.GrantStream(1, -5), flow.RefusedIncrement, nil},
		{"stream, above 2^31-1", flow.GrantStream(1, 1<<31-65535), flow.RefusedOverflow, nil},
		{"stream, largest", flow.GrantStream(1, math.MaxInt64), flow.RefusedOverflow, nil},
		{"stream, to 2^31-1", flow.GrantStream(1, 1<<31-1-65535), 0,
			[]fmt.Stringer{frame.WindowUpdate{Stream: 1, Increment: 1<<31 - 1 - 65535}}},
		{"stream that waits for its slot", flow.GrantStream(5, 1), flow.RefusedStream, nil},
		{"stream that never was", flow.GrantStream(99, 1), flow.RefusedStream, nil},
		{"stream of the server's", flow.GrantStream(2, 1), flow.RefusedStream, nil},
		{"stream 0", flow.GrantStream(0, 1), flow.RefusedStream, nil},
		{"stream that is over", flow.GrantStream(3, 1), 0, nil},
		{"initial window, negative", flow.SetInitialWindow(-1), flow.RefusedInitialWindow, nil},
		{"initial window, 2^31", flow.SetInitialWindow(1 << 31), flow.RefusedInitialWindow, nil},
		{"initial window, as it is", flow.SetInitialWindow(65535), 0, nil},
		{"initial window, changed", flow.SetInitialWindow(0), 0,
			[]fmt.Stringer{frame.MakeSettings(setting(frame.SettingInitialWindowSize, 0))}},
		{"nothing", flow.Action{}, 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tc, s, ask := newScripted(t, 65535, 65535)
			tc.write(frame.MakeSettings(setting(frame.SettingMaxConcurrentStreams, 2)))
			tc.open(get("/"))
			tc.open(get("/"))
			tc.write(wholeResponse(3, "200"))
			tc.write(frame.MakeSettings(setting(frame.SettingMaxConcurrentStreams, 1)))
			tc.open(get("/")) // 5 waits
			tc.forget()
			ask(tt.action)
			var want []string
			if tt.refusal != 0 {
				want = []string{fmt.Sprint(tt.action.Kind, " ", tt.action.Stream, " ", tt.action.N, ": ", tt.refusal)}
			}
			if diff := cmp.Diff(want, s.refused); diff != "" {
				t.Errorf("refusals (-want +got)\n%s", diff)
			}
			tc.want("on the wire", tt.sent...)
			tc.write(wholeResponse(1, "200"))
			tc.wantEvents("the connection is well", "response stream=1 status=200 END_STREAM", "opened stream=5")
		})
	}
}

// Grants of one turn go out as one frame for each window, in the order in which they were asked for first.
func TestGrantsAreJoined(t *testing.T) {
	rows.Cover(t, "9113-5.1-11")
	tc, _, ask := newScripted(t, 65535, 65535)
	tc.open(get("/"))
	tc.open(get("/"))
	tc.forget()
	ask(flow.GrantStream(3, 10), flow.GrantConn(1), flow.GrantStream(1, 5), flow.GrantConn(2), flow.GrantStream(3, 1))
	tc.want("three frames", frame.WindowUpdate{Stream: 3, Increment: 11}, frame.WindowUpdate{Increment: 3},
		frame.WindowUpdate{Stream: 1, Increment: 5})
	// A stream that has ended by the time the frame is packed gets none (9113-5.1-11).
	tc.pause()
	ask(flow.GrantStream(1, 7), flow.GrantStream(3, 7), flow.GrantConn(1))
	tc.reset(1, frame.Cancel)
	tc.write(wholeResponse(3, "200"))
	tc.resume()
	tc.want("the connection's alone", frame.RSTStream{Stream: 1, Code: frame.Cancel}, frame.WindowUpdate{Increment: 1})
}

// SetInitialWindow: a raise holds at once and moves open streams; a lowered one holds from the acknowledgement; one
// change at a time.
func TestSetInitialWindow(t *testing.T) {
	rows.Cover(t, "9113-6.5.3-6", "9113-6.9.3-1")
	tc, s, ask := newScripted(t, 1000, 65535)
	tc.open(get("/"))
	tc.write(head(1, "200"), data(1, 400))
	tc.forget()

	ask(flow.SetInitialWindow(2000), flow.SetInitialWindow(3000))
	tc.want("one SETTINGS", frame.MakeSettings(setting(frame.SettingInitialWindowSize, 2000)))
	if len(s.refused) != 1 || s.events[len(s.events)-1].InitialWindow != 2000 {
		t.Errorf("refused %v; the last event shows an initial window of %d", s.refused, s.events[len(s.events)-1].InitialWindow)
	}
	tc.write(data(1, 1600)) // the server may use it as soon as it knows
	tc.wantEvents("the raise is in force", "data stream=1 len=1600")
	tc.write(frame.Settings{Ack: true})
	tc.wantStreamWindow("2,000 less 2,000", 1, 0)
	tc.forget()

	ask(flow.SetInitialWindow(500))
	tc.write(frame.Settings{Ack: true})
	tc.wantStreamWindow("below 0 now", 1, -1500)
	ask(flow.GrantStream(1, 1600))
	tc.wantStreamWindow("grants count from there", 1, 100)
	tc.forget()
	tc.write(data(1, 100))
	tc.wantEvents("100 fit", "data stream=1 len=100")
	tc.write(data(1, 1))
	tc.wantEvents("101 do not", "stream-error stream=1 FLOW_CONTROL_ERROR answered")

	id := tc.open(get("/"))
	tc.write(head(id, "200"), data(id, 500))
	tc.forget()
	tc.write(data(id, 1))
	tc.wantEvents("a new stream has 500", "stream-error stream=3 FLOW_CONTROL_ERROR answered")
}

// A raise that takes the window of one stream above 2^31-1 is refused; once that stream is over it is not.
func TestSetInitialWindowOverflow(t *testing.T) {
	tc, s, ask := newScripted(t, 65535, 65535)
	tc.open(get("/"))
	tc.open(get("/"))
	ask(flow.GrantStream(1, 1000))
	tc.forget()
	ask(flow.SetInitialWindow(1<<31 - 1000))
	if want := fmt.Sprint(flow.ActSetInitialWindow, " 0 2147482648: ", flow.RefusedOverflow); len(s.refused) != 1 || s.refused[0] != want {
		t.Errorf("refused %v", s.refused)
	}
	tc.wantIdle("nothing is sent")
	ask(flow.SetInitialWindow(1<<31 - 1 - 1000))
	tc.want("to 2^31-1 exactly", frame.MakeSettings(setting(frame.SettingInitialWindowSize, 1<<31-1-1000)))
	tc.write(frame.Settings{Ack: true}, wholeResponse(1, "200"))
	tc.forget()
	ask(flow.SetInitialWindow(1<<31 - 1))
	tc.want("the stream is over", frame.MakeSettings(setting(frame.SettingInitialWindowSize, 1<<31-1)))
}

// So is one that takes the window of a stream above 2^31-1 on which the server has nothing more to send: it is open for
// the server as long as the upload goes on, and a strict one looks at all its windows.
func TestSetInitialWindowOverflowOfAHalfClosedStream(t *testing.T) {
	tc, s, ask := newScripted(t, 65535, 65535)
	id := tc.upload(post())
	ask(flow.GrantStream(uint32(id), 1000))
	tc.write(wholeResponse(id, "200"))
	tc.forget()
	ask(flow.SetInitialWindow(1<<31 - 1000))
	tc.wantIdle("nothing is sent")
	if len(s.refused) != 1 {
		t.Errorf("refused %v", s.refused)
	}
	tc.endStream(id)
	tc.forget()
	ask(flow.SetInitialWindow(1<<31 - 1000))
	tc.want("the stream is over", frame.MakeSettings(setting(frame.SettingInitialWindowSize, 1<<31-1000)))
}

// What the strategy is told of one response, in order, with the state of both windows.
func TestStrategyEvents(t *testing.T) {
	tc, s, _ := newScripted(t, 1000, 65535)
	s.events = nil
	tc.open(get("/"))
	tc.step(func(s *side) { s.c.ReaderWaiting(tc.now, 1, 512) })
	tc.step(func(s *side) { s.c.ReaderWaiting(tc.now, 1, 512) })
	tc.step(func(s *side) { s.c.ReaderAway(tc.now, 1) })
	tc.step(func(s *side) { s.c.ReaderAway(tc.now, 1) })
	tc.step(func(s *side) { s.c.ReaderWaiting(tc.now, 1, 512) })
	tc.write(head(1, "200", field("content-length", "30")))
	tc.write(frame.Data{Stream: 1, Data: make([]byte, 20), Padded: true, PadLength: 9})
	tc.step(func(s *side) { s.c.ReaderWaiting(tc.now, 1, 512) }) // there is something to read
	tc.consume(1, 15)
	tc.consume(1, 5)
	tc.step(func(s *side) { s.c.ReaderWaiting(tc.now, 1, 512) })
	tc.write(lastData(1, 10))
	tc.reset(1, frame.Cancel)
	tc.write(data(3, 0)) // an error, after which nothing is told
	w := func(consumed, received, charged int64) flow.Offsets {
		return flow.Offsets{Consumed: consumed, Received: received, Charged: charged, Granted: 1000}
	}
	type told struct {
		kind   flow.EventKind
		n      int64
		end    bool
		stream flow.Offsets
	}
	want := []told{
		{flow.StreamOpened, 0, false, w(0, 0, 0)},
		{flow.ReaderWaiting, 512, false, w(0, 0, 0)},
		{flow.ReaderAway, 0, false, w(0, 0, 0)},
		{flow.ReaderWaiting, 512, false, w(0, 0, 0)},
		{flow.ResponseHead, 30, false, w(0, 0, 0)},
		{flow.FrameStart, 30, false, w(0, 0, 30)},
		{flow.Padding, 10, false, w(10, 10, 30)},
		{flow.Received, 20, false, w(10, 30, 30)},
		{flow.Consumed, 15, false, w(25, 30, 30)},
		{flow.Consumed, 5, false, w(30, 30, 30)},
		{flow.ReaderWaiting, 512, false, w(30, 30, 30)},
		{flow.FrameStart, 10, false, w(30, 30, 40)},
		{flow.Received, 10, true, w(30, 40, 40)},
		{flow.StreamClosed, 10, false, w(40, 40, 40)},
	}
	var got []told
	for _, ev := range s.events {
		got = append(got, told{ev.Kind, ev.N, ev.End, ev.StreamWindow})
		if ev.Stream != 1 || ev.OpenStreams > 1 || ev.InitialWindow != 1000 || ev.ConnWindow.Granted != 65535 ||
			ev.ConnWindow.Consumed != ev.StreamWindow.Consumed {
			t.Errorf("%+v", ev)
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(told{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A strategy is woken when it wants to be, from the beginning on.
func TestStrategyDeadline(t *testing.T) {
	var made []*scripted
	tc := newTestConn(t, withStrategy(func() flow.Strategy {
		s := &scripted{returning: returning{stream: 65535, conn: 65535}, tick: epoch.Add(time.Second)}
		made = append(made, s)
		return s
	}))
	tc.wantDeadline("before any event", time.Second)
	for _, s := range made {
		s.next = nil
	}
	tc.advance(999 * time.Millisecond)
	if n := len(made[0].events); n != 0 {
		t.Fatalf("%d events", n)
	}
	for _, s := range made {
		s.next = []flow.Action{flow.GrantConn(5)}
	}
	tc.forget()
	tc.advanceToDeadline()
	tc.want("what it asks for at its Tick is sent", frame.WindowUpdate{Increment: 5})
	if made[0].events[0].Kind != flow.Tick {
		t.Errorf("told %v", made[0].events)
	}
}

// wild asks for anything at any event: sensible grants, absurd ones, on any stream. It keeps what was accepted.
type wild struct {
	t        *testing.T
	rand     *rand.Rand
	windows  flow.Windows
	asked    []flow.Action           // by the last Decide; a refusal takes one out
	accepted map[uint32]int64        // grants that no frame has carried yet
	settings []int64                 // initial windows that no frame has carried yet
	initial  int64                   // the one asked for last
	pings    int                     // likewise
	counts   map[flow.ActionKind]int // accepted
	refusals map[flow.Refusal]int
}

func (w *wild) Open(time.Time) flow.Windows { return w.windows }
func (w *wild) Deadline() time.Time         { return time.Time{} }

// account takes the actions of the last Decide that were not refused as accepted.
func (w *wild) account() {
	for _, a := range w.asked {
		switch a.Kind {
		case flow.ActGrantConn:
			w.accepted[0] += a.N
		case flow.ActGrantStream:
			w.accepted[a.Stream] += a.N
		case flow.ActSetInitialWindow:
			if a.N != w.initial {
				w.settings = append(w.settings, a.N)
				w.initial = a.N
			}
		case flow.ActPing:
			w.pings++
		}
		w.counts[a.Kind]++
	}
	w.asked = nil
}

func (w *wild) Decide(_ time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	if ev.Kind == flow.ActionRefused {
		w.refusals[ev.Refusal]++
		for i, a := range w.asked {
			if a == ev.Action {
				w.asked = append(w.asked[:i:i], w.asked[i+1:]...)
				return dst
			}
		}
		w.t.Errorf("%v was refused and not asked for", ev.Action)
		return dst
	}
	w.account()
	start := len(dst)
	if due := ev.ConnWindow.Due(w.windows.Conn); due > 0 && w.rand.IntN(4) > 0 {
		dst = append(dst, flow.GrantConn(due))
	}
	if due := ev.StreamWindow.Due(ev.InitialWindow); due > 0 && ev.Stream != 0 && w.rand.IntN(4) > 0 {
		dst = append(dst, flow.GrantStream(ev.Stream, due))
	}
	numbers := []int64{-1, 0, 1, 1000, 65535, 1 << 20, 1<<31 - 1, 1 << 31, math.MaxInt64, math.MinInt64}
	for w.rand.IntN(3) == 0 {
		n := numbers[w.rand.IntN(len(numbers))]
		switch w.rand.IntN(8) {
		case 0:
			dst = append(dst, flow.GrantConn(n))
		case 1, 2:
			dst = append(dst, flow.GrantStream(uint32(w.rand.IntN(40)), n))
		case 3:
			dst = append(dst, flow.GrantStream(w.rand.Uint32(), n))
		case 4:
			dst = append(dst, flow.SetInitialWindow(n))
		case 5:
			dst = append(dst, flow.Ping())
		default:
			dst = append(dst, flow.GrantStream(ev.Stream, n))
		}
	}
	// Two equal actions could not be told apart when one of them is refused.
	seen := map[flow.Action]bool{}
	kept := dst[:start]
	for _, a := range dst[start:] {
		if !seen[a] {
			seen[a], kept = true, append(kept, a)
		}
	}
	w.asked = append([]flow.Action(nil), kept[start:]...)
	return kept
}

// Every WINDOW_UPDATE, every change of the initial window and every probe comes from an action of the strategy that was
// accepted, octet by octet, whatever the traffic; and whatever a strategy asks for, the server finds nothing wrong.
func TestEveryWindowUpdateIsAnActionOfTheStrategy(t *testing.T) {
	updates, probes, changes := 0, 0, 0
	refusals := map[flow.Refusal]int{}
	for seed := range uint64(40) {
		var made []*wild
		windows := flow.Windows{Stream: 20000 + int64(seed)*1000, Conn: 70000}
		tc := newTestConn(t, withChunks(0), withStrategy(func() flow.Strategy {
			w := &wild{t: t, rand: rand.New(rand.NewPCG(seed, 1)), windows: windows, initial: windows.Stream,
				accepted: map[uint32]int64{0: windows.Conn - 65535}, counts: map[flow.ActionKind]int{}, refusals: map[flow.Refusal]int{}}
			made = append(made, w)
			return w
		}))
		w := made[0]
		verify := func() {
			w.account()
			for _, v := range tc.sent {
				switch f := v.(type) {
				case frame.WindowUpdate:
					updates++
					if got := w.accepted[uint32(f.Stream)]; got != int64(f.Increment) {
						tc.fatalf("seed %d: %v, accepted were %d octets", seed, f, got)
					}
					delete(w.accepted, uint32(f.Stream))
				case frame.Ping:
					if !f.Ack {
						probes++
						w.pings--
					}
				case frame.Settings:
					if n := f.Len(); !f.Ack && n > 0 && f.At(n-1).ID == frame.SettingInitialWindowSize && len(w.settings) > 0 {
						changes++
						if got := f.At(n - 1).Value; int64(got) != w.settings[0] {
							tc.fatalf("seed %d: %v, asked for were %v", seed, f, w.settings)
						}
						w.settings = w.settings[1:]
					}
				}
			}
			if w.pings != 0 || w.accepted[0] != 0 || len(w.settings) != 0 {
				tc.fatalf("seed %d: accepted and not sent: %d PINGs, %d octets, settings %v", seed, w.pings, w.accepted[0], w.settings)
			}
			tc.sent = nil
		}
		g := newTraffic(tc, seed)
		verify()
		for range 150 {
			g.step()
			verify()
		}
		if err := tc.c.Err(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for r, n := range w.refusals {
			refusals[r] += n
		}
	}
	t.Logf("%d WINDOW_UPDATE, %d PINGs, %d changes of the initial window; refusals %v", updates, probes, changes, refusals)
	if updates < 500 || probes < 10 || changes < 10 || len(refusals) < 6 {
		t.Error("that is not enough to say anything")
	}
}
