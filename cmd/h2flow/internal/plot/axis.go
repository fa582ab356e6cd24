package plot

import (
	"math"
	"strconv"
)

// An Axis is one direction of a chart.
type Axis struct {
	// Label says what is shown, with its unit.
	Label string
	// Log makes equal factors equal distances. Values that are not above 0 are then not drawn.
	Log bool
	// Octets labels the marks with binary units; with Log they are at powers of 2.
	Octets bool
	// Min and Max are the ends; if both are 0 they are taken from the data, and from 0 unless Log is set.
	Min, Max float64
}

// A tick is one mark.
type tick struct {
	value float64
	label string
}

// fit returns the axis with its ends around the values, and a little air above them.
func (a Axis) fit(values []float64) Axis {
	if a.Min != 0 || a.Max != 0 {
		return a
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if a.drawable(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	switch {
	case low > high: // nothing to draw
		a.Min, a.Max = 1, 10
	case a.Log && low == high:
		a.Min, a.Max = low/2, high*2
	case a.Log:
		air := math.Pow(high/low, 0.04)
		a.Min, a.Max = low/air, high*air
	default:
		a.Min, a.Max = min(0, low), high*1.05
		if a.Max <= a.Min {
			a.Max = a.Min + 1
		}
	}
	return a
}

func (a Axis) drawable(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (!a.Log || v > 0)
}

// place is where v is, from 0 to 1.
func (a Axis) place(v float64) float64 {
	if a.Log {
		return (math.Log(v) - math.Log(a.Min)) / (math.Log(a.Max) - math.Log(a.Min))
	}
	return (v - a.Min) / (a.Max - a.Min)
}

// ticks are at most about n marks.
func (a Axis) ticks(n int) []tick {
	var list []tick
	for _, v := range a.marks(n) {
		if a.place(v) < -1e-9 || a.place(v) > 1+1e-9 {
			continue
		}
		label := strconv.FormatFloat(v, 'g', 6, 64)
		if unit, name := binaryUnit(a.Max); a.Octets && !a.Log { // all in the same unit
			label = strconv.FormatFloat(v/unit, 'g', 4, 64) + " " + name
		} else if a.Octets {
			label = Octets(v)
		} else if v >= 1e6 || v != 0 && v < 1e-4 {
			label = strconv.FormatFloat(v, 'g', 3, 64)
		}
		list = append(list, tick{v, label})
	}
	return list
}

func (a Axis) marks(n int) []float64 {
	switch {
	case a.Log && a.Octets:
		return powers(a, n, 2)
	case a.Log:
		if list := decades(a, []float64{1, 2, 5}); inside(a, list) <= n {
			return list
		}
		if list := decades(a, []float64{1}); inside(a, list) >= 2 && inside(a, list) <= n {
			return list
		}
		return powers(a, n, 10)
	case a.Octets:
		unit, _ := binaryUnit(a.Max)
		return multiples(a, max(1, unit*decimalStep((a.Max-a.Min)/float64(n)/unit)))
	}
	return multiples(a, decimalStep((a.Max-a.Min)/float64(n)))
}

// powers are powers of base, every one or, if there are more than n, every second, third and so on.
func powers(a Axis, n int, base float64) []float64 {
	low := int(math.Ceil(math.Log(a.Min)/math.Log(base) - 1e-9))
	high := int(math.Floor(math.Log(a.Max)/math.Log(base) + 1e-9))
	step := 1 + (high-low)/n
	var list []float64
	for e := low; e <= high; e++ {
		if mod := e % step; mod == 0 {
			list = append(list, math.Pow(base, float64(e)))
		}
	}
	return list
}

// decades are the multiples of each power of ten.
func decades(a Axis, multiples []float64) []float64 {
	var list []float64
	for e := math.Floor(math.Log10(a.Min)); e <= math.Ceil(math.Log10(a.Max)); e++ {
		for _, m := range multiples {
			list = append(list, m*math.Pow(10, e))
		}
	}
	return list
}

func inside(a Axis, list []float64) int {
	n := 0
	for _, v := range list {
		if p := a.place(v); p >= 0 && p <= 1 {
			n++
		}
	}
	return n
}

func multiples(a Axis, step float64) []float64 {
	var list []float64
	for i := math.Ceil(a.Min / step); i*step <= a.Max*(1+1e-9); i++ {
		list = append(list, i*step)
	}
	return list
}

// decimalStep is the least of 1, 2 and 5 times a power of ten that is not below v.
func decimalStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// binaryUnit is the largest binary unit that is not above v octets, with its name.
func binaryUnit(v float64) (float64, string) {
	unit, name := 1.0, "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if v < 1024*unit {
			break
		}
		unit, name = unit*1024, u
	}
	return unit, name
}

// Octets is v octets with a binary unit.
func Octets(v float64) string {
	unit, name := binaryUnit(math.Abs(v))
	return strconv.FormatFloat(v/unit, 'g', 4, 64) + " " + name
}
