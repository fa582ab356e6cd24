package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/flow"
	"example.com/h2flow/sim"
	"example.com/h2flow/strategy"
	"example.com/h2flow/strategy/peers"
)

// small is a scenario that takes no time.
var small = []string{"--bytes", "100kB", "--rtt-ms", "10", "--rate-mbit", "100"}

func simCall(t *testing.T, args ...string) session {
	t.Helper()
	s := call(t.Context(), nil, args...)
	if s.status != 0 {
		t.Fatalf("%v: status %d, %s", args, s.status, s.stderr)
	}
	return s
}

func records(t *testing.T, text string) []sim.Record {
	t.Helper()
	var list []sim.Record
	for line := range strings.Lines(text) {
		var r sim.Record
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		list = append(list, r)
	}
	return list
}

func TestSimWrongUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(file, []byte(`{"rtt_msec": 3}`), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"no second word", []string{"sim"}, 2, `^h2flow sim: a second word is missing`},
		{"an unknown second word", []string{"sim", "walk"}, 2, `there is no verb "sim walk"`},
		{"an unknown scenario", []string{"sim", "run", "nowhere"}, 2, `there is no scenario "nowhere"`},
		{"two scenarios", []string{"sim", "run", "lan", "metro"}, 2, `want one scenario, got 2`},
		{"a file that is not there", []string{"sim", "run", "./no.json"}, 1, `no such file`},
		{"a field that is not there", []string{"sim", "run", file}, 1, `rtt_msec`},
		{"several values", []string{"sim", "run", "--rtt-ms", "5,10"}, 2, `--rtt-ms has 2 values, and sim run takes one`},
		{"several strategies", []string{"sim", "run", "--strategy", "bdp;unlimited"}, 2, `2 strategies, and sim run takes one`},
		{"several paths", []string{"sim", "compare", "--loss", "0,0.1"}, 2, `sim compare takes one`},
		{"a value out of range", []string{"sim", "run", "--loss", "2"}, 2, `loss 2: want 0 to below 1`},
		{"an option of a strategy", []string{"sim", "sweep", "-o", "x", "--strategy", "bdp:min=1|2"}, 2, `unknown option "min=1"`},
		{"a range without a step", []string{"sim", "sweep", "-o", "x", "--rtt-ms", "1..9"}, 2, `has no step`},
		{"no directory", []string{"sim", "sweep"}, 2, `-o DIR is missing`},
		{"a shard", []string{"sim", "sweep", "-o", "x", "--shard", "4/3"}, 2, `there is no shard 4 of 3`},
		{"no workers", []string{"sim", "sweep", "-o", "x", "--workers", "0"}, 2, `--workers must be at least 1`},
		{"a merge with a plan", []string{"sim", "sweep", "-o", "x", "--merge", "--seed", "1"}, 2, `leave --shard and the lists out`},
		{"a merge of nothing", []string{"sim", "sweep", "-o", t.TempDir(), "--merge"}, 1, `holds no sweep`},
		{"no results", []string{"sim", "report"}, 2, `want the directory of a sweep`},
		{"results that are none", []string{"sim", "report", file}, 1, `neither a record nor a cell`},
		{"a series in nowhere", []string{"sim", "run", "lan", "--series", "/nowhere/x"}, 1, `no such file`},
		{"samples too close", []string{"sim", "run", "--series", "x", "--series-ms", "0"}, 2, `--series-ms must be above 0`},
		{"an unknown name to list", []string{"sim", "list", "x"}, 2, `there is no scenario "x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			call(t.Context(), nil, tt.args...).wantFailure(t, tt.status, tt.want)
		})
	}
}

func TestSimHelp(t *testing.T) {
	for _, args := range [][]string{{"sim", "run", "--help"}, {"help", "sim", "run"}, {"sim", "run", "-h"}} {
		if s := simCall(t, args...); !strings.Contains(s.stdout, "Usage: h2flow sim run [flags] [FILE.json|NAME|-]") {
			t.Errorf("%v gives %s", args, s.stdout)
		}
	}
	if s := simCall(t, "sim", "--help"); !strings.Contains(s.stdout, "sim sweep") {
		t.Errorf("sim --help gives %s", s.stdout)
	}
}

func TestSimRun(t *testing.T) {
	args := append([]string{"sim", "run", "--requests", "2"}, small...)
	list := records(t, simCall(t, append(args, "--json")...).stdout)
	if len(list) != 2 || list[0].Warm || !list[1].Warm || list[1].Bytes != 100_000 || list[0].Strategy != "bdp:max=64MiB" {
		t.Errorf("the records are %+v", list)
	}
	want := "scenario strategy seed outcome rtt_ms rate_mbit loss reader warm bytes seconds ideal_seconds ratio_to_ideal " +
		"blocked_stream_ms blocked_conn_ms peak_buffered_bytes peak_window_bytes bdp_bytes window_updates pings"
	line, _, _ := strings.Cut(simCall(t, append(args, "--json")...).stdout, "\n")
	if diff := cmp.Diff(want, strings.Join(names(t, line), " ")); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	text := simCall(t, args...).stdout
	for _, want := range []string{"bulk: RTT 10 ms, 100 Mbit/s", "1 cold", "2 warm", "Jain's index"} {
		if !strings.Contains(text, want) {
			t.Errorf("the table has no %q:\n%s", want, text)
		}
	}
}

// names are the names of a JSON object in their order.
func names(t *testing.T, line string) []string {
	d := json.NewDecoder(strings.NewReader(line))
	var list []string
	for i := 0; ; i++ {
		token, err := d.Token()
		if err != nil {
			return list
		}
		if s, ok := token.(string); ok && i%2 == 1 {
			list = append(list, s)
		}
	}
}

func TestSimRunReadsAFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mine.json")
	text := `{"name": "mine", "rtt_ms": 5, "rate_mbit": 50, "bytes": 50000, "strategy": "own:a=1"}`
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	mine := own{strategy.Fixed{}, "own:a=1"}
	s := call(t.Context(), []flow.Config{mine}, "sim", "run", file, "--json", "--rtt-ms", "9")
	if s.status != 0 {
		t.Fatal(s.stderr)
	}
	r := records(t, s.stdout)[0]
	if r.Scenario != "mine" || r.Strategy != "own:a=1" || r.RTTMs != 9 || r.RateMbit != 50 || r.Outcome != "ok" {
		t.Errorf("the record is %+v", r)
	}
}

func TestSimRunSeries(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"s.csv", "s.jsonl"} {
		path := filepath.Join(dir, name)
		simCall(t, append([]string{"sim", "run", "--series", path}, small...)...)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if len(lines) < 5 {
			t.Fatalf("%s has %d lines", name, len(lines))
		}
		head, last := "connection,request,seconds,window_bytes", "0,0,0.0"
		if name == "s.jsonl" {
			head, last = `{"connection":0,"request":0,"seconds":`, `{"connection":0,"request":0,"seconds":0.0`
		}
		if !strings.HasPrefix(lines[0], head) || !strings.HasPrefix(lines[len(lines)-1], last) {
			t.Errorf("%s: first %s, last %s", name, lines[0], lines[len(lines)-1])
		}
	}
}

func TestSimCompare(t *testing.T) {
	args := append([]string{"sim", "compare", "--seed", "1..2", "--strategy", "fixed:stream=16KiB|64KiB:conn=1MiB"}, small...)
	list := records(t, simCall(t, append(args, "--json")...).stdout)
	var got []string
	for _, r := range list {
		got = append(got, r.Strategy)
	}
	one := []string{"unlimited", "fixed:stream=16KiB:conn=1MiB", "fixed:stream=64KiB:conn=1MiB"}
	if diff := cmp.Diff(append(one, one...), got); diff != "" {
		t.Errorf("strategies (-want +got):\n%s", diff)
	}
	text := simCall(t, args...).stdout
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if !strings.Contains(lines[3], "unlimited") || strings.Fields(lines[3])[3] != "1.000" || len(lines) != 6 {
		t.Errorf("the table is:\n%s", text)
	}
}

func TestSimSweepAndReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	args := append([]string{"sim", "sweep", "-o", dir, "--loss", "0,0.01"}, small...)
	first := simCall(t, append(args, "--json")...)
	if list := records(t, first.stdout); len(list) != 2*len(simStrategies(nil)) {
		t.Errorf("%d records", len(list))
	}
	written, err := os.ReadFile(filepath.Join(dir, "records.jsonl"))
	if err != nil || string(written) != first.stdout {
		t.Errorf("records.jsonl is not what was printed: %v", err)
	}
	if again := simCall(t, args...); !strings.Contains(again.stdout, "unlimited") || !strings.Contains(again.stdout, " cells in ") {
		t.Errorf("the summary is:\n%s", again.stdout)
	}
	call(t.Context(), nil, append(args, "--seed", "7")...).wantFailure(t, 1, "holds another sweep")

	page := filepath.Join(dir, "page.html")
	for _, source := range []string{dir, filepath.Join(dir, "records.jsonl"), filepath.Join(dir, "cells.jsonl")} {
		s := simCall(t, "sim", "report", source, "-o", page, "--title", "a & b", "--json")
		if !strings.Contains(s.stdout, `"records":10`) {
			t.Errorf("%s: %s", source, s.stdout)
		}
		text, err := os.ReadFile(page)
		if err != nil || !bytes.Contains(text, []byte("<h1>a &amp; b</h1>")) || !bytes.Contains(text, []byte("Window and flight")) {
			t.Errorf("%s: the page is not what it should be (%v)", source, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "cells.jsonl")); err != nil {
		t.Fatal(err)
	}
	if s := simCall(t, "sim", "report", dir, "-o", page); !strings.Contains(s.stdout, "10 cells") {
		t.Errorf("from the journal: %s", s.stdout)
	}
}

func TestSimSweepInShards(t *testing.T) {
	root := t.TempDir()
	args := func(dir string, more ...string) []string {
		return append(append([]string{"sim", "sweep", "-o", filepath.Join(root, dir), "--streams", "1..3"}, small...), more...)
	}
	want := simCall(t, args("whole", "--json")...).stdout
	one := simCall(t, args("a", "--shard", "1/2")...)
	if one.stdout != "" || !strings.Contains(one.stderr, "shard 1/2 is done") {
		t.Errorf("a shard prints %q and %q", one.stdout, one.stderr)
	}
	merge := []string{"sim", "sweep", "-o", root, "--merge", filepath.Join(root, "a"), filepath.Join(root, "b"), "--json"}
	simCall(t, args("b", "--shard", "2/2")...)
	if got := simCall(t, merge...).stdout; got != want {
		t.Error("the merged shards give other records than the whole")
	}
	call(t.Context(), nil, "sim", "sweep", "-o", root, "--merge", filepath.Join(root, "a")).wantFailure(t, 1,
		"7 of 15 cells are missing")
}

func TestSimSweepInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	call(ctx, nil, append([]string{"sim", "sweep", "-o", dir}, small...)...).wantFailure(t, 1,
		`interrupted; 0 of \d+ cells are finished and kept: the same command goes on`)
}

func TestSimList(t *testing.T) {
	text := simCall(t, "sim", "list").stdout
	for _, want := range []string{"transatlantic", "unlimited", "burst:bytes=64KiB", "server.think_ms"} {
		if !strings.Contains(text, want) {
			t.Errorf("the list has no %s", want)
		}
	}
	line := simCall(t, "sim", "list", "--json", "mobile").stdout
	s, err := sim.ReadScenario([]byte(line))
	if err != nil || s.Name != "mobile" || s.Loss != 0.001 {
		t.Errorf("%+v, %v", s, err)
	}
}

// The strategy of the log decides the same again; another one does not.
func TestSimReplay(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log.jsonl")
	simCall(t, append([]string{"sim", "run", "--record", log, "--strategy", "fixed:stream=32KiB:conn=64KiB"}, small...)...)
	var line struct {
		Recorded, Replayed struct {
			Strategy string
			Grants   int
		}
		Events, Differences int
	}
	read := func(args ...string) {
		t.Helper()
		s := simCall(t, append([]string{"sim", "replay", log, "--json"}, args...)...)
		if err := json.Unmarshal([]byte(s.stdout), &line); err != nil {
			t.Fatal(err)
		}
	}
	read()
	if line.Differences != 0 || line.Events < 20 || line.Recorded.Grants == 0 || line.Recorded != line.Replayed {
		t.Errorf("the same strategy gives %+v", line)
	}
	read("--strategy", "peer:curl")
	if line.Differences == 0 || line.Replayed.Strategy == line.Recorded.Strategy {
		t.Errorf("another strategy gives %+v", line)
	}
	if text := simCall(t, "sim", "replay", log).stdout; !strings.Contains(text, "0 of ") {
		t.Errorf("as text: %s", text)
	}
	call(t.Context(), nil, "sim", "replay").wantFailure(t, 2, "want one log, got 0")
	call(t.Context(), nil, "sim", "replay", filepath.Join(t.TempDir(), "none")).wantFailure(t, 1, "no such file")
	if err := os.WriteFile(log, []byte("nothing\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	call(t.Context(), nil, "sim", "replay", log).wantFailure(t, 1, "log.jsonl: ")
}

func TestSimKnowsTheModels(t *testing.T) {
	args := append([]string{"sim", "compare", "--json", "--strategy", "peers"}, small...)
	list := records(t, simCall(t, args...).stdout)
	if n := len(peers.Names()); len(list) != n+1 || list[0].Strategy != "unlimited" {
		t.Errorf("%d records, want one for each of %d models and one of unlimited", len(list), n)
	}
}

func TestSimTrace(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "link.trace")
	if err := os.WriteFile(trace, []byte("1\n2\n3\n4\n"), 0o666); err != nil { // 12 Mbit/s
		t.Fatal(err)
	}
	r := records(t, simCall(t, "sim", "run", "--json", "--bytes", "1MB", "--trace", trace).stdout)[0]
	if r.Outcome != "ok" || r.RateMbit != 12 || r.Seconds < 1e6*8/12e6 {
		t.Errorf("the record is %+v", r)
	}
	call(t.Context(), nil, "emulate", "--trace", trace).wantFailure(t, 2, "cannot do what trace_ms asks for")
	call(t.Context(), nil, "sim", "run", "--trace", trace+"x").wantFailure(t, 2, "no such file")
}
