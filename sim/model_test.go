package sim_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/sim"
)

const ms = 1e-3

// one returns the only record of a run that must succeed.
func one(t *testing.T, s sim.Scenario) sim.Record {
	t.Helper()
	r := run(t, s)
	if len(r.Records) != 1 || r.Records[0].Outcome != sim.OutcomeOK {
		t.Fatalf("records %+v, errors %q; want one that is ok", r.Records, r.Errors)
	}
	return r.Records[0]
}

// within complains if got is not within the tolerance, a fraction, of want.
func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if got < want*(1-tolerance) || got > want*(1+tolerance) {
		t.Errorf("%s is %.4f, want %.4f within %g %%", what, got, want, 100*tolerance)
	}
}

// eager gives every octet back as soon as it is read, one frame on each level: the smallest window at its best.
type eager struct{ window int64 }

func (e eager) New() flow.Strategy          { return e }
func (e eager) String() string              { return fmt.Sprintf("eager:window=%d", e.window) }
func (e eager) Deadline() time.Time         { return time.Time{} }
func (e eager) Open(time.Time) flow.Windows { return flow.Windows{Stream: e.window, Conn: e.window} }
func (e eager) Decide(_ time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	if ev.Kind != flow.Consumed {
		return dst
	}
	return append(dst, flow.GrantStream(ev.Stream, ev.N), flow.GrantConn(ev.N))
}

// forgetful never gives anything back.
type forgetful struct{ eager }

func (f forgetful) New() flow.Strategy { return f }
func (forgetful) Decide(_ time.Time, _ flow.Event, dst []flow.Action) []flow.Action {
	return dst
}

func TestAConstantWindowGivesOneWindowEachRoundTrip(t *testing.T) {
	for _, rtt := range []float64{10, 50, 200} {
		for _, window := range []int64{65535, 262144} {
			s := sim.Scenario{
				RTTMs: rtt, Bytes: 100 * window, Flow: eager{window}, InitialWindowSegments: 1000, ReceiveBufferBytes: -1,
			}
			// One round trip for the handshake, one for the request and the first window, 99 for those that follow.
			within(t, fmt.Sprintf("RTT %g ms, window %d: time in seconds", rtt, window), one(t, s).Seconds, 101*rtt*ms, 0.02)
		}
	}
}

func TestBlockedTimeIsTheTimeThatTheWindowCosts(t *testing.T) {
	s := sim.Scenario{RTTMs: 50, Bytes: 10 << 20, InitialWindowSegments: 1000, ReceiveBufferBytes: -1}
	s.Flow = eager{65535}
	narrow := one(t, s)
	s.Flow, s.Strategy = nil, "unlimited"
	wide := one(t, s)
	cost := (narrow.Seconds - wide.Seconds) / ms
	within(t, "blocked by the stream's window, in ms,", narrow.BlockedStreamMs, cost, 0.02)
	within(t, "blocked by the connection's window, in ms,", narrow.BlockedConnMs, cost, 0.02)
	if wide.BlockedStreamMs != 0 || wide.BlockedConnMs != 0 {
		t.Errorf("unlimited windows blocked for %g and %g ms", wide.BlockedStreamMs, wide.BlockedConnMs)
	}
}

func TestSlowStartDoublesEachRoundTrip(t *testing.T) {
	const rtt = 100
	for rounds := 2; rounds <= 10; rounds++ {
		for _, initial := range []int{10, 32} {
			most := int64(initial) * (1<<rounds - 1) * 1448 // octets of all rounds
			s := sim.Scenario{
				RTTMs: rtt, Bytes: most - most/100 - 500, Strategy: "unlimited",
				InitialWindowSegments: initial, ReceiveBufferBytes: -1,
			}
			want := float64(1+rounds) * rtt * ms
			if got := one(t, s).Seconds; got < want-1e-9 || got > want+ms {
				t.Errorf("%d rounds from %d segments took %.4f s, want %.4f", rounds, initial, got, want)
			}
			s.Bytes = most + 500
			want += rtt * ms
			if got := one(t, s).Seconds; got < want-1e-9 || got > want+ms {
				t.Errorf("a little more than %d rounds from %d segments took %.4f s, want %.4f", rounds, initial, got, want)
			}
		}
	}
}

func TestAWarmConnectionWithoutWindowsReachesTheIdeal(t *testing.T) {
	for _, control := range []string{"cubic", "reno"} {
		for _, rate := range []float64{10, 100, 1000} {
			for _, rtt := range []float64{1, 20, 100} {
				r := run(t, sim.Scenario{
					RTTMs: rtt, RateMbit: rate, Bytes: 20 << 20, Requests: 5, Strategy: "unlimited", CongestionControl: control,
				})
				last := r.Records[4]
				if last.RatioToIdeal < 1 || last.RatioToIdeal > 1.03 {
					t.Errorf("%s, %g Mbit/s, %g ms: the fifth request took %.3f times the ideal, want 1 to 1.03",
						control, rate, rtt, last.RatioToIdeal)
				}
			}
		}
	}
}

