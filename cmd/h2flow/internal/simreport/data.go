package simreport

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/h2flow/cmd/h2flow/internal/stats"
	"example.com/h2flow/cmd/h2flow/internal/sweep"
	"example.com/h2flow/sim"
)

// A row is one record with what the page needs of its cell.
type row struct {
	sim.Record
	number   int // of the record within its cell
	streams  int // of all connections together
	jain     float64
	smallP99 float64 // ms; NaN without
	versus   float64 // seconds as a multiple of unlimited's in the same cell; NaN if that is not known
}

// A table is all rows, with the strategies in the order in which they came.
type table struct {
	rows       []row
	strategies []string
}

const yardstick = "unlimited"

func newTable(outcomes []sweep.Outcome) *table {
	t := &table{}
	ideal := make(map[string]float64)
	for _, o := range outcomes {
		for i, r := range o.Records {
			if !slices.Contains(t.strategies, r.Strategy) {
				t.strategies = append(t.strategies, r.Strategy)
			}
			if r.Strategy == yardstick && r.Outcome == sim.OutcomeOK {
				ideal[cellKey(r, i)] = r.Seconds
			}
		}
	}
	for _, o := range outcomes {
		for i, r := range o.Records {
			v := row{
				Record: r, number: i, jain: o.Jain, smallP99: math.NaN(), versus: math.NaN(),
				streams: max(o.Scenario.Streams, 1) * max(o.Scenario.Connections, 1),
			}
			if o.SmallP99Ms != nil {
				v.smallP99 = *o.SmallP99Ms
			}
			if base := ideal[cellKey(r, i)]; base > 0 && r.Outcome == sim.OutcomeOK {
				v.versus = r.Seconds / base
			}
			t.rows = append(t.rows, v)
		}
	}
	return t
}

// cellKey names the cell of a record and its number there, whatever the strategy.
func cellKey(r sim.Record, number int) string {
	return fmt.Sprintf("%s\x00%v %v %v %s %d %d %d", r.Scenario, r.RTTMs, r.RateMbit, r.Loss, r.Reader, r.Bytes, r.Seed, number)
}

// goodput is in Mbit/s; NaN if the request did not end well.
func (r row) goodput() float64 {
	if r.Outcome != sim.OutcomeOK || r.Seconds <= 0 {
		return math.NaN()
	}
	return float64(r.Bytes) * 8 / r.Seconds / 1e6
}

// share is the speed as a share of the ideal one; NaN if the request did not end well.
func (r row) share() float64 {
	if r.Outcome != sim.OutcomeOK || r.RatioToIdeal <= 0 {
		return math.NaN()
	}
	return 1 / r.RatioToIdeal
}

func (r row) framesPerMiB() float64 {
	if r.Bytes == 0 {
		return math.NaN()
	}
	return float64(r.WindowUpdates+r.Pings) / (float64(r.Bytes) / (1 << 20))
}

// windowPerBDP is NaN if the path has no limit of rate or no delay.
func (r row) windowPerBDP() float64 {
	if r.BDPBytes == 0 {
		return math.NaN()
	}
	return float64(r.PeakWindowBytes) / float64(r.BDPBytes)
}

// A spread is the median of values and their ends; NaN without any.
type spread struct{ median, low, high float64 }

// spreadOf looks at the values of f that are numbers.
func spreadOf(rows []row, f func(row) float64) spread {
	var values []float64
	for _, r := range rows {
		if v := f(r); !math.IsNaN(v) && !math.IsInf(v, 0) {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return spread{math.NaN(), math.NaN(), math.NaN()}
	}
	return spread{stats.Median(values), slices.Min(values), slices.Max(values)}
}

// A group is rows that belong together, with the title of their panel.
type group struct {
	title string
	rows  []row
}

// groupBy splits rows by key, in the order in which the keys first come.
func groupBy[K comparable](rows []row, key func(row) K) (keys []K, groups map[K][]row) {
	groups = make(map[K][]row)
	for _, r := range rows {
		k := key(r)
		if _, ok := groups[k]; !ok {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], r)
	}
	return keys, groups
}

// panels groups rows by what the title says, leaving out what is the same in all rows.
func (t *table) panels(parts ...part) []group {
	var kept []part
	for _, p := range parts {
		if values, _ := groupBy(t.rows, p); len(values) > 1 {
			kept = append(kept, p)
		}
	}
	keys, groups := groupBy(t.rows, func(r row) string {
		var words []string
		for _, p := range kept {
			words = append(words, p(r))
		}
		return strings.Join(words, ", ")
	})
	var list []group
	for _, k := range keys {
		list = append(list, group{k, groups[k]})
	}
	return list
}

// A part of a title.
type part func(row) string

func byScenario(r row) string { return r.Scenario }
func byRTT(r row) string      { return fmt.Sprintf("RTT %v ms", r.RTTMs) }
func byRate(r row) string {
	if r.RateMbit == 0 {
		return "no limit of rate"
	}
	return fmt.Sprintf("%v Mbit/s", r.RateMbit)
}
func byLoss(r row) string {
	if r.Loss == 0 {
		return "no loss"
	}
	return fmt.Sprintf("loss %.4g %%", r.Loss*100)
}
func byReader(r row) string { return "reader " + r.Reader }
func byBytes(r row) string  { return fmt.Sprintf("%.4g MiB", float64(r.Bytes)/(1<<20)) }
func byWarm(r row) string {
	if r.Warm {
		return "warm"
	}
	return "cold"
}

// distinct are the different values of f, in their order.
func distinct[T cmp.Ordered](rows []row, f func(row) T) []T {
	var list []T
	for _, r := range rows {
		list = append(list, f(r))
	}
	slices.Sort(list)
	return slices.Compact(list)
}
