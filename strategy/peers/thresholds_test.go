package peers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/flow"
	"example.com/h2flow/strategy/peers"
)

// first is what a model advertises, and what it grants first on each level when whole frames of 16,384 octets come and
// are read at once: after how many octets, and how much. Zero means nothing within 32 MiB.
type first struct {
	Windows                              flow.Windows
	AtOpen, AtHead                       int64
	StreamAfter, Stream, ConnAfter, Conn int64
}

func TestFirstGrants(t *testing.T) {
	tests := []struct {
		spec string
		want first
	}{
		{"peer:nethttp", first{
			Windows:     flow.Windows{Stream: 4194304, Conn: 1073807359},
			StreamAfter: 16384, Stream: 16384, ConnAfter: 16384, Conn: 16384,
		}},
		{"peer:grpc-go", first{
			Windows:     flow.Windows{Stream: 65535, Conn: 65535},
			StreamAfter: 16384, Stream: 16384, ConnAfter: 16384, Conn: 16384,
		}},
		{"peer:hyper", first{
			Windows:     flow.Windows{Stream: 2097152, Conn: 5242880},
			StreamAfter: 704512, Stream: 704512, ConnAfter: 1753088, Conn: 1753088,
		}},
		{"peer:hyper-adaptive", first{
			Windows:     flow.Windows{Stream: 65535, Conn: 65535},
			StreamAfter: 32768, Stream: 16384, ConnAfter: 32768, Conn: 16384,
		}},
		{"peer:dotnet", first{
			Windows:     flow.Windows{Stream: 65535, Conn: 67108864},
			StreamAfter: 16384, Stream: 16384, ConnAfter: 8388608, Conn: 8388608,
		}},
		{"peer:nghttp2", first{
			Windows:     flow.Windows{Stream: 65535, Conn: 65535},
			StreamAfter: 32768, Stream: 32768, ConnAfter: 32768, Conn: 32768,
		}},
		{"peer:h2load", first{
			Windows:     flow.Windows{Stream: 1073741823, Conn: 1073741823},
			StreamAfter: 0, Stream: 0, ConnAfter: 0, Conn: 0,
		}},
		{"peer:curl", first{
			Windows: flow.Windows{Stream: 65536, Conn: 1048576000}, AtHead: 10420224,
			StreamAfter: 5242880, Stream: 5242880, ConnAfter: 0, Conn: 0,
		}},
		{"peer:node", first{
			Windows:     flow.Windows{Stream: 65535, Conn: 65535},
			StreamAfter: 32768, Stream: 32768, ConnAfter: 32768, Conn: 32768,
		}},
		{"peer:undici", first{
			Windows:     flow.Windows{Stream: 262144, Conn: 524288},
			StreamAfter: 131072, Stream: 131072, ConnAfter: 262144, Conn: 262144,
		}},
		{"peer:python-h2", first{
			Windows:     flow.Windows{Stream: 65535, Conn: 65535},
			StreamAfter: 32768, Stream: 32768, ConnAfter: 32768, Conn: 32768,
		}},
		{"peer:httpx", first{
			Windows: flow.Windows{Stream: 65535, Conn: 16842751}, AtOpen: 16777216,
			StreamAfter: 8421376, Stream: 8421376, ConnAfter: 8421376, Conn: 8421376,
		}},
		{"peer:grpc-java", first{
			Windows:     flow.Windows{Stream: 1048576, Conn: 1048576},
			StreamAfter: 524288, Stream: 524288, ConnAfter: 524288, Conn: 524288,
		}},
		{"peer:netty", first{
			Windows:     flow.Windows{Stream: 65535, Conn: 65535},
			StreamAfter: 32768, Stream: 32768, ConnAfter: 32768, Conn: 32768,
		}},
		{"peer:jetty", first{
			Windows:     flow.Windows{Stream: 8388608, Conn: 16777216},
			StreamAfter: 4210688, Stream: 4210688, ConnAfter: 8404992, Conn: 8404992,
		}},
		{"peer:chromium", first{
			Windows:     flow.Windows{Stream: 6291456, Conn: 15728640},
			StreamAfter: 3162112, Stream: 3162112, ConnAfter: 7880704, Conn: 7880704,
		}},
		{"peer:firefox", first{
			Windows: flow.Windows{Stream: 131072, Conn: 12582912}, AtOpen: 12451840,
			StreamAfter: 4194304, Stream: 4194304, ConnAfter: 4194304, Conn: 4194304,
		}},
		{"peer:okhttp", first{
			Windows:     flow.Windows{Stream: 16777216, Conn: 16777216},
			StreamAfter: 8388608, Stream: 8388608, ConnAfter: 8388608, Conn: 8388608,
		}},
		{"peer:dart", first{
			Windows:     flow.Windows{Stream: 65535, Conn: 65535},
			StreamAfter: 16384, Stream: 16384, ConnAfter: 16384, Conn: 16384,
		}},
		{"peer:swift-nio", first{
			Windows:     flow.Windows{Stream: 65535, Conn: 65535},
			StreamAfter: 32768, Stream: 32768, ConnAfter: 32768, Conn: 32768,
		}},
		{"peer:envoy", first{
			Windows:     flow.Windows{Stream: 16777216, Conn: 25165824},
			StreamAfter: 8388608, Stream: 8388608, ConnAfter: 12582912, Conn: 12582912,
		}},
		{"peer:mod_http2", first{
			Windows:     flow.Windows{Stream: 65535, Conn: 2147483647},
			StreamAfter: 32768, Stream: 32768, ConnAfter: 0, Conn: 0,
		}},
		{"peer:quic-go", first{
			Windows:     flow.Windows{Stream: 524288, Conn: 786432},
			StreamAfter: 131072, Stream: 131072, ConnAfter: 196608, Conn: 196608,
		}},
		{"peer:quiche", first{
			Windows:     flow.Windows{Stream: 16384, Conn: 65535},
			StreamAfter: 16384, Stream: 16384, ConnAfter: 32768, Conn: 32768,
		}},
		{"peer:neqo", first{
			Windows:     flow.Windows{Stream: 65535, Conn: 65535},
			StreamAfter: 16384, Stream: 16384, ConnAfter: 16384, Conn: 16384,
		}},
		{"peer:linux", first{
			Windows:     flow.Windows{Stream: 65535, Conn: 65535},
			StreamAfter: 16384, Stream: 16384, ConnAfter: 16384, Conn: 16384,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.spec, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, drive(parse(t, tt.spec))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if len(tests) < len(peers.Names()) {
		t.Errorf("%d models, %d rows", len(peers.Names()), len(tests))
	}
}

var now = time.Unix(1000, 0)

// drive gives s one stream of 32 MiB. Windows are not enforced: the rule is what is looked at.
func drive(cfg flow.Config) first {
	now := now
	s := cfg.New()
	var f first
	f.Windows = s.Open(now)
	conn := flow.Offsets{Granted: f.Windows.Conn}
	stream := flow.Offsets{Granted: f.Windows.Stream}
	tell := func(ev flow.Event) (onStream, onConn int64) {
		ev.Stream, ev.StreamWindow, ev.ConnWindow, ev.InitialWindow, ev.OpenStreams = 1, stream, conn, f.Windows.Stream, 1
		for _, a := range s.Decide(now, ev, nil) {
			switch a.Kind {
			case flow.ActGrantStream:
				onStream += a.N
			case flow.ActGrantConn:
				onConn += a.N
			}
		}
		stream.Granted += onStream
		conn.Granted += onConn
		return onStream, onConn
	}
	f.AtOpen, _ = tell(flow.Event{Kind: flow.StreamOpened})
	f.AtHead, _ = tell(flow.Event{Kind: flow.ResponseHead, N: 64 << 20})
	for got := int64(0); got < 32<<20; {
		const frame = 16384
		note := func(onStream, onConn int64) {
			if f.Stream == 0 && onStream > 0 {
				f.StreamAfter, f.Stream = got, onStream
			}
			if f.Conn == 0 && onConn > 0 {
				f.ConnAfter, f.Conn = got, onConn
			}
		}
		got += frame
		stream.Charged, conn.Charged = got, got
		note(tell(flow.Event{Kind: flow.FrameStart, N: frame}))
		for _, n := range []int64{5000, frame - 5000} {
			stream.Received += n
			conn.Received += n
			note(tell(flow.Event{Kind: flow.Received, N: n}))
			stream.Consumed += n
			conn.Consumed += n
			note(tell(flow.Event{Kind: flow.Consumed, N: n}))
		}
		now = now.Add(time.Millisecond)
	}
	return f
}

// What a defect breaks, it breaks in the kit too.
func TestDefects(t *testing.T) {
	tests := []struct {
		spec string
		want []string
	}{
		{"peer:dotnet:defects=true", []string{"padding is given back"}},
		{"peer:okhttp:defects=true", []string{"cancelled streams leak nothing and give nothing twice"}},
		{"peer:dart:defects=true", []string{
			"padding is given back", "cancelled streams leak nothing and give nothing twice", "any mix of streams ends",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.spec, func(t *testing.T) {
			got, lines := broken(parse(t, tt.spec))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s%v", diff, lines)
			}
		})
	}
}

// The estimate is below a connection window of 1 MiB at first: the difference without a sign is no increment.
func TestUnsignedDifference(t *testing.T) {
	_, lines := broken(parse(t, "peer:grpc-go:conn=1MiB:defects=true"))
	if len(lines) == 0 || !strings.Contains(lines[0], "GrantConn n=4294049790: window above 2^31-1") {
		t.Errorf("want an increment that no frame can express, got %q", lines)
	}
	got, _ := broken(parse(t, "peer:grpc-go:conn=1MiB"))
	if diff := cmp.Diff([]string{"slow and bursty readers do not inflate the window"}, got); diff != "" {
		t.Errorf("without the defect (-want +got):\n%s", diff)
	}
}