func TestHyStartEndsSlowStartBeforeTheQueueOverflows(t *testing.T) {
	s := sim.Scenario{RTTMs: 50, RateMbit: 100, QueueBDP: 1, Bytes: 5 << 20, Strategy: "unlimited"}
	with := run(t, s)
	s.NoHyStart = true
	without := run(t, s)
	if with.Path.QueueDrops != 0 {
		t.Errorf("%d segments were dropped in slow start with HyStart, want 0", with.Path.QueueDrops)
	}
	if without.Path.QueueDrops < 100 {
		t.Errorf("%d segments were dropped in slow start without HyStart, want an overflow", without.Path.QueueDrops)
	}
}

func TestLossCostsWhatTheControlMakesOfIt(t *testing.T) {
	s := sim.Scenario{RTTMs: 20, RateMbit: 100, Bytes: 10 << 20, Strategy: "unlimited", Loss: 0.01}
	goodput := map[string]float64{}
	for _, control := range []string{"reno", "cubic", "bbr"} {
		s.CongestionControl = control
		for seed := range uint64(5) {
			s.Seed = seed
			r := run(t, s)
			goodput[control] += float64(r.Records[0].Bytes) * 8 / r.Records[0].Seconds / 1e6 / 5
			if r.Path.Retransmitted < r.Path.LossDrops || r.Path.Retransmitted > 2*r.Path.LossDrops+10 {
				t.Errorf("%s, seed %d: %d segments were lost, %d sent again", control, seed, r.Path.LossDrops, r.Path.Retransmitted)
			}
		}
	}
	// The square-root law: reno keeps sqrt(3/2p) segments in a round trip, here 12.2 of 1,448 octets in 20 ms. At such
	// small windows cubic is as friendly as reno.
	within(t, "reno's goodput in Mbit/s", goodput["reno"], 7.1, 0.15)
	within(t, "cubic's goodput in Mbit/s", goodput["cubic"], 7.1, 0.15)
	if goodput["bbr"] < 70 {
		t.Errorf("bbr's goodput is %.1f Mbit/s, want most of the path's 100", goodput["bbr"])
	}
}

func TestAStrategyThatForgetsStalls(t *testing.T) {
	s := sim.Scenario{RTTMs: 10, RateMbit: 100, Bytes: 1 << 20, Requests: 2, Flow: forgetful{eager{100000}}}
	r := run(t, s)
	if len(r.Records) == 0 || r.Records[0].Outcome != sim.OutcomeStalled || r.Records[0].Bytes != 100000 {
		t.Errorf("records %+v; want the first stalled after 100,000 octets", r.Records)
	}
	if len(r.Errors) == 0 {
		t.Error("no error tells of the stall")
	}
}

// prober asks for a PING whenever anything happens.
type prober struct{ eager }

func (p prober) New() flow.Strategy { return p }
func (p prober) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	dst = p.eager.Decide(now, ev, dst)
	if ev.Kind == flow.Received {
		dst = append(dst, flow.Ping())
	}
	return dst
}

func TestAServerMayTakePingsAmiss(t *testing.T) {
	s := sim.Scenario{RTTMs: 10, RateMbit: 100, Bytes: 10 << 20, Flow: prober{eager{1 << 20}}}
	s.Server.PingStrikes = 2
	if got := one(t, s); got.Pings == 0 {
		t.Error("no PING was sent")
	}
	// A server that says nothing while it thinks counts every one.
	s.Requests, s.Reader = 1, sim.Reader{Kind: sim.ReadInBursts, Bytes: 1000, Every: time.Millisecond}
	s.Bytes, s.Flow = 100000, pinging{eager{1 << 20}}
	s.Server = sim.Server{PingStrikes: 1, ThinkMs: 60e3}
	if r := run(t, s); len(r.Errors) == 0 {
		t.Error("two PINGs while the server thought were not objected to")
	}
}

// pinging asks for a PING at each answer to the one before.
type pinging struct{ eager }

func (p pinging) New() flow.Strategy { return p }
func (p pinging) Decide(_ time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	if ev.Kind == flow.StreamOpened || ev.Kind == flow.RTTSample {
		dst = append(dst, flow.Ping())
	}
	return dst
}

// listening notes what it is told of the kernel's round trips.
type listening struct {
	eager
	told  *int
	first *time.Duration
}

func (l listening) New() flow.Strategy { return l }
func (l listening) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	if ev.Kind == flow.RTTSample && ev.Source == flow.SourceKernel {
		*l.told++
		*l.first = ev.RTT
	}
	return l.eager.Decide(now, ev, dst)
}
