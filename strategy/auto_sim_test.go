package strategy_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"example.com/h2flow/sim"
)

// simulate runs s with one strategy.
func simulate(t *testing.T, s sim.Scenario, spec string) sim.Result {
	t.Helper()
	s.Strategy = spec
	r, err := sim.Run(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Records {
		if x.Outcome != sim.OutcomeOK {
			t.Fatalf("%s: %s: %s: %q", s.Title(), spec, x.Outcome, r.Errors)
		}
	}
	return r
}

// windowBound is the most that Auto's windows may hold on a path with that product: 2.2 products and 256 KiB, or 1 MiB.
func windowBound(product int64) int64 { return max(product*11/5+256<<10, 1<<20) }

// Auto is as fast as windows without bounds, on every path, with windows of little more than two products at most and
// few frames, without one PING.
func TestAutoFillsThePath(t *testing.T) {
	var ratios []float64
	for _, rtt := range []float64{1, 5, 20, 50, 100, 300} {
		for _, rate := range []float64{10, 100, 1000} {
			for _, segments := range []int{10, 32} {
				s := sim.Scenario{
					RTTMs: rtt, RateMbit: rate, Bytes: 10 << 20, Requests: 2, InitialWindowSegments: segments,
					Name: fmt.Sprintf("%v ms, %v Mbit/s, %d segments", rtt, rate, segments),
				}
				best := simulate(t, s, "unlimited").Records
				for i, r := range simulate(t, s, "auto").Records {
					ratio := r.Seconds / best[i].Seconds
					ratios = append(ratios, ratio)
					if ratio > 1.03 {
						t.Errorf("%s, request %d: %.3f times as long as with unlimited windows", s.Name, i, ratio)
					}
					if bound := windowBound(r.BDPBytes); r.PeakWindowBytes > bound {
						t.Errorf("%s, request %d: the window held %d octets, more than %d", s.Name, i, r.PeakWindowBytes, bound)
					}
					if trips := r.Seconds * 1000 / rtt; float64(r.WindowUpdates) > 16*trips {
						t.Errorf("%s, request %d: %d WINDOW_UPDATEs in %.1f round trips", s.Name, i, r.WindowUpdates, trips)
					}
					if r.Pings > 0 {
						t.Errorf("%s, request %d: %d PINGs", s.Name, i, r.Pings)
					}
				}
			}
		}
	}
	slices.Sort(ratios)
	if median := ratios[len(ratios)/2]; median > 1.01 {
		t.Errorf("the median ratio to unlimited windows is %.4f", median)
	}
}

// Octets that are lost at random cost no more with Auto's windows than with unlimited ones.
func TestAutoBearsLoss(t *testing.T) {
	for _, rtt := range []float64{20, 50} {
		var cold, warm []float64
		for seed := range uint64(24) {
			s := sim.Scenario{RTTMs: rtt, RateMbit: 100, Bytes: 10 << 20, Requests: 2, Loss: 0.001, Seed: seed}
			got, best := simulate(t, s, "auto").Records, simulate(t, s, "unlimited").Records
			cold = append(cold, got[0].Seconds/best[0].Seconds)
			warm = append(warm, got[1].Seconds/best[1].Seconds)
		}
		slices.Sort(cold)
		slices.Sort(warm)
		if c, w := cold[12], warm[12]; c > 1.03 || w > 1.03 {
			t.Errorf("%v ms: median ratios to unlimited windows %.3f cold and %.3f warm", rtt, c, w)
		}
	}
}

// A server whose own window is open from the beginning is held back for as many round trips as the window takes to
// double up to what is needed.
func TestAutoOpensForAnOpenServer(t *testing.T) {
	for _, size := range []int64{10 << 20, 100 << 20} {
		s := sim.Scenario{RTTMs: 50, RateMbit: 1000, Bytes: size, InitialWindowSegments: 20000}
		got, best := simulate(t, s, "auto").Records[0], simulate(t, s, "unlimited").Records[0]
		need := math.Ceil(math.Log2(float64(min(size, 2*got.BDPBytes)) / (512 << 10)))
		if trips := (got.Seconds - best.Seconds) * 1000 / s.RTTMs; trips > need {
			t.Errorf("%d octets: %.1f round trips more than with unlimited windows, want at most %v", size, trips, need)
		}
	}
}

// The window grows from 1 MiB to 56 MB within 10 round trips if the server makes use of it.
func TestAutoGrowsFast(t *testing.T) {
	s := sim.Scenario{RTTMs: 50, RateMbit: 10000, Bytes: 400 << 20, InitialWindowSegments: 400000, SeriesMs: 1}
	var begin, grown float64
	for _, x := range simulate(t, s, "auto:max=128MiB").Records[0].Series {
		if begin == 0 && x.ReceivedBytes > 0 {
			begin = x.Seconds
		}
		if grown == 0 && x.WindowBytes >= 56e6 {
			grown = x.Seconds
		}
	}
	if trips := (grown - begin) * 1000 / s.RTTMs; grown == 0 || trips > 10 {
		t.Errorf("56 MB were reached after %.1f round trips, want at most 10", trips)
	}
}

// A new stream on a warm connection has at once what the connection has learned.
func TestAutoRemembers(t *testing.T) {
	s := sim.Scenario{RTTMs: 50, RateMbit: 1000, Bytes: 10 << 20, Requests: 8}
	best := simulate(t, s, "unlimited").Records
	for i, r := range simulate(t, s, "auto").Records[1:] {
		if ratio := r.Seconds / best[i+1].Seconds; ratio > 1.02 {
			t.Errorf("request %d: %.3f times as long as with unlimited windows", i+1, ratio)
		}
	}
}

// Readers that take little, or seldom, are given little.
func TestAutoSlowReaders(t *testing.T) {
	tests := []struct {
		reader string
		bytes  int64
		after  float64 // seconds
		unread int64   // at most, after that
		window int64
	}{
		{"burst:bytes=65536:every=100ms", 5 << 20, 2.1, 384 << 10, 384 << 10},
		{"rate:mbit=8", 10 << 20, 2.1, 384 << 10, 384 << 10},
		{"burst:every=1s", 10 << 20, 0, 1 << 20, 1 << 20},
		{"pause:after=2s:for=3s:bytes=65536:every=100ms", 28 << 20, 2, windowBound(625_000), windowBound(625_000)},
		{"pause:after=2s:for=3s:bytes=65536:every=100ms", 28 << 20, 10, 384 << 10, 1 << 20},
	}
	for _, tt := range tests {
		reader, err := sim.ParseReader(tt.reader)
		if err != nil {
			t.Fatal(err)
		}
		s := sim.Scenario{RTTMs: 50, RateMbit: 100, Bytes: tt.bytes, Reader: reader, SeriesMs: 10}
		r := simulate(t, s, "auto").Records[0]
		var unread, window int64
		for _, x := range r.Series {
			if x.Seconds >= tt.after {
				unread, window = max(unread, x.UnreadBytes), max(window, x.WindowBytes)
			}
		}
		if unread > tt.unread || window > tt.window {
			t.Errorf("%s: after %v s up to %d octets unread and %d with the window, want %d and %d",
				tt.reader, tt.after, unread, window, tt.unread, tt.window)
		}
	}
}

// One stream of a hundred that nobody reads costs the others nothing, and they share alike.
func TestAutoManyStreams(t *testing.T) {
	s := sim.Scenario{RTTMs: 50, RateMbit: 100, Bytes: 1 << 20, Streams: 100, UnreadStreams: 1}
	got, best := simulate(t, s, "auto"), simulate(t, s, "unlimited")
	if ratio := got.Records[0].Seconds / best.Records[0].Seconds; ratio > 1.01 {
		t.Errorf("%.3f times as long as with unlimited windows", ratio)
	}
	if fair := got.Fairness(); fair < 0.98 {
		t.Errorf("Jain's index is %.3f", fair)
	}
	if r := got.Records[0]; r.PeakBufferedBytes > 2<<20 {
		t.Errorf("%d octets were unread", r.PeakBufferedBytes)
	}
}

// Small responses beside a large one wait little longer than with a window of one product, and not for the large one.
func TestAutoLatencyBesideBulk(t *testing.T) {
	p99 := func(spec string) float64 {
		s := sim.Scenario{RTTMs: 50, RateMbit: 100, QueueBDP: 1, Bytes: 100 << 20, SmallBytes: 1024, SmallEveryMs: 60}
		var times []float64
		for _, x := range simulate(t, s, spec).Streams {
			if x.Small && x.Seconds > 0 {
				times = append(times, x.Seconds)
			}
		}
		slices.Sort(times)
		return times[len(times)*99/100]
	}
	got, one, unlimited := p99("auto"), p99("fixed:stream=625000:conn=625000"), p99("unlimited")
	if got > 1.5*one || got > unlimited {
		t.Errorf("the 99th percentile is %.1f ms, %.1f with one product, %.1f unlimited", got*1e3, one*1e3, unlimited*1e3)
	}
}

// A path that becomes longer, or narrower, or is shared with others, does not leave Auto behind.
func TestAutoFollowsChanges(t *testing.T) {
	tests := []struct {
		scenario sim.Scenario
		ratio    float64
	}{
		{sim.Scenario{Name: "longer", RTTMs: 20, Changes: []sim.Change{{AtMs: 3000, RTTMs: 100}}}, 1.25},
		{sim.Scenario{Name: "shorter", RTTMs: 100, Changes: []sim.Change{{AtMs: 3000, RTTMs: 20}}}, 1.01},
		{sim.Scenario{Name: "narrower", RTTMs: 50, Changes: []sim.Change{{AtMs: 3000, RateMbit: 20}}}, 1.01},
		{sim.Scenario{Name: "half of it taken", RTTMs: 50,
			CrossTraffic: []sim.CrossTraffic{{StartMs: 2000, StopMs: 5000, RateMbit: 50}}}, 1.02},
	}
	for _, tt := range tests {
		s := tt.scenario
		s.RateMbit, s.Bytes = 100, 100<<20
		if ratio := simulate(t, s, "auto").Records[0].Seconds / simulate(t, s, "unlimited").Records[0].Seconds; ratio > tt.ratio {
			t.Errorf("%s: %.3f times as long as with unlimited windows, want at most %v", s.Name, ratio, tt.ratio)
		}
	}
	// Of a path that one TCP flow fills from 2 s on, Auto keeps at least a half of an equal share; an unlimited window
	// takes more than its share.
	s := sim.Scenario{RTTMs: 50, RateMbit: 100, Bytes: 100 << 20, CrossTraffic: []sim.CrossTraffic{{StartMs: 2000}}}
	if r := simulate(t, s, "auto").Records[0]; r.Seconds > 2+2*2*(r.IdealSeconds-2) {
		t.Errorf("shared with another flow: %.1f s, alone %.1f", r.Seconds, r.IdealSeconds)
	}
}

// A server that tolerates two PINGs between its frames never objects.
func TestAutoNeverPingsTooMuch(t *testing.T) {
	reader, err := sim.ParseReader("rate:mbit=8")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []sim.Scenario{
		{RTTMs: 50, RateMbit: 100, Bytes: 400 << 20},
		{RTTMs: 200, RateMbit: 10, Bytes: 40 << 20, Requests: 3, GapMs: 12000},
		{RTTMs: 50, RateMbit: 100, Bytes: 30 << 20, Reader: reader},
	} {
		s.Server.PingStrikes = 2
		r := simulate(t, s, "auto")
		for _, x := range r.Records {
			if float64(x.Pings) > 1+x.Seconds/10 {
				t.Errorf("%d PINGs in %.0f s", x.Pings, x.Seconds)
			}
		}
	}
}
