package flow_test

import (
	"testing"
	"time"

	"example.com/h2flow/flow"
)

var start = time.Unix(1000, 0)

func at(d time.Duration) time.Time { return start.Add(d) }

func TestPingBudget(t *testing.T) {
	var b flow.PingBudget
	want := func(why string, d time.Duration, purpose flow.PingPurpose, want flow.Refusal) {
		t.Helper()
		if got := b.Allow(at(d), purpose); got != want {
			t.Fatalf("%s: want %q, got %q", why, want, got)
		}
	}
	ping := func(d time.Duration) {
		t.Helper()
		want("a PING is due", d, flow.Probing, 0)
		b.Sent(at(d))
		want("one is outstanding", d, flow.Liveness, flow.RefusedPingOutstanding)
		b.Answered()
	}

	ping(0)
	ping(0)
	want("two PINGs and no frame of the peer's between", time.Hour, flow.Liveness, flow.RefusedPingBudget)
	b.PeerSpoke()
	ping(0)
	if got := b.SinceFrame(); got != 3 {
		t.Errorf("PINGs since the last frame: want 3, got %d", got)
	}
	want("three PINGs and no frame of ours between", time.Hour, flow.Liveness, flow.RefusedPingBudget)
	b.FrameSent()
	ping(time.Second)
	if got := b.SinceFrame(); got != 1 {
		t.Errorf("PINGs since the last frame: want 1, got %d", got)
	}
	b.PeerSpoke()
	want("the burst of four is used up", time.Second, flow.Probing, flow.RefusedPingBudget)
	want("2 s less 1 ns later", 3*time.Second-1, flow.Probing, flow.RefusedPingBudget)
	want("liveness has to wait 10 s", 11*time.Second-1, flow.Liveness, flow.RefusedPingBudget)
	want("10 s later", 11*time.Second, flow.Liveness, 0)
	if got := b.Next(flow.Probing); !got.Equal(at(3 * time.Second)) {
		t.Errorf("next for probing: want 3 s, got %s", got.Sub(start))
	}
	ping(3 * time.Second)
}

func TestPingBudgetCalm(t *testing.T) {
	var b flow.PingBudget
	if got := b.Next(flow.Liveness); !got.IsZero() {
		t.Errorf("a full budget allows a PING at once, got %s", got)
	}
	b.Calm(at(0))
	if got := b.Next(flow.Probing); !got.Equal(at(4 * time.Second)) {
		t.Errorf("a complaint ends the burst and doubles 2 s: got %s", got.Sub(start))
	}
	b.Calm(at(time.Second))
	if got := b.Next(flow.Liveness); !got.Equal(at(41 * time.Second)) {
		t.Errorf("a second complaint doubles 20 s from its own time on: got %s", got.Sub(start))
	}
	for range 100 {
		b.Calm(at(time.Second))
	}
	if got := b.Next(flow.Liveness); !got.Equal(at(time.Second + time.Hour)) {
		t.Errorf("the interval ends at an hour: got %s", got.Sub(start))
	}
}

// A lifted budget lets PINGs for probing follow each other, one at a time; those for liveness stay limited.
func TestPingBudgetLifted(t *testing.T) {
	var b flow.PingBudget
	b.Lift()
	for range 100 {
		if why := b.Allow(at(0), flow.Probing); why != 0 {
			t.Fatalf("a lifted budget refuses a PING: %s", why)
		}
		b.Sent(at(0))
		if why := b.Allow(at(0), flow.Probing); why != flow.RefusedPingOutstanding {
			t.Fatalf("a second outstanding PING: %s", why)
		}
		b.Answered()
	}
	if why := b.Allow(at(0), flow.Liveness); why != flow.RefusedPingBudget {
		t.Errorf("a PING for liveness: %s", why)
	}
}
