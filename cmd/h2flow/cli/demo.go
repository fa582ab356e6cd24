package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"time"

	"example.com/h2flow/cmd/h2flow/internal/report"
	"example.com/h2flow/flow"
	"example.com/h2flow/strategy"
)

var demoCommand = command{
	name:    "demo",
	summary: "compare HTTP/1.1, net/http's HTTP/2 and h2flow's strategies on an emulated path",
	text: `
Starts Go's own HTTP server in this process, puts an emulated path in front of it (real sockets, real time), and
downloads one body with every client: over HTTP/1.1, which all are compared with, over net/http's HTTP/2, and with
h2flow and each strategy. Every connection is measured cold, its set-up included, and then warm, by a second request.

Without --strategy, the window of 65,535 octets that HTTP/2 starts from is measured cold only, since it takes long. An
RTT of 0 means loopback without the emulated path, and without a rate. Every body is checked.

With --json each run is one line: client, strategy, tls, phase, run, rtt_ms, rate_mbit, bytes, seconds, mib_per_s,
window_updates, pings, peak_buffered_bytes, peak_window_bytes. What is not known is null.`,
	example: `
h2flow demo
h2flow demo --rtt 0,20ms,100ms --rate 1Gbit --strategy bdp,threshold --strategy fixed:stream=1MiB:conn=1MiB -o rtt.html
h2flow demo --full --tls --json > runs.jsonl`,
	prepare: prepareDemo,
}

// demoOptions are what the flags of demo say.
type demoOptions struct {
	size       int64
	rtts       []time.Duration
	rates      []int64
	strategies []flow.Config
	tls        bool
	full       bool
	runs       int // 0: loopbackRuns on loopback, else 1
	json       bool
	report     string
}

// loopbackRuns is how often contenders are measured at an RTT of 0 if --runs does not say. A run takes milliseconds
// there and varies more.
const loopbackRuns = 5

const defaultReport = "report.html"

func prepareDemo(fs *flags) runner {
	var o demoOptions
	o.declare(fs)
	return func(ctx context.Context, e *env, args []string) error {
		if err := o.settle(fs, args); err != nil {
			return err
		}
		return (&demo{env: e, options: o}).run(ctx)
	}
}

func (o *demoOptions) declare(fs *flags) {
	fs.size(&o.size, "size", 10<<20, "`SIZE` of the body")
	o.rtts = []time.Duration{0, 50 * time.Millisecond}
	list(fs, &o.rtts, "rtt", "0,50ms", "round-trip times `TIME,...` of the path", parseTime)
	o.rates = []int64{100e6}
	list(fs, &o.rates, "rate", "100Mbit", "rates `RATE,...` of the path", parseRate)
	fs.strategies(&o.strategies, "strategy", "", "strategies `NAME,...` of h2flow; may be repeated; default:\n"+
		strings.Join(defaultStrategyNames(fs.configs), ",\n"))
	fs.BoolVar(&o.tls, "tls", false, "use TLS, with a certificate made for the purpose")
	fs.BoolVar(&o.full, "full", false, "also measure 1 Gbit/s, and RTTs of 10 and 100 ms")
	fs.IntVar(&o.runs, "runs", 0, fmt.Sprintf(
		"measure `N` connections of each client on each path (default %d at an RTT of 0, else 1)", loopbackRuns))
	fs.BoolVar(&o.json, "json", false, "print one line of JSON for each run instead of the table")
	fs.StringVar(&o.report, "o", defaultReport, "write the report to `FILE`, none if it is -; with --json only if given")
}

// settle checks the options and fills in those that depend on others.
func (o *demoOptions) settle(fs *flags, args []string) error {
	switch {
	case len(args) > 0:
		return usagef("unexpected argument %q", args[0])
	case o.size == 0:
		return usagef("--size must not be 0")
	case o.runs < 0 || fs.given("runs") && o.runs == 0:
		return usagef("--runs must be at least 1")
	}
	if o.full && !fs.given("rtt") {
		o.rtts = []time.Duration{0, 10 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond}
	}
	if o.full && !fs.given("rate") {
		o.rates = []int64{100e6, 1e9}
	}
	if o.report == "-" || o.json && !fs.given("o") {
		o.report = ""
	}
	return nil
}

// cells are the paths to measure: loopback once, then every RTT at every rate.
func (o *demoOptions) cells() []cell {
	var cells []cell
	seen := make(map[cell]bool)
	for _, rate := range o.rates {
		for _, rtt := range o.rtts {
			c := cell{rtt: rtt, rate: rate}
			if rtt == 0 {
				c.rate = 0
			}
			if !seen[c] {
				seen[c] = true
				cells = append(cells, c)
			}
		}
	}
	return cells
}

// runsOn is how often each contender is measured on c.
func (o *demoOptions) runsOn(c cell) int {
	switch {
	case o.runs > 0:
		return o.runs
	case c.rtt == 0:
		return loopbackRuns
	}
	return 1
}

