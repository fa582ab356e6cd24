package sim_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/sim"
)

// pathExtra is what the emulated path adds to the round trip that it was asked for, as ping measured it.
const pathExtra = 0.4 // ms

// A cell is one row of testdata/kernel.csv: a transfer that was measured over kernel TCP.
type cell struct {
	mib, rate, rtt, queue, loss float64
	control, strategy, request  string
	kernel                      float64 // seconds
	source, use                 string
}

func readCells(t *testing.T) []cell {
	t.Helper()
	text, err := os.ReadFile("testdata/kernel.csv")
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(strings.NewReader(string(text)))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	var cells []cell
	for _, row := range rows[1:] {
		cells = append(cells, cell{
			mib: number(row[0]), rate: number(row[1]), rtt: number(row[2]), queue: number(row[3]), loss: number(row[4]),
			control: row[5], strategy: row[6], request: row[7], kernel: number(row[8]), source: row[9], use: row[10],
		})
	}
	return cells
}

// scenario is what gives c in the model.
func (c cell) scenario() sim.Scenario {
	s := sim.Scenario{
		RTTMs: c.rtt + pathExtra, RateMbit: c.rate, QueueBDP: c.queue, Loss: c.loss, CongestionControl: c.control,
		Bytes: int64(c.mib) << 20, Requests: 3, Strategy: c.strategy,
	}
	if c.strategy == "65535" {
		s.Strategy, s.Flow = "", eager{65535}
	}
	return s
}

// model is the time that the model gives for the first request, and the median of the second and the third; with losses
// the medians over as many seeds as it takes to be steady.
func model(t *testing.T, s sim.Scenario) (cold, warm float64) {
	t.Helper()
	seeds := 1
	if s.Loss > 0 {
		seeds = 201
	}
	colds, warms := make([]float64, seeds), make([]float64, seeds)
	var group sync.WaitGroup
	for first := range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := first; i < seeds; i += runtime.GOMAXPROCS(0) {
				s := s
				s.Seed = uint64(i)
				r, err := sim.Run(s)
				if err != nil {
					t.Error(err)
					return
				}
				colds[i] = r.Records[0].Seconds
				warms[i] = (r.Records[1].Seconds + r.Records[2].Seconds) / 2
			}
		})
	}
	group.Wait()
	slices.Sort(colds)
	slices.Sort(warms)
	return colds[len(colds)/2], warms[len(warms)/2]
}

// The times of the model are those of a kernel, within a tenth, in nine cells of ten that it was not fitted to. The table
// of all cells is a part of docs/strategies.md.
func TestTheModelIsTrueToTheKernel(t *testing.T) {
	cells := readCells(t)
	judged, near := 0, 0
	var table strings.Builder
	table.WriteString("| MiB | Mbit/s | RTT ms | queue BDP | loss | control | windows | request | kernel s | model s | error | |\n")
	table.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	var cold, warm float64
	for i, c := range cells {
		if i == 0 || !reflect.DeepEqual(c.scenario(), cells[i-1].scenario()) {
			cold, warm = model(t, c.scenario())
		}
		got := cold
		if c.request == "warm" {
			got = warm
		}
		off := 100 * (got/c.kernel - 1)
		note := ""
		switch {
		case c.use == "fit":
			note = "fitted"
		case off < -10 || off > 10:
			note = "**off**"
			judged++
		default:
			judged++
			near++
		}
		fmt.Fprintf(&table, "| %g | %g | %g | %g | %s | %s | %s | %s | %.3f | %.3f | %+.1f %% | %s |\n", c.mib, c.rate, c.rtt,
			c.queue, percent(c.loss), c.control, c.strategy, c.request, c.kernel, got, off, note)
	}
	fmt.Fprintf(&table, "\n%d of %d judged cells are within 10 %%.\n", near, judged)
	if near*10 < judged*9 {
		t.Errorf("%d of %d judged cells are within 10 %%, want nine of ten", near, judged)
	}
	compareTable(t, "../docs/strategies.md", "model and kernel", table.String())
}

func percent(loss float64) string {
	if loss == 0 {
		return "0"
	}
	return fmt.Sprintf("%g %%", 100*loss)
}

// compareTable complains if the part of a document between two marks is not text; -update replaces it.
func compareTable(t *testing.T, file, name, text string) {
	t.Helper()
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->\n"
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(old), begin)
	have, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s lacks the marks of %q", file, name)
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+text+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(constant(text), constant(have)); diff != "" {
		t.Errorf("%s, %s, rewritten by -update (-want +got):\n%s", file, name, diff)
	}
}

// constant are the lines of text that no change of a strategy changes: those of constant windows.
func constant(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		return !strings.Contains(line, "| unlimited |") && !strings.Contains(line, "| 65535 |")
	})
}
