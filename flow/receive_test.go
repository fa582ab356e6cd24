package flow_test

import (
	"testing"

	"example.com/h2flow/flow"
	"github.com/google/go-cmp/cmp"
)

func TestReceive(t *testing.T) {
	var r flow.Receive
	r.Init(flow.DefaultWindow)
	if !r.Charge(65000) {
		t.Fatal("65,000 octets are within the initial window")
	}
	if r.Charge(536) {
		t.Fatal("one octet more than the window is a violation")
	}
	if !r.Charge(535) {
		t.Fatal("the last octet of the window may be used")
	}
	r.Receive(60000)
	r.Consume(50000)
	want := flow.Offsets{Consumed: 50000, Received: 60000, Charged: 65535, Granted: 65535}
	if diff := cmp.Diff(want, r.Offsets()); diff != "" {
		t.Errorf("after a refused charge (-want +got)\n%s", diff)
	}
	if got := r.Unread(); got != 10000 {
		t.Errorf("unread: want 10000, got %d", got)
	}
	r.Grant(50000)
	if got := r.Offsets().Due(flow.DefaultWindow); got != 0 {
		t.Errorf("granting what was consumed leaves nothing due, got %d", got)
	}
}

func TestReceiveCheckGrant(t *testing.T) {
	tests := []struct {
		name          string
		base, charged int64
		n             int64
		want          flow.Refusal
	}{
		{"zero", 65535, 0, 0, flow.RefusedIncrement},
		{"negative", 65535, 0, -1, flow.RefusedIncrement},
		{"to the maximum", 65535, 0, flow.MaxWindow - 65535, 0},
		{"one above the maximum", 65535, 0, flow.MaxWindow - 65535 + 1, flow.RefusedOverflow},
		{"charged octets make room", 65535, 1, flow.MaxWindow - 65535 + 1, 0},
		{"absurd", 65535, 65535, 1<<63 - 1, flow.RefusedOverflow},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stream, conn flow.Receive
			conn.Init(tt.base)
			if !stream.ChargeOver(tt.base, tt.charged) || !conn.Charge(tt.charged) {
				t.Fatal("the charge is within the window")
			}
			if got := stream.CheckGrantOver(tt.base, tt.n); got != tt.want {
				t.Errorf("stream: want %d, got %d", tt.want, got)
			}
			if got := conn.CheckGrant(tt.n); got != tt.want {
				t.Errorf("connection: want %d, got %d", tt.want, got)
			}
		})
	}
}

// A lowered base leaves Granted below Charged: the peer may send nothing but empty frames until grants catch up.
func TestReceiveLoweredBase(t *testing.T) {
	var r flow.Receive
	if !r.ChargeOver(100, 80) {
		t.Fatal("80 of 100 fit")
	}
	want := flow.Offsets{Charged: 80, Granted: 50}
	if diff := cmp.Diff(want, r.OffsetsOver(50)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !r.ChargeOver(50, 0) {
		t.Error("an empty frame needs no window")
	}
	if r.ChargeOver(50, 1) {
		t.Error("the window is -30")
	}
	r.Grant(31)
	if !r.ChargeOver(50, 1) || r.ChargeOver(50, 1) {
		t.Error("the window is 1")
	}
}

func TestReceiveBugs(t *testing.T) {
	tests := []struct {
		name string
		do   func(r *flow.Receive)
	}{
		{"received more than charged", func(r *flow.Receive) { r.Receive(11) }},
		{"consumed more than received", func(r *flow.Receive) { r.Consume(6) }},
		{"received less than nothing", func(r *flow.Receive) { r.Receive(-1) }},
		{"consumed less than nothing", func(r *flow.Receive) { r.Consume(-1) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r flow.Receive
			r.ChargeOver(100, 10)
			r.Receive(5)
			defer func() {
				if s, _ := recover().(string); len(s) < 12 || s[:12] != "h2flow: bug:" {
					t.Errorf("want a panic that begins with \"h2flow: bug:\", got %q", s)
				}
			}()
			tt.do(&r)
		})
	}
}
