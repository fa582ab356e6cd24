package interop

import (
	"slices"
	"testing"
)

// pairwise returns rows in which every two values of any two factors meet at least once. A factor has the values 0 to
// levels[i]-1. The rows are the same in every run: each is the first of those that bring most pairs not yet met.
func pairwise(levels []int) (rows [][]int) {
	all := product(levels)
	met := map[pair]bool{}
	for {
		var best []int
		most := 0
		for _, row := range all {
			if n := unmet(row, met); n > most {
				best, most = row, n
			}
		}
		if most == 0 {
			return rows
		}
		rows = append(rows, best)
		for p := range pairs(best) {
			met[p] = true
		}
	}
}

// A pair is two factors, the lower first, and a value of each.
type pair struct{ factor1, value1, factor2, value2 int }

// pairs iterates over the pairs of a row.
func pairs(row []int) func(yield func(pair) bool) {
	return func(yield func(pair) bool) {
		for i := range row {
			for j := i + 1; j < len(row); j++ {
				if !yield(pair{i, row[i], j, row[j]}) {
					return
				}
			}
		}
	}
}

func unmet(row []int, met map[pair]bool) (n int) {
	for p := range pairs(row) {
		if !met[p] {
			n++
		}
	}
	return n
}

// product returns every combination, the last factor changing fastest.
func product(levels []int) [][]int {
	rows := [][]int{nil}
	for _, n := range levels {
		var longer [][]int
		for _, row := range rows {
			for value := range n {
				longer = append(longer, append(slices.Clone(row), value))
			}
		}
		rows = longer
	}
	return rows
}

// Every pair of values meets, in few rows.
func TestPairwise(t *testing.T) {
	levels := []int{14, 6, 3, 2, 2, 2}
	rows := pairwise(levels)
	met := map[pair]bool{}
	for _, row := range rows {
		for p := range pairs(row) {
			met[p] = true
		}
	}
	want := 0
	for i := range levels {
		for j := i + 1; j < len(levels); j++ {
			want += levels[i] * levels[j]
		}
	}
	if len(met) != want {
		t.Errorf("%d of %d pairs meet", len(met), want)
	}
	if least := 14 * 6; len(rows) < least || len(rows) > least+10 {
		t.Errorf("%d rows, want %d to %d", len(rows), least, least+10)
	}
}
