package sweep_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/cmd/h2flow/internal/sweep"
	"example.com/h2flow/flow"
	"example.com/h2flow/sim"
	"example.com/h2flow/strategy"
)

// size reads octets as the tests write them.
func size(s string) (int64, error) {
	if n, ok := strings.CutSuffix(s, "KiB"); ok {
		v, err := strconv.ParseInt(n, 10, 64)
		return v << 10, err
	}
	return strconv.ParseInt(s, 10, 64)
}

func find(t *testing.T, name string) sweep.Field {
	for _, f := range sweep.Fields {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("there is no field %s", name)
	return sweep.Field{}
}

func TestFieldValues(t *testing.T) {
	for _, tt := range []struct{ field, in, want string }{
		{"rtt_ms", "20", "20"},
		{"rtt_ms", "0.5", "0.5"},
		{"rtt_ms", "5..50*2", "5 10 20 40"},
		{"rtt_ms", "0.1..0.5+0.1", "0.1 0.2 0.3 0.4 0.5"},
		{"seed", "1..5", "1 2 3 4 5"},
		{"seed", "0..20+10", "0 10 20"},
		{"bytes", "64KiB..512KiB*4", "65536 262144"},
		{"reader", "burst:bytes=64KiB:every=100ms", `"burst:bytes=65536:every=100ms"`},
		{"congestion_control", "bbr", `"bbr"`},
		{"no_hystart", "true", "true"},
	} {
		t.Run(tt.field+" "+tt.in, func(t *testing.T) {
			values, err := find(t, tt.field).Parse(tt.in, size)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(bytes.Join(raw(values), []byte(" "))); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func raw(values []json.RawMessage) [][]byte {
	var list [][]byte
	for _, v := range values {
		list = append(list, v)
	}
	return list
}

func TestFieldValuesThatMakeNoSense(t *testing.T) {
	for _, tt := range []struct{ field, in, want string }{
		{"rtt_ms", "x", `"x" is no number`},
		{"rtt_ms", "NaN", `is no number`},
		{"rtt_ms", "-1", "out of range"},
		{"rtt_ms", "5..80", "has no step"},
		{"rtt_ms", "80..5*2", "ends before it begins"},
		{"rtt_ms", "5..80*1", "never reaches its end"},
		{"rtt_ms", "0..80*2", "never reaches its end"},
		{"rtt_ms", "1..2+0", "never reaches its end"},
		{"seed", "1..9999999", "more than 100000 values"},
		{"seed", "1.5", "no whole number"},
		{"reader", "slow", "unknown reader"},
		{"kernel_rtt", "perhaps", "neither true nor false"},
	} {
		t.Run(tt.field+" "+tt.in, func(t *testing.T) {
			values, err := find(t, tt.field).Parse(tt.in, size)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s and %v, want an error with %q", values, err, tt.want)
			}
		})
	}
}

// Every field of a scenario that holds one value can be varied: a new one must be in Fields, or here with a reason.
func TestFieldsAreComplete(t *testing.T) {
	without := map[string]string{
		"name": "a label", "strategy": "varied by itself", "changes": "a list", "cross_traffic": "a list",
		"series_ms": "asks for output", "trace_ms": "a list",
	}
	known := make(map[string]bool)
	for _, f := range sweep.Fields {
		known[f.Name] = true
	}
	var check func(prefix string, typ reflect.Type)
	check = func(prefix string, typ reflect.Type) {
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			switch {
			case name == "-":
			case name == "server":
				check("server.", typ.Field(i).Type)
			case !known[prefix+name] && without[name] == "":
				t.Errorf("%s%s is missing", prefix, name)
			default:
				delete(known, prefix+name)
			}
		}
	}
	check("", reflect.TypeFor[sim.Scenario]())
	for name := range known {
		t.Errorf("a scenario has no field %s", name)
	}
}

func TestExpandStrategy(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"bdp", "bdp"},
		{"bdp:max=64MiB", "bdp:max=64MiB"},
		{"fixed:stream=1KiB|4KiB:conn=9KiB", "fixed:stream=1KiB:conn=9KiB fixed:stream=4KiB:conn=9KiB"},
		{"x:a=1KiB..4KiB*2:b=1..2+1", "x:a=1024:b=1 x:a=1024:b=2 x:a=2048:b=1 x:a=2048:b=2 x:a=4096:b=1 x:a=4096:b=2"},
		{"threshold:fraction=1/4|1/2", "threshold:fraction=1/4 threshold:fraction=1/2"},
		{"x:f=0.1..0.3+0.1|1", "x:f=0.1 x:f=0.2 x:f=0.3 x:f=1"},
	} {
		got, err := sweep.ExpandStrategy(tt.in, size)
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%s is %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
	if _, err := sweep.ExpandStrategy("x:a=1KiB..4KiB", size); err == nil || !strings.Contains(err.Error(), "no step") {
		t.Errorf("a range without a step: %v", err)
	}
}

// plan is a small one: 12 cells.
func plan(t *testing.T) (sweep.Plan, []sweep.Cell) {
	p := sweep.Plan{
		Base: sim.Scenario{Name: "small", RateMbit: 100, Bytes: 100_000, Requests: 2},
		Axes: []sweep.Axis{
			{Field: "rtt_ms", Values: []json.RawMessage{[]byte("5"), []byte("20")}},
			{Field: "streams", Values: []json.RawMessage{[]byte("1"), []byte("2"), []byte("3")}},
			{Field: "server.think_ms", Values: []json.RawMessage{[]byte("2")}},
		},
		Strategies: []flow.Config{strategy.Unlimited{}, strategy.Fixed{}},
	}
	cells, err := p.Cells()
	if err != nil {
		t.Fatal(err)
	}
	return p, cells
}

func TestCells(t *testing.T) {
	_, cells := plan(t)
	if len(cells) != 12 {
		t.Fatalf("%d cells, want 12", len(cells))
	}
	c := cells[9]
	if c.Index != 9 || c.Scenario.RTTMs != 20 || c.Scenario.Streams != 2 || c.Scenario.Server.ThinkMs != 2 ||
		c.Scenario.Flow != (strategy.Fixed{}) || c.Scenario.Name != "small streams=2" {
		t.Errorf("cell 9 is %+v", c)
	}
}

func TestCellsThatCannotBeRun(t *testing.T) {
	p, _ := plan(t)
	p.Axes[0].Values = append(p.Axes[0].Values, []byte("-5"))
	if _, err := p.Cells(); err == nil || !strings.Contains(err.Error(), "rtt_ms -5") {
		t.Errorf("an RTT below 0: %v", err)
	}
	if _, err := (sweep.Plan{}).Cells(); err == nil {
		t.Error("a plan without a strategy has cells")
	}
}

// results runs what is left of the plan in dir and returns the final files.
func results(t *testing.T, dir string, workers int, shards ...sweep.Shard) []byte {
	t.Helper()
	p, cells := plan(t)
	if len(shards) == 0 {
		shards = []sweep.Shard{{}}
	}
	for _, shard := range shards {
		store, err := sweep.OpenStore(dir, p, shard)
		if err != nil {
			t.Fatal(err)
		}
		if err := sweep.Run(t.Context(), store.Left(cells), workers, store.Add); err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	store, err := sweep.ReadStores(dir)
	if err != nil {
		t.Fatal(err)
	}
	outcomes, missing := store.Outcomes()
	if missing > 0 {
		t.Fatalf("%d cells are missing", missing)
	}
	var b bytes.Buffer
	for _, err := range []error{
		sweep.WriteOutcomes(&b, outcomes), sweep.WriteRecords(&b, outcomes), sweep.WriteCSV(&b, outcomes),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestFilesDoNotDependOnHowTheyCameAbout(t *testing.T) {
	want := results(t, t.TempDir(), 1)
	if n := bytes.Count(want, []byte("\n")); n != 12+24+25 {
		t.Fatalf("%d lines, want 12 cells, 24 records, and 24 more with their head", n)
	}
	if got := results(t, t.TempDir(), 8); !bytes.Equal(got, want) {
		t.Error("8 workers give other files than one")
	}
	if got := results(t, t.TempDir(), 2, sweep.Shard{Number: 2, Of: 3}, sweep.Shard{Number: 1, Of: 3}, sweep.Shard{Number: 3, Of: 3}); !bytes.Equal(got, want) {
		t.Error("three shards give other files than the whole")
	}
}

// Wherever a kill cuts the journal, what is before the cut is kept and the rest is run again.
func TestResumeAfterAKill(t *testing.T) {
	dir := t.TempDir()
	want := results(t, dir, 2)
	path := filepath.Join(dir, "journal.jsonl")
	journal, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, cells := plan(t)
	for _, cut := range []int{0, 1, len(journal) / 3, len(journal) / 2, len(journal) - 1} {
		if err := os.WriteFile(path, journal[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		store, err := sweep.OpenStore(dir, p, sweep.Shard{})
		if err != nil {
			t.Fatal(err)
		}
		whole := bytes.Count(journal[:cut], []byte("\n"))
		if left := len(store.Left(cells)); left != 12-whole {
			t.Errorf("cut at %d: %d cells are left, want %d", cut, left, 12-whole)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		if got := results(t, dir, 2); !bytes.Equal(got, want) {
			t.Errorf("cut at %d: the files differ", cut)
		}
	}
}

// Cells that shards have finished are kept when the number of shards changes.
func TestResumeWithOtherShards(t *testing.T) {
	dir := t.TempDir()
	p, cells := plan(t)
	store, err := sweep.OpenStore(dir, p, sweep.Shard{Number: 1, Of: 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := sweep.Run(t.Context(), store.Left(cells), 1, store.Add); err != nil {
		t.Fatal(err)
	}
	store.Close()
	whole, err := sweep.OpenStore(dir, p, sweep.Shard{})
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	if left := len(whole.Left(cells)); left != 9 {
		t.Errorf("%d cells are left, want 9 of 12", left)
	}
}

func TestStoresRefuse(t *testing.T) {
	dir := t.TempDir()
	p, _ := plan(t)
	store, err := sweep.OpenStore(dir, p, sweep.Shard{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := sweep.OpenStore(dir, p, sweep.Shard{}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("the same journal twice: %v", err)
	}
	other := p
	other.Base.Bytes++
	if _, err := sweep.OpenStore(dir, other, sweep.Shard{}); !errors.Is(err, sweep.ErrOtherPlan) {
		t.Errorf("another plan: %v", err)
	}
	if _, err := sweep.ReadStores(t.TempDir()); err == nil || !strings.Contains(err.Error(), "holds no sweep") {
		t.Errorf("an empty directory: %v", err)
	}
}

func TestParseShard(t *testing.T) {
	if s, err := sweep.ParseShard("3/16"); err != nil || s != (sweep.Shard{Number: 3, Of: 16}) || s.String() != "3/16" {
		t.Errorf("3/16 is %v, %v", s, err)
	}
	for _, bad := range []string{"", "3", "0/4", "5/4", "a/b", "1/0", "-1/4"} {
		if s, err := sweep.ParseShard(bad); err == nil {
			t.Errorf("%q is %v", bad, s)
		}
	}
}

// broken panics at its first event.
type broken struct{ flow.Strategy }

func (broken) String() string     { return "broken" }
func (broken) New() flow.Strategy { return broken{strategy.Fixed{}.New()} }
func (broken) Decide(time.Time, flow.Event, []flow.Action) []flow.Action {
	panic("no")
}

// A strategy that panics costs its own cells only, and the error says which they are.
func TestAPanicIsOneCell(t *testing.T) {
	p, _ := plan(t)
	p.Strategies = append(p.Strategies, broken{})
	p.Axes = nil
	p.Base.RTTMs = 1
	cells, err := p.Cells()
	if err != nil {
		t.Fatal(err)
	}
	var done []int
	err = sweep.Run(t.Context(), cells, 1, func(o sweep.Outcome) error {
		done = append(done, o.Cell)
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "cell 2 (small") || !strings.Contains(err.Error(), "broken): no") {
		t.Errorf("the error is %v", err)
	}
	if diff := cmp.Diff([]int{0, 1}, done); diff != "" {
		t.Errorf("finished cells (-want +got):\n%s", diff)
	}
}

func TestRunEnds(t *testing.T) {
	_, cells := plan(t)
	full := errors.New("the disk is full")
	n := 0
	err := sweep.Run(t.Context(), cells, 1, func(sweep.Outcome) error {
		n++
		return full
	})
	if !errors.Is(err, full) || n != 1 {
		t.Errorf("%v after %d outcomes, want the error of the first", err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = sweep.Run(ctx, cells, 2, func(sweep.Outcome) error { t.Error("a cell was run"); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
}

func TestReadOutcomes(t *testing.T) {
	_, cells := plan(t)
	var outcomes []sweep.Outcome
	if err := sweep.Run(t.Context(), cells[:2], 1, func(o sweep.Outcome) error {
		outcomes = append(outcomes, o)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	sweep.WriteOutcomes(&b, outcomes)
	got, err := sweep.ReadOutcomes(bytes.NewReader(append(b.Bytes(), `{"cut`...)))
	if err != nil || len(got) != 2 || got[1].Records[1].Seconds != outcomes[1].Records[1].Seconds {
		t.Errorf("%d outcomes, %v", len(got), err)
	}
	b.Reset()
	sweep.WriteRecords(&b, outcomes)
	got, err = sweep.ReadOutcomes(&b)
	if err != nil || len(got) != 4 || got[3].Scenario.RTTMs != 5 || got[3].Records[0].Strategy != "fixed:stream=65535:conn=65535" {
		t.Errorf("%d outcomes of records, %v", len(got), err)
	}
	if _, err := sweep.ReadOutcomes(strings.NewReader("{\"a\":1}\n")); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("something else: %v", err)
	}
}

// The columns of the table are the names in the records' JSON, in their order.
func TestColumnsAreTheRecord(t *testing.T) {
	var want []string
	typ := reflect.TypeFor[sim.Record]()
	for i := range typ.NumField() {
		if name := typ.Field(i).Tag.Get("json"); name != "-" {
			want = append(want, name)
		}
	}
	if diff := cmp.Diff(want, sweep.Columns); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
