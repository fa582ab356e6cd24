package sim_test

import (
	"testing"
	"time"

	"example.com/h2flow/sim"
)

// bulk is a download over a path of 20 ms and 100 Mbit/s.
func bulk(strategy string, octets int64) sim.Scenario {
	return sim.Scenario{RTTMs: 20, RateMbit: 100, Bytes: octets, Strategy: strategy}
}

func TestReadersSetThePace(t *testing.T) {
	tests := []struct {
		reader string
		want   float64 // seconds for 4 MiB
	}{
		{"instant", 0.45},
		{"rate:mbit=8", 4.23},
		{"burst:bytes=64KiB:every=100ms", 6.44},
		{"burst:bytes=1MiB:every=1s", 4.04},
		{"pause:after=200ms:for=2s", 2.45}, // and slow start again after it
	}
	for _, tt := range tests {
		t.Run(tt.reader, func(t *testing.T) {
			s := bulk("fixed:stream=1MiB:conn=1MiB", 4<<20)
			var err error
			if s.Reader, err = sim.ParseReader(tt.reader); err != nil {
				t.Fatal(err)
			}
			r := one(t, s)
			within(t, "time in seconds", r.Seconds, tt.want, 0.05)
			if r.PeakWindowBytes > 1<<20 || r.PeakBufferedBytes > 1<<20 {
				t.Errorf("window %d, buffered %d: more than 1 MiB", r.PeakWindowBytes, r.PeakBufferedBytes)
			}
		})
	}
}

func TestNobodyReads(t *testing.T) {
	s := bulk("fixed:stream=1MiB:conn=1MiB", 4<<20)
	s.Reader = sim.Reader{Kind: sim.ReadNever}
	s.LimitSeconds = 60
	r := run(t, s)
	got := r.Records[0]
	if got.Outcome != sim.OutcomeTimeout || got.Bytes != 0 || got.PeakBufferedBytes != 1<<20 || got.Seconds != 60 {
		t.Errorf("record %+v; want a timeout with one window buffered", got)
	}
	if got.BlockedStreamMs < 59000 {
		t.Errorf("blocked for %g ms of a minute", got.BlockedStreamMs)
	}
}

func TestEqualStreamsShareEqually(t *testing.T) {
	s := bulk("bdp", 1<<20)
	s.Streams = 20
	r := run(t, s)
	if got := r.Fairness(); got < 0.99 || got > 1 {
		t.Errorf("Jain's index is %.4f, want almost 1", got)
	}
	if len(r.Streams) != 20 || r.Records[0].Bytes != 20<<20 {
		t.Errorf("%d streams and %d octets, want 20 and 20 MiB", len(r.Streams), r.Records[0].Bytes)
	}
}

func TestAnUnreadStreamStopsNobody(t *testing.T) {
	s := bulk("bdp", 1<<20)
	s.Streams, s.UnreadStreams, s.Requests = 10, 1, 2
	for _, got := range run(t, s).Records {
		if got.Outcome != sim.OutcomeOK || got.Bytes != 9<<20 || got.RatioToIdeal > 1.25 || got.Warm && got.RatioToIdeal > 1.13 {
			t.Errorf("record %+v; want 9 MiB at the rate of the path, less the megabyte that nobody reads", got)
		}
	}
}

func TestSmallResponsesBesideBulk(t *testing.T) {
	s := bulk("bdp", 4<<20)
	s.SmallBytes, s.SmallEveryMs = 1000, 50
	small := 0
	for _, x := range run(t, s).Streams {
		if !x.Small {
			continue
		}
		small++
		if x.Seconds >= 0 && (x.Bytes != 1000 || x.Seconds < 0.02 || x.Seconds > 0.2) {
			t.Errorf("small response %+v; want 1,000 octets in 20 to 200 ms", x)
		}
	}
	if small < 6 || small > 9 {
		t.Errorf("%d small responses in about 0.4 s, want one each 50 ms", small)
	}
}

func TestConnectionsShareTheBottleneck(t *testing.T) {
	s := bulk("unlimited", 8<<20)
	s.Connections = 4
	r := run(t, s)
	var last float64
	for i, got := range r.Records {
		if got.Connection != i || got.Outcome != sim.OutcomeOK {
			t.Errorf("record %d is %+v", i, got)
		}
		last = max(last, got.Seconds)
	}
	within(t, "the time of the last of four in seconds", last, 4*one(t, bulk("unlimited", 8<<20)).IdealSeconds, 0.05)
}

func TestCrossTrafficTakesItsShare(t *testing.T) {
	s := bulk("unlimited", 8<<20)
	s.CrossTraffic = []sim.CrossTraffic{{RateMbit: 50}}
	within(t, "beside half of the rate, the ratio to the ideal", one(t, s).RatioToIdeal, 2, 0.15)

	s.CrossTraffic = []sim.CrossTraffic{{}}
	s.StaggerMs = 0
	if got := one(t, s).RatioToIdeal; got < 1.4 {
		t.Errorf("beside a flow of TCP the ratio to the ideal is %.2f, want more than 1.4", got)
	}
	s.CrossTraffic[0].StopMs = 1
	if got := one(t, s).RatioToIdeal; got > 1.4 {
		t.Errorf("beside one that ends at once the ratio to the ideal is %.2f, want less than 1.4", got)
	}
}

