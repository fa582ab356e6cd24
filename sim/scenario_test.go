package sim_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/sim"
)

func TestScenariosAreJSON(t *testing.T) {
	want := sim.Scenario{
		Name: "all", Strategy: "bdp:max=8MiB", Seed: 3, RTTMs: 12.5, RateMbit: 40, UpRateMbit: 10, Loss: 0.001, QueueBDP: 2,
		QueueBytes: 100000, TraceMs: []int64{1, 2}, Changes: []sim.Change{{AtMs: 1, RTTMs: 2}, {AtMs: 2, RateMbit: 3}}, Requests: 2, Streams: 3,
		Bytes: 1000, GapMs: 5, UnreadStreams: 1, SmallBytes: 10, SmallEveryMs: 20,
		Reader:            sim.Reader{Kind: sim.ReadWithPause, After: time.Second, Pause: time.Minute, Bytes: 10, Every: time.Second},
		CongestionControl: "bbr", NoHyStart: true, InitialWindowSegments: 32, ReceiveBufferBytes: 1 << 20, HandshakeRTTs: 2,
		KernelRTT:   true,
		Server:      sim.Server{FrameBytes: 8192, WriteBytes: 1, ThinkMs: 1, SendBufferBytes: 1 << 20, PingStrikes: 2},
		Connections: 2, StaggerMs: 1, CrossTraffic: []sim.CrossTraffic{{RateMbit: 1}, {CongestionControl: "reno", StopMs: 5}},
		LimitSeconds: 10, SeriesMs: 1, CheckInvariants: true,
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := sim.ReadScenario(text)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("read back: %v (-want +got):\n%s", err, diff)
	}
	for i := range reflect.TypeFor[sim.Scenario]().NumField() {
		f := reflect.TypeFor[sim.Scenario]().Field(i)
		if reflect.ValueOf(want).Field(i).IsZero() && f.Name != "Flow" {
			t.Errorf("the test does not set %s", f.Name)
		}
	}
}

func TestScenariosThatCannotBeRun(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{"rtt": 5}`, `unknown field "rtt"`},
		{`{"loss": 1}`, "loss 1: want 0 to below 1"},
		{`{"rtt_ms": -1}`, "rtt_ms -1"},
		{`{"strategy": "none"}`, `unknown strategy "none"`},
		{`{"congestion_control": "vegas"}`, "want cubic, reno or bbr"},
		{`{"reader": "burst:bytes=5"}`, "bursts need every=TIME"},
		{`{"reader": "fast"}`, `unknown reader "fast"`},
		{`{"reader": "rate:mbit=1:every=1s"}`, `unknown option "every"`},
		{`{"small_bytes": 5}`, "small_bytes without small_every_ms"},
		{`{"streams": 2, "unread_streams": 3}`, "unread_streams 3 of 2 streams"},
		{`{"server": {"frame_bytes": 16385}}`, "frame_bytes 16385"},
		{`{"changes": [{"at_ms": 5}, {"at_ms": 4}]}`, "want times in order"},
		{`{"cross_traffic": [{"rate_mbit": -1}]}`, "cross_traffic 0"},
	}
	for _, tt := range tests {
		if _, err := sim.ReadScenario([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.text, err, tt.want)
		}
	}
}

func TestRecordsHaveTheColumns(t *testing.T) {
	text, err := json.Marshal(sim.Record{Series: []sim.Sample{{}}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"scenario":"","strategy":"","seed":0,"outcome":"","rtt_ms":0,"rate_mbit":0,"loss":0,"reader":"","warm":false,` +
		`"bytes":0,"seconds":0,"ideal_seconds":0,"ratio_to_ideal":0,"blocked_stream_ms":0,"blocked_conn_ms":0,` +
		`"peak_buffered_bytes":0,"peak_window_bytes":0,"bdp_bytes":0,"window_updates":0,"pings":0}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("a record in JSON (-want +got):\n%s", diff)
	}
}

func TestReadersReadBack(t *testing.T) {
	for _, want := range []string{
		"instant", "never", "rate:mbit=0.5", "burst:every=1s", "burst:bytes=65536:every=100ms", "pause:after=2s",
		"pause:after=2s:for=3s:bytes=1:every=1ms",
	} {
		r, err := sim.ParseReader(want)
		if got := r.String(); got != want || err != nil {
			t.Errorf("%s reads back as %s, %v", want, got, err)
		}
	}
}
