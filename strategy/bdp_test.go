package strategy_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/flow/flowtest"
	"example.com/h2flow/strategy"
	"github.com/google/go-cmp/cmp"
)

// On a connection that has carried one body, the next takes at most a tenth longer than without any limit.
func TestBDPWarm(t *testing.T) {
	for _, slowStart := range []bool{false, true} {
		for _, mbit := range []int64{100, 1000} {
			for _, rtt := range []time.Duration{10, 50, 100} {
				path := flowtest.Path{RTT: rtt * time.Millisecond, Rate: mbit * 125_000, SlowStart: slowStart}
				t.Run(fmt.Sprintf("%dMbit,%s,slow start %t", mbit, path.RTT, slowStart), func(t *testing.T) {
					const size = 10 << 20
					best, err := flowtest.Download(strategy.Unlimited{}, path, size, size, size)
					if err != nil {
						t.Fatal(err)
					}
					got, err := flowtest.Download(strategy.BDP{}, path, size, size, size)
					if err != nil {
						t.Fatal(err)
					}
					for i := range got {
						ratio := float64(got[i].Took) / float64(best[i].Took)
						t.Logf("download %d: %s, unlimited %s: %.3f; %d grants, peak %d",
							i+1, got[i].Took, best[i].Took, ratio, got[i].Grants, got[i].PeakStream)
						if i > 0 && ratio > 1.1 {
							t.Errorf("download %d took %.2f times as long as without a limit", i+1, ratio)
						}
					}
				})
			}
		}
	}
}

// The window follows the path and stops at twice its product, however much more the budget allows.
func TestBDPWindowIsBoundByThePath(t *testing.T) {
	path := flowtest.Path{RTT: 40 * time.Millisecond, Rate: 125_000_000} // 5,000,000 octets
	got, err := flowtest.Download(strategy.BDP{Max: 1 << 30}, path, 100<<20, 100<<20)
	if err != nil {
		t.Fatal(err)
	}
	if peak := got[1].PeakStream; peak < 5_000_000 || peak > 13_000_000 {
		t.Errorf("want 5,000,000 to 13,000,000 octets, got %d", peak)
	}
	if grants := got[1].Grants; grants > 2*100<<20/1_000_000 {
		t.Errorf("100 MiB should take about 100 grants on each level, took %d", grants)
	}
}

// Streams of an idle connection that turned out small are not each given a window that they will not use.
func TestBDPSmallStreams(t *testing.T) {
	sizes := make([]int64, 20)
	for i := range sizes {
		sizes[i] = 1000
	}
	got, err := download(strategy.BDP{}, append(sizes, 10<<20, 10<<20)...)
	if err != nil {
		t.Fatal(err)
	}
	var grants []int
	for _, r := range got[:20] {
		grants = append(grants, r.Grants)
	}
	want := []int{1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	if diff := cmp.Diff(want, grants); diff != "" {
		t.Errorf("grants for responses of 1,000 octets (-want +got)\n%s", diff)
	}
	best, err := download(strategy.Unlimited{}, 10<<20)
	if err != nil {
		t.Fatal(err)
	}
	if ratio := float64(got[21].Took) / float64(best[0].Took); ratio > 1.1 {
		t.Errorf("the second large body takes %.2f times as long as without limit", ratio)
	}
}

// Nothing that happens for each frame allocates.
func TestDecideDoesNotAllocate(t *testing.T) {
	for _, name := range strategy.Names() {
		s := parse(t, name).New()
		w := s.Open(time.Unix(0, 0))
		actions := make([]flow.Action, 0, 16)
		stream, conn := flow.Offsets{Granted: w.Stream}, flow.Offsets{Granted: w.Conn}
		decide := func(kind flow.EventKind, n int64) {
			actions = s.Decide(time.Unix(0, 0), flow.Event{
				Kind: kind, Stream: 1, N: n, RTT: time.Millisecond, StreamWindow: stream, ConnWindow: conn,
			}, actions[:0])
			for _, a := range actions {
				switch a.Kind {
				case flow.ActGrantStream:
					stream.Granted += a.N
				case flow.ActGrantConn:
					conn.Granted += a.N
				}
			}
		}
		decide(flow.StreamOpened, 0)
		decide(flow.RTTSample, 0)
		got := testing.AllocsPerRun(1000, func() {
			stream.Received, conn.Received = stream.Received+8192, conn.Received+8192
			decide(flow.Received, 8192)
			stream.Consumed, conn.Consumed = stream.Consumed+8192, conn.Consumed+8192
			decide(flow.Consumed, 8192)
		})
		if got != 0 {
			t.Errorf("%s: want no allocation for a frame, got %.1f", name, got)
		}
	}
}