func TestThePathChangesOnTheWay(t *testing.T) {
	s := bulk("unlimited", 10<<20)
	s.Changes = []sim.Change{{AtMs: 500, RateMbit: 50}}
	// Up to 0.5 s a half is through; the other half takes twice as long.
	within(t, "time with half of the rate from 0.5 s in seconds", one(t, s).Seconds, 0.5+2*0.475, 0.05)

	s = bulk("fixed", 4<<20)
	s.Changes = []sim.Change{{AtMs: 0, RTTMs: 40}}
	slow := one(t, s).Seconds
	s.RTTMs, s.Changes = 40, nil
	within(t, "time with the round trip that it changed to", slow, one(t, s).Seconds, 0.02)
}

func TestWarmRequestsAndPauses(t *testing.T) {
	s := bulk("unlimited", 1<<20)
	s.Requests, s.GapMs = 3, 5000
	r := run(t, s)
	for i, got := range r.Records {
		if got.Warm != (i > 0) || got.Request != i || got.Bytes != 1<<20 {
			t.Errorf("record %d is %+v", i, got)
		}
	}
	idle := r.Records[1].Seconds
	s.GapMs = 0
	r = run(t, s)
	if cold, warm := r.Records[0].Seconds, r.Records[1].Seconds; warm > cold-0.05 || idle < warm+0.03 {
		t.Errorf("cold %.3f s, at once after that %.3f s, after five idle seconds %.3f s: "+
			"want slow start in the first and the last", cold, warm, idle)
	}
}

func TestTheSeriesEndsWhereTheRecordDoes(t *testing.T) {
	s := bulk("bdp", 4<<20)
	s.SeriesMs = 5
	got := one(t, s)
	last := got.Series[len(got.Series)-1]
	if last.ReceivedBytes != 4<<20 || last.ConsumedBytes != 4<<20 || last.Seconds != got.Seconds {
		t.Errorf("the last sample is %+v; want all octets, at %g s", last, got.Seconds)
	}
	var peak int64
	for i, x := range got.Series {
		peak = max(peak, x.WindowBytes)
		if i > 0 && x.Seconds < got.Series[i-1].Seconds+s.SeriesMs*ms-1e-9 && i < len(got.Series)-1 {
			t.Errorf("sample %d comes %g s after the one before", i, x.Seconds-got.Series[i-1].Seconds)
		}
	}
	if peak == 0 || peak > got.PeakWindowBytes {
		t.Errorf("the series peaks at %d, the record says %d", peak, got.PeakWindowBytes)
	}
	if len(got.Series) < 50 {
		t.Errorf("%d samples of 5 ms in %g s", len(got.Series), got.Seconds)
	}
}

func TestTheServerThinksAndHandshakesTakeTime(t *testing.T) {
	s := bulk("unlimited", 1000)
	within(t, "time of a small request", one(t, s).Seconds, 0.040, 0.01)
	s.Server.ThinkMs, s.HandshakeRTTs = 30, 2
	within(t, "time with TLS and a server that thinks", one(t, s).Seconds, 0.090, 0.01)
}

func TestTheKernelsRoundTripIsToldBeforeTheFirstRequest(t *testing.T) {
	told := 0
	var first time.Duration
	s := bulk("", 1000)
	s.Flow = listening{eager{65535}, &told, &first}
	one(t, s)
	if told != 0 {
		t.Error("the kernel's round trip was told without being asked for")
	}
	s.KernelRTT = true
	one(t, s)
	if told != 1 || first.Round(time.Millisecond) != 20*time.Millisecond {
		t.Errorf("told %d times, %v first; want once, 20 ms", told, first)
	}
}

// A handler that hands over 32 KiB at a time gets a frame of its own for what a window left of a chunk, so that a client
// which grants at half sees whole halves: as many grants as the body has, and not fewer and larger ones.
func TestChunksKeepFramesInStep(t *testing.T) {
	grants := func(chunk int64) int64 {
		r, err := sim.Run(sim.Scenario{
			RTTMs: 50, RateMbit: 100, Bytes: 10 << 20, Requests: 2, Strategy: "threshold:stream=65535:conn=65535:fraction=1/2",
			Server: sim.Server{ChunkBytes: chunk},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r.Records[1].WindowUpdates
	}
	if whole, chunks := grants(0), grants(32<<10); whole >= chunks || chunks < 630 || chunks > 640 {
		t.Errorf("want 640 grants for chunks and fewer without, got %d and %d", chunks, whole)
	}
}
