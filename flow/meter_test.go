package flow_test

import (
	"testing"
	"time"

	"example.com/h2flow/flow"
	"github.com/google/go-cmp/cmp"
)

// scripted is a strategy whose actions the test chooses.
type scripted struct{ next []flow.Action }

func (s *scripted) New() flow.Strategy { return s }
func (s *scripted) String() string     { return "scripted" }
func (s *scripted) Open(time.Time) flow.Windows {
	return flow.Windows{Stream: 1000, Conn: flow.DefaultWindow}
}
func (s *scripted) Decide(_ time.Time, _ flow.Event, dst []flow.Action) []flow.Action {
	dst = append(dst, s.next...)
	s.next = nil
	return dst
}
func (s *scripted) Deadline() time.Time { return time.Time{} }

func TestMeter(t *testing.T) {
	inner, meter := &scripted{}, &flow.Meter{Series: true}
	cfg := flow.Observe(inner, func() flow.Observer { return meter })
	if got := cfg.String(); got != "scripted" {
		t.Errorf("an observed config is described as the one inside, got %q", got)
	}
	s := cfg.New()
	s.Open(at(0))

	var stream, conn flow.Receive
	conn.Init(flow.DefaultWindow)
	initial := int64(1000)
	decide := func(ev flow.Event, actions ...flow.Action) {
		t.Helper()
		inner.next = actions
		ev.InitialWindow = initial
		ev.ConnWindow = conn.Offsets()
		if ev.Stream != 0 {
			ev.StreamWindow = stream.OffsetsOver(initial)
		}
		got := s.Decide(at(0), ev, []flow.Action{flow.Ping()})
		if diff := cmp.Diff(append([]flow.Action{flow.Ping()}, actions...), got); diff != "" {
			t.Errorf("the observer does not touch the actions (-want +got)\n%s", diff)
		}
	}
	decide(flow.Event{Kind: flow.StreamOpened, Stream: 1}, flow.GrantStream(1, 500), flow.GrantConn(0))
	stream.Grant(500) // the stream's window holds 1,500
	decide(flow.Event{Kind: flow.ActionRefused, Action: flow.GrantConn(0), Refusal: flow.RefusedIncrement})
	stream.ChargeOver(initial, 800)
	conn.Charge(800)
	decide(flow.Event{Kind: flow.FrameStart, Stream: 1, N: 800})
	stream.Receive(800)
	conn.Receive(800)
	decide(flow.Event{Kind: flow.Received, Stream: 1, N: 800}, flow.GrantStream(1, 9000))
	decide(flow.Event{Kind: flow.ActionRefused, Action: flow.GrantStream(1, 9000), Refusal: flow.RefusedClosed})
	stream.Consume(700)
	conn.Consume(700)
	decide(flow.Event{Kind: flow.Consumed, Stream: 1, N: 700}, flow.GrantStream(1, 700), flow.Ping())
	stream.Grant(700)
	decide(flow.Event{Kind: flow.PingSent})
	initial = 3000 // every stream's window moves by 2,000: 3,500
	decide(flow.Event{Kind: flow.SettingsAcked})
	conn.Consume(100)
	decide(flow.Event{Kind: flow.StreamClosed, Stream: 1, N: 100})

	want := flow.Metrics{WindowUpdates: 2, Pings: 1, PeakBufferedBytes: 800, PeakWindowBytes: 3500}
	if diff := cmp.Diff(want, meter.Metrics()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	last := meter.Samples[len(meter.Samples)-1]
	wantLast := flow.Sample{Now: at(0), Consumed: 800, Received: 800, Granted: 65535}
	if diff := cmp.Diff(wantLast, last); diff != "" {
		t.Errorf("with no stream open nothing is held (-want +got)\n%s", diff)
	}
}

func TestMeterRestart(t *testing.T) {
	meter := &flow.Meter{Series: true}
	meter.Opened(at(0), flow.Windows{Stream: 1000, Conn: flow.DefaultWindow})
	decide := func(consumed, received int64) {
		w := flow.Offsets{Consumed: consumed, Received: received, Charged: received, Granted: 1000}
		meter.Decided(at(0), flow.Event{
			Kind: flow.StreamOpened, Stream: 1, StreamWindow: w, ConnWindow: w, InitialWindow: 1000,
		}, []flow.Action{flow.GrantConn(1)})
	}
	decide(0, 900)
	decide(600, 900)
	meter.Restart()
	if meter.Samples != nil {
		t.Errorf("the samples start anew, got %v", meter.Samples)
	}
	decide(700, 900)
	want := flow.Metrics{WindowUpdates: 1, PeakBufferedBytes: 300, PeakWindowBytes: 400}
	if diff := cmp.Diff(want, meter.Metrics()); diff != "" {
		t.Errorf("counts and peaks start from what is there (-want +got)\n%s", diff)
	}
}

func TestMeterSeriesIsSpaced(t *testing.T) {
	meter := &flow.Meter{Series: true, Every: time.Second}
	meter.Opened(at(0), flow.Windows{Stream: 1, Conn: 65535})
	for d := time.Duration(0); d <= 2*time.Second; d += 100 * time.Millisecond {
		meter.Decided(at(d), flow.Event{Kind: flow.Received, N: 1}, nil)
	}
	var got []time.Duration
	for _, s := range meter.Samples {
		got = append(got, s.Now.Sub(start))
	}
	if diff := cmp.Diff([]time.Duration{0, time.Second, 2 * time.Second}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestObserveNothing(t *testing.T) {
	inner := &scripted{}
	if got := flow.Observe(inner, func() flow.Observer { return nil }).New(); got != flow.Strategy(inner) {
		t.Errorf("without an observer the strategy is used as it is, got %T", got)
	}
}
