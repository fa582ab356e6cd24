package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"example.com/h2flow/cmd/h2flow/internal/load"
)

// A benchCase is one load under which variants of clients are compared.
type benchCase struct {
	name     string // empty outside suites
	rttMs    float64
	target   *target
	spec     load.Spec // without what the variant and the target say
	variants []variant
	rounds   int
}

// An outcome is what became of one variant.
type outcome struct {
	variant variant
	rows    []benchRow // one for each round
	heaps   []float64  // peak heap of each round, in octets
	failure error      // nil, or why it was given up
}

// A benchRow is one run, as --json prints it.
type benchRow struct {
	Client       string   `json:"client"`
	Proto        *string  `json:"proto"`
	TLS          bool     `json:"tls"`
	Op           string   `json:"op"`
	Round        int      `json:"round"`
	Bytes        int64    `json:"bytes"`
	Requests     int64    `json:"requests"`
	Failures     int64    `json:"failures"`
	Conns        int      `json:"conns"`
	Streams      int      `json:"streams"`
	Seconds      float64  `json:"seconds"`
	MiBPerS      float64  `json:"mib_per_s"`
	ReqPerS      float64  `json:"req_per_s"`
	UserS        *float64 `json:"user_s"`
	SysS         *float64 `json:"sys_s"`
	AllocsPerReq *float64 `json:"allocs_per_req"`
	BytesPerReq  *float64 `json:"bytes_per_req"`
	PeakRSSBytes *int64   `json:"peak_rss_bytes"`
	P50Ms        *float64 `json:"p50_ms"`
	P90Ms        *float64 `json:"p90_ms"`
	P99Ms        *float64 `json:"p99_ms"`
	RatioToHTTP1 *float64 `json:"ratio_to_http1"`

	Case  *string  `json:"case,omitempty"`
	RTTMs *float64 `json:"rtt_ms,omitempty"`
}

// A bencher does cases and writes down each run.
type bencher struct {
	env     *env
	lines   []*json.Encoder // where the lines of JSON go
	done    int             // runs so far
	total   int
	failure error // the first that a run had
}

