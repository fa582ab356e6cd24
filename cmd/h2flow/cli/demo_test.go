package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/strategy"
)

// demoNames are the names of a run, in the order in which they are printed.
const demoNames = "client strategy tls phase run rtt_ms rate_mbit bytes seconds mib_per_s " +
	"window_updates pings peak_buffered_bytes peak_window_bytes"

// demoRun is a line of demo's JSON with what does not depend on the machine.
type demoRun struct {
	Client, Strategy, Phase string
	Run                     int
	RTT, Rate               string
	Known                   string // which figures are not null
}

func TestDemoJSON(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		tls  bool
		net  string // what is known about net/http's HTTP/2 behind the relay
	}{
		{"cleartext", nil, false, "window_updates pings"},
		{"TLS", []string{"--tls"}, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := call(t.Context(), nil, append([]string{"demo", "--json", "--size", "200KiB", "--rtt", "0,2ms",
				"--rate", "1Gbit", "--runs", "1", "--strategy", "fixed,bdp"}, tt.args...)...)
			if s.status != 0 || s.stderr != "" {
				t.Fatalf("status %d, %q on standard error; want 0 and nothing", s.status, s.stderr)
			}
			var got, want []demoRun
			for line := range strings.Lines(s.stdout) {
				got = append(got, parseRun(t, line, tt.tls))
			}
			const all = "window_updates pings peak_buffered_bytes peak_window_bytes"
			for _, path := range []struct{ rtt, rate, net string }{{"0", "null", ""}, {"2", "1000", tt.net}} {
				for _, c := range []struct{ client, strategy, known string }{
					{"http1", "null", ""}, {"net/http-h2", "null", path.net},
					{"h2flow", `"` + strategy.Fixed{}.String() + `"`, all}, {"h2flow", `"` + strategy.BDP{}.String() + `"`, all},
				} {
					for _, phase := range []string{"cold", "warm"} {
						want = append(want, demoRun{c.client, c.strategy, phase, 1, path.rtt, path.rate, c.known})
					}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
		})
	}
}

// parseRun checks the line and returns what does not depend on the machine.
func parseRun(t *testing.T, line string, tls bool) demoRun {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(line))
	var names []string
	values := make(map[string]json.RawMessage)
	if _, err := decoder.Token(); err != nil {
		t.Fatal(err)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
		names = append(names, name.(string))
		values[name.(string)] = value
	}
	if diff := cmp.Diff(demoNames, strings.Join(names, " ")); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	var r result
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatal(err)
	}
	if r.TLS != tls || r.Bytes != 200<<10 || r.Seconds <= 0 || r.MiBPerS <= 0 {
		t.Errorf("tls, bytes, seconds or mib_per_s is wrong: %s", line)
	}
	if r.PeakWindowBytes != nil && *r.PeakWindowBytes < flow.DefaultWindow {
		t.Errorf("peak_window_bytes is below the window that every connection starts from: %s", line)
	}
	var known []string
	for _, name := range []string{"window_updates", "pings", "peak_buffered_bytes", "peak_window_bytes"} {
		if string(values[name]) != "null" {
			known = append(known, name)
		}
	}
	return demoRun{
		r.Client, string(values["strategy"]), r.Phase, r.Run, string(values["rtt_ms"]), string(values["rate_mbit"]),
		strings.Join(known, " "),
	}
}

// TestDemoIsBoundByTheWindow: 1 MiB in windows of 65,535 octets takes 16 round trips after the first, whatever the rate.
func TestDemoIsBoundByTheWindow(t *testing.T) {
	s := call(t.Context(), nil, "demo", "--json", "--size", "1MiB", "--rtt", "10ms", "--rate", "1Gbit", "--strategy",
		"fixed:stream=65535:conn=65535,fixed:stream=4MiB:conn=4MiB")
	if s.status != 0 {
		t.Fatalf("status %d: %s", s.status, s.stderr)
	}
	var warm []result
	for line := range strings.Lines(s.stdout) {
		var r result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Client == clientH2flow && r.Phase == phaseWarm {
			warm = append(warm, r)
		}
	}
	if len(warm) != 2 {
		t.Fatalf("%d warm runs of h2flow, want 2:\n%s", len(warm), s.stdout)
	}
	small, large := warm[0], warm[1]
	if trips := small.Seconds / 0.010; trips < 16 {
		t.Errorf("with 65,535 octets it took %.1f round trips, fewer than the window allows", trips)
	}
	// A busy machine makes both slower, so only their order is certain.
	if large.Seconds >= small.Seconds {
		t.Errorf("a window of 4 MiB took %.0f ms, one of 65,535 octets %.0f ms", 1000*large.Seconds, 1000*small.Seconds)
	}
	if *small.PeakWindowBytes != flow.DefaultWindow || *large.PeakWindowBytes > 4<<20 {
		t.Errorf("the peaks of the windows are %d and %d", *small.PeakWindowBytes, *large.PeakWindowBytes)
	}
}

func TestDemoTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.html")
	mine := []flow.Config{own{strategy.BDP{}, "mine"}}
	s := call(t.Context(), mine, "demo", "--size", "20KiB", "--rtt", "0,1ms", "-o", path)
	if s.status != 0 || s.stderr != "wrote "+path+"\n" {
		t.Fatalf("status %d, %q on standard error; want 0 and where the report is", s.status, s.stderr)
	}
	var got []string
	for line := range strings.Lines(s.stdout) {
		name, _, _ := strings.Cut(line, "  ")
		got = append(got, strings.TrimSpace(name))
	}
	rows := []string{"", "client and strategy", "net/http HTTP/1.1", "net/http HTTP/2"}
	for _, name := range append(defaultStrategyNames(nil), "mine") {
		rows = append(rows, "h2flow "+name)
	}
	want := slices.Concat([]string{"RTT 0, loopback without a relay, 20KiB, medians of 5 connections"}, rows,
		[]string{"", "RTT 1ms, 100Mbit/s, 20KiB"}, rows, []string{""})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"h2flow", "mine", "RTT 1ms, 100Mbit/s", "<svg", "</html>"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the report does not contain %q", want)
		}
	}
}

func TestDemoWithoutReport(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"-o", "-"}, {"-o", ""}, {"--json"}} {
		s := call(t.Context(), nil, append([]string{"demo", "--size", "1KiB", "--rtt", "0", "--runs", "1"}, args...)...)
		if s.status != 0 || s.stderr != "" {
			t.Errorf("%v: status %d, %q on standard error; want 0 and nothing", args, s.status, s.stderr)
		}
	}
	if diff := cmp.Diff([]string{}, files(t, ".")); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestDemoGoesOnWhenAStrategyFails: the failure is told at the end, and the others are measured all the same.
func TestDemoGoesOnWhenAStrategyFails(t *testing.T) {
	if testing.Short() {
		t.Skip("the stall takes 10 seconds to be found")
	}
	s := call(t.Context(), []flow.Config{stubborn{}}, "demo", "--json", "--size", "100KiB", "--rtt", "0", "--runs", "1",
		"--strategy", "stubborn,bdp")
	const want = "h2flow demo: 1 of the measurements failed; the first: " +
		"RTT 0, loopback without a relay, h2flow stubborn, cold: after 65535 octets: "
	if s.status != 1 || strings.Count(s.stderr, "\n") != 1 || !strings.HasPrefix(s.stderr, want) {
		t.Errorf("status %d, %q on standard error; want 1 and the failure", s.status, s.stderr)
	}
	if n := strings.Count(s.stdout, "\n"); n != 6 {
		t.Errorf("%d runs are told, want the 6 of the others:\n%s", n, s.stdout)
	}
}

