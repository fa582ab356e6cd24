package sim

import (
	"fmt"
	"math"

	"example.com/h2flow/flow"
)

// Run runs the scenario to its end. Only a scenario that cannot be run, or an invariant that broke, gives an error:
// streams that fail are results.
func Run(s Scenario) (Result, error) {
	if err := s.Validate(); err != nil {
		return Result{}, err
	}
	r := newRun(s.normalised())
	limit := int64(r.scenario.LimitSeconds * 1e9)
	for r.left > 0 && r.err == nil && r.clock.step(limit) {
	}
	if r.err != nil {
		return Result{}, fmt.Errorf("scenario %q: %w", r.scenario.Title(), r.err)
	}
	if r.left > 0 {
		r.clock.now = limit
	}
	return r.result(), nil
}

// run is a scenario that is being run: a path, and the connections over it.
type run struct {
	scenario Scenario
	strategy flow.Config
	clock    clock
	up, down *link
	clients  []*client
	left     int // clients that are not done
	streams  []Stream
	errors   []string
	stats    PathStats
	err      error
}

func newRun(s Scenario) *run {
	r := &run{scenario: s}
	r.strategy, _ = s.flow() // Validate has looked
	delay := int64(milliseconds(s.RTTMs)) / 2
	r.up = newLink(&r.clock, bitsPerSecond(s.UpRateMbit), delay, math.MaxInt64, newLosses(s.Seed, s.Loss, true), &PathStats{})
	r.down = newLink(&r.clock, bitsPerSecond(s.RateMbit), delay, s.QueueBytes, newLosses(s.Seed, s.Loss, false), &r.stats)
	r.down.trace = newTrace(s.TraceMs)
	for _, change := range s.Changes {
		r.clock.at(int64(milliseconds(change.AtMs)), func() { r.change(change) })
	}
	for i, cross := range s.CrossTraffic {
		r.addCross(i, cross)
	}
	r.left = s.Connections
	for i := range s.Connections {
		c := newClient(r, i)
		r.clients = append(r.clients, c)
		r.clock.at(int64(i)*int64(milliseconds(s.StaggerMs)), c.start)
	}
	return r
}

// change changes the path.
func (r *run) change(to Change) {
	rate, delay := r.down.rate, r.down.delay
	if to.RateMbit > 0 {
		rate = bitsPerSecond(to.RateMbit)
	}
	if to.RTTMs > 0 {
		delay = int64(milliseconds(to.RTTMs)) / 2
	}
	r.down.change(rate, delay)
	r.up.change(r.up.rate, delay)
}

// complain notes why something of c failed.
func (r *run) complain(c *client, text string) {
	r.errors = append(r.errors, fmt.Sprintf("connection %d at %.3f s: %s", c.index, seconds(r.clock.now), text))
}

// abort ends the run: something happened that no strategy can be blamed for.
func (r *run) abort(err error) {
	if r.err == nil {
		r.err = fmt.Errorf("at %.6f s: %w", seconds(r.clock.now), err)
	}
}

// result collects what the run gave.
func (r *run) result() Result {
	res := Result{Streams: r.streams, Path: r.stats}
	for _, c := range r.clients {
		if !c.over {
			c.record(OutcomeTimeout)
		}
		res.Records = append(res.Records, c.records...)
	}
	res.Errors = r.errors
	res.Path.SimulatedSeconds = seconds(r.clock.now)
	return res
}

func bitsPerSecond(mbit float64) int64 { return int64(math.Round(mbit * 1e6)) }
