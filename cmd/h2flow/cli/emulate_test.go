package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEmulate(t *testing.T) {
	for _, tt := range []struct {
		name  string
		args  []string
		least float64 // seconds of the first request
		want  int     // records
	}{
		{"cold and warm", []string{"--requests", "2"}, 0.020, 2},
		{"a thinking server", []string{"--server-think-ms", "30"}, 0.050, 1},
		{"a paced reader", []string{"--reader", "rate:mbit=16"}, 0.049, 1}, // 100 kB take 50 ms
		{"bursts", []string{"--reader", "burst:bytes=40000:every=20ms"}, 0.060, 1},
		{"bursts of everything", []string{"--reader", "burst:every=30ms"}, 0.030, 1},
		{"a pause", []string{"--reader", "pause:after=5ms:for=50ms"}, 0.055, 1},
		{"one of three streams is never read", []string{"--streams", "3", "--unread-streams", "1"}, 0.020, 1},
		{"two connections", []string{"--connections", "2", "--stagger-ms", "5"}, 0.020, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"emulate", "--json"}, small...)
			s := simCall(t, append(args, tt.args...)...)
			n := 0
			for line := range strings.Lines(s.stdout) {
				var r struct {
					emulatedRecord
					BlockedConnMs json.RawMessage `json:"blocked_conn_ms"`
				}
				if err := json.Unmarshal([]byte(line), &r); err != nil {
					t.Fatal(err)
				}
				streams := int64(1)
				if strings.Contains(tt.name, "three streams") {
					streams = 2
				}
				if r.Outcome != "ok" || r.Path != "relay" || r.Bytes != streams*100_000 || string(r.BlockedConnMs) != "null" {
					t.Errorf("the record is %s", line)
				}
				if n == 0 && r.Seconds < tt.least {
					t.Errorf("it took %v s, want at least %v", r.Seconds, tt.least)
				}
				n++
			}
			if n != tt.want {
				t.Errorf("%d records, want %d", n, tt.want)
			}
		})
	}
}

func TestEmulateTable(t *testing.T) {
	text := simCall(t, append([]string{"emulate", "--strategy", "bdp;unlimited"}, small...)...).stdout
	if strings.Count(text, "1 cold  ") != 2 || !strings.Contains(text, "in sim") {
		t.Errorf("the table is:\n%s", text)
	}
}

func TestEmulateTimeout(t *testing.T) {
	args := append([]string{"emulate", "--json", "--reader", "never", "--limit-seconds", "0.1"}, small...)
	s := call(t.Context(), nil, args...)
	if s.status != 1 || !strings.Contains(s.stdout, `"outcome":"timeout"`) || !strings.Contains(s.stderr, "connection 1, request 1") {
		t.Errorf("status %d, %s, %s", s.status, s.stdout, s.stderr)
	}
}

func TestEmulateRefuses(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--loss 0.1", "cannot do what loss asks for"},
		{"--congestion-control bbr", "congestion_control"},
		{"--receive-buffer-bytes 1MiB", "receive_buffer_bytes"},
		{"--server-ping-strikes 2", "server.ping_strikes"},
		{"rate-rises", "changes"},
		{"shared-bottleneck", "cross_traffic"},
		{"small-beside-bulk", "small_bytes"},
		{"--streams 2 --unread-streams 2", "needs a stream that is read"},
		{"--rtt-ms 1,2", "emulate takes one"},
	} {
		args := append([]string{"emulate"}, strings.Fields(tt.args)...)
		call(t.Context(), nil, args...).wantFailure(t, 2, tt.want)
	}
}