func TestDemoCells(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"the default", nil, "0s/0 50ms/100Mbit"},
		{"everything", []string{"--full"}, "0s/0 10ms/100Mbit 50ms/100Mbit 100ms/100Mbit 10ms/1Gbit 50ms/1Gbit 100ms/1Gbit"},
		{"loopback once", []string{"--rtt", "0,1ms", "--rate", "1Mbit,2Mbit"}, "0s/0 1ms/1Mbit 1ms/2Mbit"},
		{"flags count more than --full", []string{"--full", "--rtt", "7ms"}, "7ms/100Mbit 7ms/1Gbit"},
		{"repeated", []string{"--rtt", "1ms", "--rtt", "2ms,1ms"}, "1ms/100Mbit 2ms/100Mbit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := parseDemo(t, tt.args...)
			var got []string
			for _, c := range o.cells() {
				rate := "0"
				if c.rate != 0 {
					rate = formatRate(c.rate)
				}
				got = append(got, fmt.Sprintf("%v/%s", c.rtt, rate))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDemoContenders(t *testing.T) {
	mine := []flow.Config{own{strategy.BDP{}, "mine"}}
	for _, tt := range []struct {
		name string
		args []string
		want []string
	}{
		{"the default", nil, []string{"http1", "net/http-h2", "fixed:stream=65535:conn=65535 cold only",
			"fixed:stream=32MiB:conn=32MiB", strategy.Threshold{}.String(), strategy.BDP{}.String(),
			strategy.Auto{}.String(), "mine"}},
		{"--strategy replaces them", []string{"--strategy", "fixed,mine", "--strategy", "fixed:stream=1MiB:conn=1MiB"},
			[]string{"http1", "net/http-h2", "fixed:stream=65535:conn=65535", "mine", "fixed:stream=1MiB:conn=1MiB"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fs := newFlags("demo", mine)
			o := parseDemoFlags(t, fs, tt.args...)
			var got []string
			for _, c := range o.contenders(mine) {
				name := c.client
				if c.strategy != nil {
					name = c.strategyName()
				}
				if c.coldOnly {
					name += " cold only"
				}
				got = append(got, name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("contenders (-want +got):\n%s", diff)
			}
		})
	}
}

func parseDemo(t *testing.T, args ...string) *demoOptions {
	t.Helper()
	return parseDemoFlags(t, newFlags("demo", nil), args...)
}

func parseDemoFlags(t *testing.T, fs *flags, args ...string) *demoOptions {
	t.Helper()
	o := new(demoOptions)
	o.declare(fs)
	rest, err := fs.parse(args)
	if err == nil {
		err = o.settle(fs, rest)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestFrameCounter(t *testing.T) {
	octets := []byte(frame.ClientPreface)
	octets = frame.AppendSettings(octets, frame.Setting{ID: frame.SettingInitialWindowSize, Value: 1 << 22})
	octets = frame.AppendWindowUpdate(octets, 0, 1<<30)
	octets = frame.AppendPing(octets, true, [8]byte{})
	octets = frame.Headers{Stream: 1, EndHeaders: true, EndStream: true, Fragment: make([]byte, 300)}.AppendTo(octets)
	octets = frame.AppendPing(octets, false, [8]byte{})
	octets = frame.AppendWindowUpdate(octets, 1, 1000)
	octets = frame.AppendSettingsAck(octets)
	want := map[frame.Type]int64{
		frame.TypeSettings: 2, frame.TypeWindowUpdate: 2, frame.TypeHeaders: 1, frame.TypePing: 1, frame.TypeGoAway: 0,
	}
	for _, chunk := range []int{1, 7, len(octets)} {
		c := newFrameCounter()
		for p := range slices.Chunk(octets, chunk) {
			if n, err := c.Write(p); n != len(p) || err != nil {
				t.Fatalf("wrote %d of %d octets: %v", n, len(p), err)
			}
		}
		got := make(map[frame.Type]int64)
		for typ := range want {
			got[typ] = c.count(typ)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("in chunks of %d octets (-want +got):\n%s", chunk, diff)
		}
	}
}

func TestCurveThinsOut(t *testing.T) {
	start := time.Unix(0, 0)
	rising, swinging := newCurve(start), newCurve(start)
	rising.add(start.Add(-time.Second), 1)
	for i := range 100_000 {
		now := start.Add(time.Duration(i) * time.Microsecond)
		rising.add(now, int64(i))
		swinging.add(now, int64(i%2*65535))
	}
	points := rising.all()
	if len(points) < maxBuckets/4 || len(points) > 2*maxBuckets {
		t.Errorf("%d points are left, want some hundred", len(points))
	}
	for _, p := range points {
		if want := float64(p.Octets) / 1e6; p.Seconds < want-1e-9 || p.Seconds > want+1e-9 {
			t.Errorf("%d octets at %v s, want at %v s", p.Octets, p.Seconds, want)
		}
	}
	if last := points[len(points)-1].Octets; last != 99_999 {
		t.Errorf("the last point is that of %d octets, want 99999", last)
	}
	counts := make(map[int64]int)
	for _, p := range swinging.all() {
		counts[p.Octets]++
	}
	if counts[0] < maxBuckets/4 || counts[65535] < maxBuckets/4 || len(counts) != 2 {
		t.Errorf("of what swings between 0 and 65535, these numbers are left: %v", counts)
	}
}

func TestSummarise(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	results := []result{
		{Phase: "cold", Run: 1, Bytes: 9, Seconds: 3, WindowUpdates: n(1), PeakWindowBytes: n(10)},
		{Phase: "warm", Run: 1, Bytes: 9, Seconds: 2, WindowUpdates: n(2), PeakWindowBytes: n(90)},
		{Phase: "cold", Run: 2, Bytes: 9, Seconds: 1, WindowUpdates: n(3), PeakWindowBytes: n(20)},
		{Phase: "cold", Run: 3, Bytes: 9, Seconds: 2, WindowUpdates: n(4), PeakWindowBytes: n(30)},
	}
	type summary struct {
		Cold, Warm      float64
		Updates, Window *int64
	}
	for _, tt := range []struct {
		name    string
		results []result
		want    summary
	}{
		{"both phases", results, summary{2, 2, n(2), n(90)}},
		{"cold only", results[2:], summary{2, 0, n(4), n(30)}},
		{"nothing", nil, summary{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := summarise(contender{}, tt.results)
			if diff := cmp.Diff(tt.want, summary{r.cold, r.warm, r.updates, r.window}); diff != "" {
				t.Errorf("row (-want +got):\n%s", diff)
			}
		})
	}
}
