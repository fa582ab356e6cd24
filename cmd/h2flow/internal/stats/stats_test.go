package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   []float64
		want float64
	}{
		{"none", nil, math.NaN()},
		{"one", []float64{3}, 3},
		{"two", []float64{3, 1}, 2},
		{"an odd number, not in order", []float64{9, 1, 5}, 5},
		{"an even number", []float64{4, 1, 3, 2}, 2.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Median(tt.in); got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
				t.Errorf("the median of %v is %v, want %v", tt.in, got, tt.want)
			}
		})
	}
}

func TestSummarise(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name string
		in   []float64
		want Summary
	}{
		{"none", nil, Summary{nan, nan, nan, 0}},
		{"one has no interval", []float64{2}, Summary{2, nan, nan, 1}},
		{"equal values", []float64{2, 2, 2}, Summary{2, 2, 2, 3}},
		{"two reach from one to the other", []float64{1, 3}, Summary{2, 1, 3, 2}},
		// The order statistics that bound the median of 11 with 95 % are the 3rd and the 9th.
		{"eleven", []float64{11, 1, 10, 2, 9, 3, 8, 4, 7, 5, 6}, Summary{6, 3, 9, 11}},
		{"one outlier does not move it", []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 100}, Summary{1, 1, 1, 11}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := append([]float64(nil), tt.in...)
			if diff := cmp.Diff(tt.want, Summarise(tt.in), cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(in, tt.in, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("the values were changed (-want +got):\n%s", diff)
			}
		})
	}
}

// The interval must hold the true median about as often as it says. Of 400 experiments with 11 values each, whose true
// median is 1, at least 90 % must.
func TestTheIntervalCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	const experiments = 400
	covered := 0
	for range experiments {
		values := make([]float64, 11)
		for i := range values {
			values[i] = math.Exp(0.1 * random.NormFloat64())
		}
		if s := Summarise(values); s.Low <= 1 && 1 <= s.High {
			covered++
		}
	}
	if covered < experiments*90/100 || covered == experiments {
		t.Errorf("the interval held the median in %d of %d experiments, want at least 90 %% and not all", covered, experiments)
	}
}
