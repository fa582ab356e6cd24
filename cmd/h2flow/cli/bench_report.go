package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"example.com/h2flow/cmd/h2flow/internal/load"
	"example.com/h2flow/strategy"
)

// A reportCase is one row of the report on dio's http2_adapter, with its figures.
type reportCase struct {
	name         string
	op           string
	size         int64
	streams      int
	perSecond    measure // what the report counts
	http1, http2 float64 // its figures
}

var reportCases = []reportCase{
	{"32 concurrent small requests", load.Get, 1 << 10, 32, speedMeasures[1], 5818, 9772},
	{"1 MiB download", load.Get, 1 << 20, 1, speedMeasures[0], 207.91, 95.06},
	{"10 MiB download", load.Get, 10 << 20, 1, speedMeasures[0], 231.43, 10.81},
	{"1 MiB upload", load.Post, 1 << 20, 1, speedMeasures[0], 212.32, 165.55},
}

// reportRTTs are the paths of the suite; 0 is loopback as it is.
var reportRTTs = []time.Duration{0, time.Millisecond, 10 * time.Millisecond}

// reportVariants are what the suite compares. The windows of 65,535 octets are those of the stack in the report.
func reportVariants() []variant {
	small := strategy.Fixed{Stream: 65535, Conn: 65535}
	return []variant{
		{label: load.HTTP1, client: load.HTTP1},
		{label: load.NetH2, client: load.NetH2},
		{label: load.H2flow + " " + small.String(), client: load.H2flow, flow: small},
		{label: load.H2flow, client: load.H2flow},
	}
}

// reportSuite prints one table: the report's figures, and ours beside them.
func (b *bencher) reportSuite(ctx context.Context, w io.Writer, o *benchOptions) error {
	variants := reportVariants()
	b.total = 2 * len(reportRTTs) * len(reportCases) * len(variants) * o.rounds
	printMachine(w)
	fmt.Fprintf(w, "median of %s of %s each, a server of ours in a process of its own\n",
		count(o.rounds, "round"), o.limit())
	fmt.Fprint(w, "req/s for small requests, MiB/s for the others; in brackets the ratio to HTTP/1.1 (of pairs)\n\n")
	rows := [][]string{{"", "", "report:", "report:", "here:"}, {"", "RTT", "HTTP/1.1", "HTTP/2"}}
	for _, v := range variants {
		rows[1] = append(rows[1], v.label)
	}
	for _, useTLS := range []bool{false, true} {
		for _, rtt := range reportRTTs {
			of, err := b.reportPath(ctx, o, variants, useTLS, rtt)
			if err != nil {
				return err
			}
			rows = append(rows, of...)
		}
	}
	b.clear()
	printAligned(w, rows)
	if b.failure != nil {
		fmt.Fprintf(w, "\nat least one run failed: %s\n", oneLine(b.failure))
	}
	return nil
}

// reportPath does all cases on one path and returns their rows.
func (b *bencher) reportPath(ctx context.Context, o *benchOptions, variants []variant, useTLS bool, rtt time.Duration) (
	rows [][]string, err error,
) {
	for _, rc := range reportCases {
		ro := benchOptions{
			op: rc.op, size: rc.size, streams: rc.streams, conns: 1, warmup: 1, tls: useTLS, rtt: rtt,
			requests: o.requests, duration: o.duration, bodyBuffer: load.DefaultBodyBuffer,
		}
		t, err := ro.startTarget(ctx)
		if err != nil {
			return nil, err
		}
		outcomes, err := b.run(ctx, &benchCase{
			name: rc.name, rttMs: float64(rtt) / float64(time.Millisecond), target: t, spec: ro.spec(), variants: variants,
			rounds: o.rounds,
		})
		t.close()
		if err != nil {
			return nil, err
		}
		transport := "cleartext, "
		if useTLS {
			transport = "TLS, "
		}
		row := []string{
			transport + rc.name, rtt.String(), digits(rc.http1), withRatio(rc.http2, rc.http2/rc.http1),
		}
		for i := range outcomes {
			cell := rc.perSecond.median(outcomes[i].rows)
			ratio := rc.perSecond.ratio(outcomes[i].rows, outcomes[0].rows).Median
			if i == 0 {
				row = append(row, orNone(cell, digits))
			} else {
				row = append(row, withRatio(cell, ratio))
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func withRatio(value, ratio float64) string {
	return orNone(value, digits) + " (" + orNone(ratio, func(f float64) string { return fmt.Sprintf("%.2f", f) }) + ")"
}

// limit says what ends a run.
func (o *benchOptions) limit() string {
	switch {
	case o.requests == 0:
		return o.duration.String()
	case o.duration == 0:
		return count(int(o.requests), "request")
	}
	return fmt.Sprintf("%s or %v", count(int(o.requests), "request"), o.duration)
}
