package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Summary is the median of some values and its 95 % interval. All are NaN without values; Low and High are NaN for a
// single one, which says nothing about its spread.
type Summary struct {
	Median, Low, High float64
	N                 int
}

// draws is how many samples the bootstrap draws: enough for the two ends to be stable in their third digit.
const draws = 10_000

// Summarise returns the median of values and its interval. values are left as they are.
func Summarise(values []float64) Summary {
	s := Summary{Median: Median(values), Low: math.NaN(), High: math.NaN(), N: len(values)}
	if len(values) < 2 {
		return s
	}
	random := rand.New(rand.NewPCG(1, uint64(len(values))))
	medians := make([]float64, draws)
	sample := make([]float64, len(values))
	for i := range medians {
		for j := range sample {
			sample[j] = values[random.IntN(len(values))]
		}
		slices.Sort(sample)
		medians[i] = middle(sample)
	}
	slices.Sort(medians)
	s.Low = medians[int(math.Floor(0.025*(draws-1)))]
	s.High = medians[int(math.Ceil(0.975*(draws-1)))]
	return s
}

// Median returns the median of values, the mean of the two in the middle if their number is even, or NaN if there are
// none. values are left as they are.
func Median(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return middle(sorted)
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	switch {
	case n == 0:
		return math.NaN()
	case n%2 == 1:
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