// contenders are the rows of each cell. The first is what the others are compared with.
func (o *demoOptions) contenders(configs []flow.Config) []contender {
	list := []contender{{client: clientHTTP1}, {client: clientNetH2}}
	if len(o.strategies) > 0 {
		for _, s := range o.strategies {
			list = append(list, contender{client: clientH2flow, strategy: s})
		}
		return list
	}
	for i, s := range defaultStrategies(configs) {
		list = append(list, contender{client: clientH2flow, strategy: s, coldOnly: i == 0})
	}
	return list
}

// defaultStrategies are those that demo compares by itself, the slow one first, and the caller's own at the end.
func defaultStrategies(configs []flow.Config) []flow.Config {
	return append([]flow.Config{
		strategy.Fixed{Stream: flow.DefaultWindow, Conn: flow.DefaultWindow},
		strategy.Fixed{Stream: 32 << 20, Conn: 32 << 20},
		strategy.Threshold{},
		strategy.BDP{},
		strategy.Auto{},
	}, configs...)
}

func defaultStrategyNames(configs []flow.Config) []string {
	var names []string
	for _, s := range defaultStrategies(configs) {
		names = append(names, s.String())
	}
	return names
}

// A demo is one run of the verb.
type demo struct {
	env     *env
	options demoOptions

	contenders []contender
	origin     *origin
	progress   *progress
	table      *table
	encoder    *json.Encoder
	report     report.Report
	out        *outFile // for the report; nil without one
	begun      int      // downloads
	total      int
	failed     int   // contenders on a cell
	failure    error // the first
}

func (d *demo) run(ctx context.Context) (err error) {
	d.contenders = d.options.contenders(d.env.configs)
	if d.options.report != "" { // where it cannot be written, nothing need be measured
		if d.out, err = createOut(d.options.report); err != nil {
			return err
		}
		defer d.out.discard()
	}
	if d.origin, err = startOrigin(d.options.size, d.options.tls); err != nil {
		return err
	}
	defer d.origin.close()
	cells := d.options.cells()
	d.total = d.downloads(cells)
	d.progress = newProgress(d.env, d.options.size, "starting")
	defer d.progress.finish()
	d.table = newTable(d.env.stdout, d.contenders)
	d.encoder = json.NewEncoder(d.env.stdout)

	for _, c := range cells {
		if err := d.measure(ctx, c); err != nil {
			return err
		}
	}
	d.progress.finish()
	if err := d.writeReport(); err != nil {
		return err
	}
	if d.failed > 0 {
		return fmt.Errorf("%d of the measurements failed; the first: %w", d.failed, d.failure)
	}
	return nil
}

// downloads is how many there are on all cells together.
func (d *demo) downloads(cells []cell) int {
	n := 0
	for _, cell := range cells {
		for _, c := range d.contenders {
			n += d.options.runsOn(cell) * len(c.phases())
		}
	}
	return n
}

// measure prints the rows of one cell. Its error ends the demo; a contender that fails does not.
func (d *demo) measure(ctx context.Context, c cell) error {
	b, err := newBench(c, d.origin, &d.progress.octets)
	if err != nil {
		return err
	}
	defer b.close()
	runs := d.options.runsOn(c)
	out := report.Cell{Title: c.title()}
	d.head(c, runs)
	for _, contender := range d.contenders {
		var results []result
		var failure error
		for run := 1; run <= runs && failure == nil; run++ {
			begin := func(phase string) { d.begin(contender, phase) }
			failure = b.measure(ctx, contender, run, begin, func(r result) {
				results = append(results, r)
				d.emit(r)
			})
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		row := summarise(contender, results)
		d.add(row, failure)
		out.Rows = append(out.Rows, reportRow(row, results, failure))
	}
	if !d.options.json {
		d.progress.print(d.table.end)
	}
	d.report.Cells = append(d.report.Cells, out)
	return nil
}

// begin shows what is being downloaded.
func (d *demo) begin(c contender, phase string) {
	d.begun++
	d.progress.restart(fmt.Sprintf("%d/%d %s, %s", d.begun, d.total, c.label(), phase))
}

// head prints what stands above the rows of c.
func (d *demo) head(c cell, runs int) {
	if d.options.json {
		return
	}
	note := ""
	if d.options.tls {
		note += ", TLS"
	}
	if runs > 1 {
		note += fmt.Sprintf(", medians of %d connections", runs)
	}
	d.progress.print(func() { d.table.begin(c.title(), d.options.size, note) })
}

func (d *demo) emit(r result) {
	if d.options.json {
		d.progress.print(func() { d.encoder.Encode(r) })
	}
}

func (d *demo) add(r row, failure error) {
	if failure != nil {
		d.failed++
		if d.failure == nil {
			d.failure = failure
		}
	}
	switch {
	case d.options.json:
	case failure != nil:
		d.progress.print(func() { d.table.fail(r.contender, failure) })
	default:
		d.progress.print(func() { d.table.add(r) })
	}
}

func (d *demo) writeReport() error {
	if d.out == nil {
		return nil
	}
	d.report.Size = d.options.size
	d.report.TLS = d.options.tls
	d.report.Machine = fmt.Sprintf("%s/%s, %d processors, %s",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	d.report.Made = time.Now()
	if err := d.report.Write(d.out); err != nil {
		return err
	}
	if err := d.out.commit(); err != nil {
		return err
	}
	fmt.Fprintf(d.env.stderr, "wrote %s\n", d.options.report)
	return nil
}
