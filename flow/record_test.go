package flow_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/flow"
)

// half gives both windows of size octets back once half is due, and asks for one PING.
type half struct{ size int64 }

func (h half) New() flow.Strategy          { return h }
func (h half) String() string              { return "half" }
func (h half) Deadline() time.Time         { return time.Time{} }
func (h half) Open(time.Time) flow.Windows { return flow.Windows{Stream: h.size, Conn: h.size} }
func (h half) Decide(_ time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	switch ev.Kind {
	case flow.StreamOpened:
		return append(dst, flow.Ping())
	case flow.Consumed:
		if n := ev.StreamWindow.Due(h.size); n >= h.size/2 {
			dst = append(dst, flow.GrantStream(ev.Stream, n))
		}
		if n := ev.ConnWindow.Due(h.size); n >= h.size/2 {
			dst = append(dst, flow.GrantConn(n))
		}
	}
	return dst
}

// record drives cfg through a body of so many frames of 16,384 octets, and returns the log.
func record(cfg flow.Config, frames int) []byte {
	var r *flow.Recorder
	s := flow.Record(cfg, func(rec *flow.Recorder) { r = rec }).New()
	w := s.Open(at(0))
	stream, conn := flow.Offsets{Granted: w.Stream}, flow.Offsets{Granted: w.Conn}
	now := time.Duration(0)
	tell := func(ev flow.Event) {
		ev.StreamWindow, ev.ConnWindow, ev.InitialWindow, ev.OpenStreams = stream, conn, w.Stream, 1
		for _, a := range s.Decide(at(now), ev, nil) {
			switch a.Kind {
			case flow.ActGrantStream:
				stream.Granted += a.N
			case flow.ActGrantConn:
				conn.Granted += a.N
			}
		}
	}
	tell(flow.Event{Kind: flow.StreamOpened, Stream: 1})
	tell(flow.Event{Kind: flow.ActionRefused, Action: flow.Ping(), Refusal: flow.RefusedPingBudget})
	tell(flow.Event{Kind: flow.RTTSample, Source: flow.SourceSettings, RTT: 20 * time.Millisecond})
	for i := range frames {
		now += time.Millisecond
		stream.Charged, conn.Charged = stream.Charged+16384, conn.Charged+16384
		tell(flow.Event{Kind: flow.FrameStart, Stream: 1, N: 16384})
		stream.Received, conn.Received = stream.Charged, conn.Charged
		tell(flow.Event{Kind: flow.Received, Stream: 1, N: 16384, End: i == frames-1})
		stream.Consumed, conn.Consumed = stream.Charged, conn.Charged
		tell(flow.Event{Kind: flow.Consumed, Stream: 1, N: 16384})
	}
	return bytes.Clone(r.Lines())
}

func readLog(t *testing.T, text []byte) *flow.Log {
	t.Helper()
	l, err := flow.ReadLog(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The format is stable: these lines are what every version reads and writes.
func TestRecorderFormat(t *testing.T) {
	want := `{"log":"h2flow-flow-1","strategy":"half","stream":32768,"conn":65536}
{"t":0,"event":"ActionRefused","action":{"kind":"GrantStream","stream":3,"n":1},"refusal":"no such stream yet","cw":[0,0,0,65536],"iw":32768}
{"t":5000000,"event":"RTTSample","rtt":5000000,"source":"ping","cw":[0,0,0,65536],"pings":1,"do":[{"kind":"Ping"},{"kind":"SetInitialWindow","n":70000}]}
{"t":6000000,"event":"Received","stream":1,"n":100,"end":true,"sw":[0,100,200,32768],"cw":[0,100,200,65536],"open":1,"do":[{"kind":"GrantStream","stream":1,"n":7}]}
`
	l := readLog(t, []byte(want))
	var r *flow.Recorder
	flow.Record(half{32768}, func(rec *flow.Recorder) { r = rec }).New()
	r.Opened(at(0), l.Windows)
	for _, e := range l.Entries {
		r.Decided(at(e.At), e.Event, e.Actions)
	}
	if diff := cmp.Diff(want, string(r.Lines())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The strategy that was recorded answers its own log as it did.
func TestReplayOfTheSameStrategy(t *testing.T) {
	r := readLog(t, record(half{65535}, 100)).Replay(half{65535})
	if len(r.Differences) > 0 || r.Beyond != 0 || r.Recorded != r.Replayed {
		t.Errorf("a strategy differs from itself:\n%s", r)
	}
}

// Another strategy sees its own grants: with a larger window it grants later, and as much in all, but for the window.
func TestReplayOfAnother(t *testing.T) {
	r := readLog(t, record(half{65535}, 100)).Replay(half{131070})
	want := flow.Totals{
		Strategy: "half", Windows: flow.Windows{Stream: 131070, Conn: 131070}, Grants: 50,
		StreamOctets: 1638400, ConnOctets: 1638400, Pings: 1,
	}
	if diff := cmp.Diff(want, r.Replayed); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(r.Differences) != 50 {
		t.Errorf("want 50 differences, got %d:\n%s", len(r.Differences), r)
	}
	// Each frame is larger than this one's window.
	if smaller := readLog(t, record(half{65535}, 100)).Replay(half{8192}); smaller.Beyond != 100 {
		t.Errorf("want 100 frames that were not granted, got\n%s", smaller)
	}
}

func TestReadLogSaysWhichLine(t *testing.T) {
	head := `{"log":"h2flow-flow-1","strategy":"x","stream":1,"conn":65535}` + "\n"
	tests := []struct{ text, want string }{
		{"", "flow log: no first line"},
		{`{"log":"other"}`, `flow log, line 1: format "other": want "h2flow-flow-1"`},
		{head + `{"t":0,"event":"Nothing"}`, `flow log, line 2: unknown event "Nothing"`},
		{head + `{"t":5,"event":"Tick"}` + "\n" + `{"t":4,"event":"Tick"}`, "flow log, line 3: time goes back from 5ns to 4ns"},
	}
	for _, tt := range tests {
		_, err := flow.ReadLog(strings.NewReader(tt.text))
		if err == nil {
			t.Errorf("%q is read", tt.text)
			continue
		}
		if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

// What is read is written again in the same way, and replaying it never panics.
func FuzzLog(f *testing.F) {
	f.Add(record(half{65535}, 8))
	f.Add([]byte(`{"log":"h2flow-flow-1","strategy":"x","stream":1,"conn":65535}` + "\n" + `{"t":0,"event":"Tick"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := flow.ReadLog(bytes.NewReader(text))
		if err != nil {
			return
		}
		l.Replay(half{65535})
		var r *flow.Recorder
		flow.Record(half{1}, func(rec *flow.Recorder) { r = rec }).New()
		r.Opened(at(0), l.Windows)
		for _, e := range l.Entries {
			r.Decided(at(e.At), e.Event, e.Actions)
		}
		again := readLog(t, r.Lines())
		if diff := cmp.Diff(l.Entries, again.Entries); diff != "" {
			t.Errorf("(-read +read again):\n%s", diff)
		}
	})
}