// run does one case: all variants, in turn, as often as there are rounds. A variant that fails altogether is given up.
func (b *bencher) run(ctx context.Context, c *benchCase) ([]outcome, error) {
	outcomes := make([]outcome, len(c.variants))
	for i := range outcomes {
		outcomes[i].variant = c.variants[i]
	}
	for round := 1; round <= c.rounds; round++ {
		for i := range outcomes {
			o := &outcomes[i]
			b.progress("%s%s, round %d", c.label(), o.variant.label, round)
			if o.failure != nil {
				continue
			}
			spec := c.spec
			o.variant.apply(&spec)
			c.target.aim(&spec)
			result, err := runWorker(ctx, spec)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err != nil {
				o.failure = err
				b.fail(fmt.Errorf("client %s: %w", o.variant.label, err))
				continue
			}
			if result.Failures > 0 {
				b.fail(fmt.Errorf("client %s: %d of %d requests failed; the first: %s", o.variant.label, result.Failures,
					result.Failures+result.Requests, result.FirstFailure))
			}
			o.rows = append(o.rows, c.row(o.variant, round, result))
			o.heaps = append(o.heaps, float64(result.PeakHeapBytes))
		}
		if err := b.write(outcomes, round); err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}

func (c *benchCase) label() string {
	if c.name == "" {
		return ""
	}
	return c.name + ", "
}

// fail keeps the first failure, which makes the exit status 1 in the end.
func (b *bencher) fail(err error) {
	if b.failure == nil {
		b.failure = err
	}
}

// write compares the rows of one round with http1's and writes them as JSON.
func (b *bencher) write(outcomes []outcome, round int) error {
	var base *benchRow
	for i := range outcomes {
		if r := outcomes[i].inRound(round); r != nil && outcomes[i].variant.client == load.HTTP1 && base == nil {
			base = r
		}
	}
	for i := range outcomes {
		r := outcomes[i].inRound(round)
		if r == nil {
			continue
		}
		if base != nil {
			r.RatioToHTTP1 = quotient(r.ReqPerS, base.ReqPerS)
		}
		for _, line := range b.lines {
			if err := line.Encode(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// inRound is the row of a round, or nil.
func (o *outcome) inRound(round int) *benchRow {
	if len(o.rows) < round {
		return nil
	}
	return &o.rows[round-1]
}

func (c *benchCase) row(v variant, round int, r *load.Result) benchRow {
	row := benchRow{
		Client: v.label, TLS: c.target.url.Scheme == "https", Op: c.spec.Op, Round: round,
		Bytes: r.Bytes, Requests: r.Requests, Failures: r.Failures, Conns: r.Conns, Streams: r.Streams,
		Seconds: r.Seconds, MiBPerS: float64(r.Bytes) / (1 << 20) / r.Seconds, ReqPerS: float64(r.Requests) / r.Seconds,
		UserS: r.UserSeconds, SysS: r.SysSeconds, PeakRSSBytes: r.PeakRSSBytes,
		AllocsPerReq: quotient(float64(r.Allocs), float64(r.Requests)),
		BytesPerReq:  quotient(float64(r.AllocBytes), float64(r.Requests)),
		P50Ms:        r.P50, P90Ms: r.P90, P99Ms: r.P99,
	}
	if r.Proto != "" {
		row.Proto = &r.Proto
	}
	if c.name != "" {
		row.Case, row.RTTMs = &c.name, &c.rttMs
	}
	return row
}

// cpu is the CPU time of the run, or nil.
func (r *benchRow) cpu() *float64 {
	if r.UserS == nil || r.SysS == nil {
		return nil
	}
	sum := *r.UserS + *r.SysS
	return &sum
}

// quotient is a/b, or nil if that is no number.
func quotient(a, b float64) *float64 {
	if b == 0 {
		return nil
	}
	q := a / b
	return &q
}

// progress shows on a terminal what is going on now.
func (b *bencher) progress(format string, args ...any) {
	b.done++
	if b.env.terminal {
		fmt.Fprintf(b.env.stderr, "\r\x1b[K[%d/%d] "+format, append([]any{b.done, b.total}, args...)...)
	}
}

// clear takes the progress from the terminal.
func (b *bencher) clear() {
	if b.env.terminal {
		fmt.Fprint(b.env.stderr, "\r\x1b[K")
	}
}

// runBench does what the options say.
func runBench(ctx context.Context, e *env, o *benchOptions) (err error) {
	b := &bencher{env: e}
	defer b.clear()
	tables := e.stdout
	if o.json {
		b.lines, tables = append(b.lines, json.NewEncoder(e.stdout)), io.Discard
	}
	if o.out != "" {
		file, err := os.Create(o.out)
		if err != nil {
			return err
		}
		defer func() {
			if closing := file.Close(); err == nil {
				err = closing
			}
		}()
		b.lines = append(b.lines, json.NewEncoder(file))
	}
	switch o.suite {
	case suiteReport:
		err = b.reportSuite(ctx, tables, o)
	case suiteBuffers:
		err = b.buffersSuite(ctx, tables, o)
	case suiteMemory:
		err = b.memorySuite(ctx, tables, o)
	default:
		err = b.single(ctx, tables, o)
	}
	if err != nil {
		return err
	}
	return b.failure
}

// single is bench without a suite.
func (b *bencher) single(ctx context.Context, w io.Writer, o *benchOptions) error {
	t, err := o.startTarget(ctx)
	if err != nil {
		return err
	}
	defer t.close()
	c := &benchCase{target: t, spec: o.spec(), variants: o.variants(), rounds: o.rounds}
	b.total = c.rounds * len(c.variants)
	printMachine(w)
	fmt.Fprintf(w, "%s\n\n", o.title(t))
	outcomes, err := b.run(ctx, c)
	if err != nil {
		return err
	}
	b.clear()
	printOutcomes(w, outcomes)
	return nil
}
