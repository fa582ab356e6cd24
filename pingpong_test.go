package h2flow_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"text/tabwriter"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/flow"
	"example.com/h2flow/internal/pipe"
	"example.com/h2flow/strategy"
)

// download is what one response cost.
type download struct {
	time    time.Duration
	metrics flow.Metrics
}

// downloads fetches size octets from Go's own HTTP/2 server over link in virtual time, rounds times on one connection.
func downloads(t *testing.T, link pipe.Link, fc flow.Config, size, rounds int) []download {
	var all []download
	synctest.Test(t, func(t *testing.T) {
		listener := pipe.Listen(link)
		srv := &http.Server{Handler: testHandler(t), Protocols: new(http.Protocols)}
		srv.Protocols.SetUnencryptedHTTP2(true)
		go srv.Serve(listener)
		nc, err := listener.Dial()
		if err != nil {
			t.Fatal(err)
		}
		meter := new(flow.Meter)
		c, err := h2flow.NewClientConn(nc, &h2flow.Config{
			Flow:   flow.Observe(fc, func() flow.Observer { return meter }),
			Reader: h2flow.ReaderShared,
		})
		if err != nil {
			t.Fatal(err)
		}
		for range rounds {
			start := time.Now()
			s, err := c.OpenStream(context.Background(), &h2flow.Request{
				Method: "GET", Scheme: "http", Authority: "x", Path: "/bytes/10485760", EndStream: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, s)
			if err != nil || n != int64(size) {
				t.Fatalf("%v: %d octets, %v", fc, n, err)
			}
			all = append(all, download{time.Since(start), meter.Metrics()})
			s.Close()
		}
		c.Close()
		srv.Close()
		synctest.Wait()
	})
	return all
}

// TestGrowingWindowRemovesPingPong shows what the project is for. With the protocol's own window of 65,535 octets a
// server that has sent them waits for a WINDOW_UPDATE, one round trip for each window: 160 of them for 10 MiB. A window
// that is large, or grows, removes the waiting. The clock is virtual and the server Go's own.
func TestGrowingWindowRemovesPingPong(t *testing.T) {
	const size = 10 << 20
	link := pipe.Link{RTT: 50 * time.Millisecond, Rate: 1e9, Queue: 8 << 20}
	testBody(size) // made in real time, before the clock matters
	rows := []struct {
		name        string
		config      flow.Config
		warm        bool
		least, most float64 // round trips spent waiting
	}{
		{"unlimited", strategy.Unlimited{}, false, -0.1, 0.1},
		{"fixed, 65,535", strategy.Fixed{Stream: 65535, Conn: 65535}, false, 150, 165},
		{"fixed, stream 32 MiB, connection 65,535", strategy.Fixed{Stream: 32 << 20, Conn: 65535}, false, 150, 165},
		{"fixed, 32 MiB", strategy.Fixed{Stream: 32 << 20, Conn: 32 << 20}, false, -0.1, 0.2},
		{"threshold", strategy.Threshold{}, false, -0.1, 0.2},
		{"auto, cold", strategy.Auto{}, false, -0.1, 5},
		{"auto, warm", strategy.Auto{}, true, -0.1, 0.2},
		{"bdp, cold", strategy.BDP{}, false, -0.1, 5},
		{"bdp, warm", strategy.BDP{}, true, -0.1, 0.2},
	}
	base := downloads(t, link, strategy.Unlimited{}, size, 2)
	w := tabwriter.NewWriter(t.Output(), 0, 0, 3, ' ', 0)
	io.WriteString(w, "strategy\tround trips spent waiting for credit\ttime\tratio to the unlimited window\tWINDOW_UPDATEs\n")
	for _, row := range rows {
		all, round := downloads(t, link, row.config, size, 2), 0
		if row.warm {
			round = 1
		}
		d := all[round]
		waited := float64(d.time-base[round].time) / float64(link.RTT)
		fmt.Fprintf(w, "%s\t%.1f\t%v\t%.2f\t%d\n", row.name, waited, d.time.Round(time.Millisecond),
			float64(d.time)/float64(base[round].time), d.metrics.WindowUpdates)
		if waited < row.least || waited > row.most {
			t.Errorf("%s: %.2f round trips spent waiting, want %v to %v", row.name, waited, row.least, row.most)
		}
	}
	w.Flush()
}
