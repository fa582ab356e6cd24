package plot

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		name string
		axis Axis
		n    int
		want []string
	}{
		{"from zero", Axis{Max: 105}, 6, []string{"0", "20", "40", "60", "80", "100"}},
		{"octets keep one unit", Axis{Max: 1.25 * (1 << 20), Octets: true}, 7,
			[]string{"0 MiB", "0.2 MiB", "0.4 MiB", "0.6 MiB", "0.8 MiB", "1 MiB", "1.2 MiB"}},
		{"a short logarithm", Axis{Min: 4.5, Max: 210, Log: true}, 8, []string{"5", "10", "20", "50", "100", "200"}},
		{"a long logarithm", Axis{Min: 0.05, Max: 2000, Log: true}, 6, []string{"0.1", "1", "10", "100", "1000"}},
		{"a logarithm of octets", Axis{Min: 60 << 10, Max: 5 << 20, Log: true, Octets: true}, 4,
			[]string{"64 KiB", "256 KiB", "1 MiB", "4 MiB"}},
		{"nothing to show", Axis{}.fit(nil), 5, []string{"2", "4", "6", "8", "10"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, tick := range tt.axis.ticks(tt.n) {
				got = append(got, tick.label)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFit(t *testing.T) {
	for _, tt := range []struct {
		name      string
		axis      Axis
		values    []float64
		low, high float64
	}{
		{"from zero, with air", Axis{}, []float64{3, 10, math.NaN()}, 0, 10.5},
		{"one value of a logarithm", Axis{Log: true}, []float64{8, 0, -1}, 4, 16},
		{"given ends", Axis{Max: 1}, []float64{5}, 0, 1},
		{"all zero", Axis{}, []float64{0, 0}, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.axis.fit(tt.values)
			if got.Min != tt.low || got.Max != tt.high {
				t.Errorf("from %v to %v, want %v to %v", got.Min, got.Max, tt.low, tt.high)
			}
		})
	}
}

// What is drawn must parse, whatever it is named and whatever its values are.
func TestDrawingsAreXML(t *testing.T) {
	odd := `<"&'>`
	points := []Point{{X: 1, Y: 2, Low: 1, High: 3}, {X: 0, Y: math.NaN()}, {X: 3, Y: math.Inf(1)}, {X: 4, Y: -1, Title: odd}}
	var series []Series
	for i := range 60 {
		series = append(series, Series{Name: odd, Style: StyleOf(i), Points: points, Line: true, Dots: true, Steps: i%2 == 0})
	}
	for name, text := range map[string]string{
		"lines":     Chart{Title: odd, X: Axis{Label: odd}, Series: series, Rules: []Rule{{Y: 1, Name: odd}}}.SVG(),
		"logarithm": Chart{X: Axis{Log: true}, Y: Axis{Log: true, Octets: true}, Series: series}.SVG(),
		"nothing":   Chart{}.SVG(),
		"bars":      Bars{Title: odd, Bars: []Bar{{Name: odd, Value: 1, Low: 0, High: 2}, {Value: math.NaN()}}}.SVG(),
		"heat":      Heat{Title: odd, Columns: []string{odd, ""}, Rows: []string{odd}, Values: [][]float64{{0.3, math.NaN()}}}.SVG(),
		"legend":    Legend(series),
	} {
		t.Run(name, func(t *testing.T) {
			d := xml.NewDecoder(strings.NewReader(text))
			for {
				_, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%v in %s", err, text)
				}
			}
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("a value that is no number was drawn: %s", text)
			}
		})
	}
}

func TestStylesDiffer(t *testing.T) {
	seen := make(map[Style]int)
	for i := range 40 {
		if j, ok := seen[StyleOf(i)]; ok {
			t.Errorf("series %d and %d look the same", i, j)
		}
		seen[StyleOf(i)] = i
	}
}

// A line has a gap where a value is missing: it must not be joined over it.
func TestLineHasGaps(t *testing.T) {
	f := frame{left: 0, right: 10, top: 0, bottom: 10, x: Axis{Max: 10}, y: Axis{Max: 10}}
	points := []Point{{X: 0, Y: 0}, {X: 1, Y: 1}, {X: 2, Y: math.NaN()}, {X: 3, Y: 3}}
	for _, tt := range []struct {
		steps bool
		want  string
	}{
		{false, "M0.0 10.0L1.0 9.0M3.0 7.0"},
		{true, "M0.0 10.0H1.0V9.0M3.0 7.0"},
	} {
		if got := f.line(Series{Points: points, Steps: tt.steps}); got != tt.want {
			t.Errorf("steps %v: %q, want %q", tt.steps, got, tt.want)
		}
	}
}

func ExampleOctets() {
	fmt.Println(Octets(65535), Octets(16<<20), Octets(100))
	// Output: 64 KiB 16 MiB 100 B
}
