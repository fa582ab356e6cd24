package cli

import (
	"context"
	"fmt"
	"io"

	"example.com/h2flow/cmd/h2flow/internal/load"
)

// The sizes that the suite compares, in octets.
const (
	smallBuffer     = 4 << 10
	largeSendBuffer = 128 << 10
	largeReadBuffer = 256 << 10
)

// uploadVariants are the clients of the upload, with a small and a large write buffer each. net/http's HTTP/1.1 passes
// a body of known length by its buffer, so it is also measured without one; its HTTP/2 has no such option.
func uploadVariants() []variant {
	var variants []variant
	for _, v := range []variant{
		{label: "http1", client: load.HTTP1},
		{label: "http1 chunked", client: load.HTTP1, chunked: true},
		{label: "h2flow", client: load.H2flow},
		{label: "h2flow-raw", client: load.H2flowRaw},
	} {
		for _, n := range []int64{smallBuffer, largeSendBuffer} {
			w := v
			w.label, w.writeBuffer = v.label+" write-buffer="+formatSize(n), n
			variants = append(variants, w)
		}
	}
	return append(variants, variant{label: load.NetH2, client: load.NetH2})
}

// downloadVariants are the same for the download and the read buffer.
func downloadVariants() []variant {
	var variants []variant
	for _, client := range []string{load.HTTP1, load.H2flow, load.H2flowRaw} {
		for _, n := range []int64{smallBuffer, largeReadBuffer} {
			variants = append(variants, variant{
				label: client + " read-buffer=" + formatSize(n), client: client, readBuffer: n,
			})
		}
	}
	return append(variants, variant{label: load.NetH2, client: load.NetH2})
}

// buffersSuite prints one table for each operation and transport.
func (b *bencher) buffersSuite(ctx context.Context, w io.Writer, o *benchOptions) error {
	cases := []struct {
		name, op string
		size     int64
		variants []variant
	}{
		{"upload", load.Post, o.size, uploadVariants()},
		{"download", load.Get, max(o.size/10, 1), downloadVariants()},
	}
	for _, c := range cases {
		b.total += 2 * o.rounds * len(c.variants)
	}
	printMachine(w)
	fmt.Fprintf(w, "one request each, set-up included, medians of %s, a server of ours in a process of its own\n\n",
		count(o.rounds, "round"))
	for _, c := range cases {
		for _, useTLS := range []bool{true, false} {
			bo := benchOptions{
				op: c.op, size: c.size, streams: 1, conns: 1, requests: 1, tls: useTLS, bodyBuffer: load.DefaultBodyBuffer,
			}
			t, err := bo.startTarget(ctx)
			if err != nil {
				return err
			}
			name := fmt.Sprintf("%s of %s", c.name, formatSize(c.size))
			outcomes, err := b.run(ctx, &benchCase{
				name: name, target: t, spec: bo.spec(), variants: c.variants, rounds: o.rounds,
			})
			t.close()
			if err != nil {
				return err
			}
			b.clear()
			printBuffers(w, fmt.Sprintf("%s, %s", name, t.url.Scheme), outcomes)
		}
	}
	return nil
}

// printBuffers prints one table. The last column compares a large buffer with the small one in the row above.
func printBuffers(w io.Writer, title string, outcomes []outcome) {
	speed := speedMeasures[0]
	measures := []measure{
		{"real s", func(r *benchRow) *float64 { return &r.Seconds }, digits},
		{"user s", func(r *benchRow) *float64 { return r.UserS }, digits},
		{"sys s", func(r *benchRow) *float64 { return r.SysS }, digits},
		speed,
	}
	head := []string{title}
	for _, m := range measures {
		head = append(head, m.title)
	}
	rows := [][]string{append(head, "large/small")}
	for i, o := range outcomes {
		row := []string{o.variant.label}
		for _, m := range measures {
			row = append(row, m.cell(o.rows))
		}
		if larger := o.variant.readBuffer + o.variant.writeBuffer; larger > smallBuffer {
			row = append(row, showSummary(speed.ratio(o.rows, outcomes[i-1].rows)))
		} else {
			row = append(row, "")
		}
		rows = append(rows, row)
	}
	printAligned(w, rows)
	for _, o := range outcomes {
		if o.failure != nil {
			fmt.Fprintf(w, "%s failed: %s\n", o.variant.label, oneLine(o.failure))
		}
	}
	fmt.Fprintln(w)
}
