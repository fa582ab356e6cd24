package flow_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/h2flow/flow"
)

func TestStall(t *testing.T) {
	spent := flow.Offsets{Consumed: 65535, Received: 65535, Charged: 65535, Granted: 65535}
	open := flow.Offsets{Consumed: 65535, Received: 65535, Charged: 65535, Granted: 100000}
	tests := []struct {
		name    string
		stall   flow.Stall
		blocked bool
		want    string
	}{
		{"stream", flow.Stall{Stream: 1, For: 10 * time.Second, StreamWindow: spent, ConnWindow: open}, true,
			"the strategy granted nothing for 10s: stream 1: no window left on the stream: " +
				"stream window 0 (consumed 65535, received 65535, charged 65535, granted 65535), " +
				"connection window 34465 (consumed 65535, received 65535, charged 65535, granted 100000)"},
		{"connection", flow.Stall{Stream: 3, For: time.Second, StreamWindow: open, ConnWindow: spent, Strategy: "fixed"},
			true,
			"the strategy fixed granted nothing for 1s: stream 3: no window left on the connection: " +
				"stream window 34465 (consumed 65535, received 65535, charged 65535, granted 100000), " +
				"connection window 0 (consumed 65535, received 65535, charged 65535, granted 65535)"},
		{"both", flow.Stall{Stream: 5, For: time.Second}, true,
			"the strategy granted nothing for 1s: stream 5: no window left on the stream or the connection: " +
				"stream window 0 (consumed 0, received 0, charged 0, granted 0), " +
				"connection window 0 (consumed 0, received 0, charged 0, granted 0)"},
		{"neither", flow.Stall{Stream: 7, For: time.Second, StreamWindow: open, ConnWindow: open}, false,
			"the strategy granted nothing for 1s: stream 7: the peer may still send: " +
				"stream window 34465 (consumed 65535, received 65535, charged 65535, granted 100000), " +
				"connection window 34465 (consumed 65535, received 65535, charged 65535, granted 100000)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := fmt.Errorf("read: %w", &tt.stall)
			var stall *flow.Stall
			if !errors.As(err, &stall) {
				t.Fatal("a *Stall is an error that errors.As finds")
			}
			if got := stall.Error(); got != tt.want {
				t.Errorf("want %s\n got %s", tt.want, got)
			}
			if got := stall.Blocked(); got != tt.blocked {
				t.Errorf("blocked: want %t, got %t", tt.blocked, got)
			}
		})
	}
}
