package h2flow_test

import (
	"context"
	"io"
	"runtime"
	"testing"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/flow"
	"example.com/h2flow/internal/pipe"
	"example.com/h2flow/strategy"
)

// TestB54MemoryAfterBodiesClosedEarly reads a little of each of many large bodies and closes them, one after the other
// on one connection. What they held is given back: the heap does not grow with their number.
func TestB54MemoryAfterBodiesClosedEarly(t *testing.T) {
	testBody(3 << 20)
	everyWay(t, func(t *testing.T, dial func(*h2flow.Config) *h2flow.ClientConn, cfg h2flow.Config) {
		c := dial(&cfg)
		heap := func() int64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int64(m.HeapInuse)
		}
		round := func(n int) {
			for range n {
				s, err := c.OpenStream(context.Background(), &h2flow.Request{
					Method: "GET", Scheme: "http", Authority: "x", Path: "/bytes/3145728", EndStream: true,
				})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.CopyN(io.Discard, s, 64<<10); err != nil {
					t.Fatal(err)
				}
				s.Close()
			}
		}
		round(5)
		before := heap()
		round(60)
		if grown := heap() - before; grown > 16<<20 {
			t.Errorf("the heap grew by %d octets over 60 bodies of 3 MiB", grown)
		}
	})
}

// TestB60WindowCapsTheSpeed: what a strategy reaches on a long path agrees with its bound, window / round trip for the
// fixed ones, and the link's own rate for those that are large or grow.
func TestB60WindowCapsTheSpeed(t *testing.T) {
	const size = 10 << 20
	link := pipe.Link{RTT: 100 * time.Millisecond, Rate: 100e6, Queue: 8 << 20}
	testBody(size)
	for _, row := range []struct {
		config flow.Config
		window int64 // what bounds it; 0: the link alone
	}{
		{strategy.Fixed{Stream: 65535, Conn: 65535}, 65535},
		{strategy.Fixed{Stream: 4 << 20, Conn: 65535}, 65535},
		{strategy.Fixed{Stream: 256 << 10, Conn: 1 << 20}, 256 << 10},
		{strategy.Threshold{}, 0},
		{strategy.BDP{}, 0},
	} {
		took := downloads(t, link, row.config, size, 2)[1].time.Seconds()
		bound := size*8/float64(link.Rate) + link.RTT.Seconds()
		if row.window > 0 {
			bound = float64(size) / float64(row.window) * link.RTT.Seconds()
		}
		if took < 0.85*bound || took > 1.15*bound {
			t.Errorf("%v: %.2f s, its bound is %.2f s", row.config, took, bound)
		}
	}
}
