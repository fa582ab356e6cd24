package sim

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"strconv"
)

// ReadTrace reads the times at which a link lets a packet pass, as tools for cellular links write them (mahimahi's
// format): one whole number of milliseconds a line, in order.
func ReadTrace(text []byte) ([]int64, error) {
	var times []int64
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		ms, err := strconv.ParseInt(string(line), 10, 40)
		if err != nil {
			return nil, fmt.Errorf("trace: line %d: %q is no number of milliseconds", len(times)+1, line)
		}
		times = append(times, ms)
	}
	if len(times) == 0 {
		return nil, errors.New("trace: no times")
	}
	return times, checkTrace(times)
}

// checkTrace says what is wrong with times.
func checkTrace(times []int64) error {
	for i, ms := range times {
		if ms < 0 || i > 0 && ms < times[i-1] {
			return fmt.Errorf("time %d, %d ms, is below 0 or before the one before it", i+1, ms)
		}
	}
	if len(times) > 0 && times[len(times)-1] == 0 {
		return errors.New("the last time is 0: nothing would take any time")
	}
	return nil
}

// traceBytes is what passes at each time of a trace, in octets.
const traceBytes = 1500

// traceRate is the mean rate of a trace in Mbit/s, 0 if there is none.
func traceRate(times []int64) float64 {
	if len(times) == 0 {
		return 0
	}
	return float64(int64(len(times))*traceBytes*8) / float64(times[len(times)-1]*1000)
}

// trace is a link whose rate is a list of times at each of which so many octets pass.
//
// Model: place counts times since the start, through all repetitions; at the time of place used octets of its room are
// taken by what was accepted. Octets wait for a place; a place at which nothing waits is lost.
type trace struct {
	times  []int64 // ns
	period int64
	place  int64
	used   int64
}

func newTrace(ms []int64) *trace {
	if len(ms) == 0 {
		return nil
	}
	t := &trace{period: ms[len(ms)-1] * 1e6}
	for _, x := range ms {
		t.times = append(t.times, x*1e6)
	}
	return t
}

// at is the time of a place.
func (t *trace) at(place int64) int64 {
	n := int64(len(t.times))
	return place/n*t.period + t.times[place%n]
}

// from is the first place that is not before now.
func (t *trace) from(now int64) int64 {
	n := int64(len(t.times))
	round := now / t.period
	i := sort.Search(len(t.times), func(i int) bool { return round*t.period+t.times[i] >= now })
	return round*n + int64(i)
}

// pass takes places for n octets that come now, and returns the time of the last.
func (t *trace) pass(now, n int64) int64 {
	if t.at(t.place) < now {
		t.place, t.used = t.from(now), 0
	}
	t.used += n
	if over := (t.used - 1) / traceBytes; over > 0 {
		t.place += over
		t.used -= over * traceBytes
	}
	return t.at(t.place)
}

// waiting is how many octets wait for their places.
func (t *trace) waiting(now int64) int64 {
	if t.at(t.place) < now {
		return 0
	}
	return (t.place-t.from(now))*traceBytes + t.used
}
