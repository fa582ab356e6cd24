package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"example.com/h2flow/sim"
)

// An Outcome is what a cell gave, and its line in a journal.
type Outcome struct {
	Plan     string       `json:"plan"`
	Cell     int          `json:"cell"`
	Scenario sim.Scenario `json:"scenario"`
	Records  []sim.Record `json:"records"`
	// Jain is Jain's index of the goodputs of the streams that are not small; 0 if none completed.
	Jain float64 `json:"jain"`
	// SmallP50Ms and SmallP99Ms are how long the small responses took, in milliseconds; nil without any that completed.
	SmallP50Ms *float64 `json:"small_p50_ms,omitempty"`
	SmallP99Ms *float64 `json:"small_p99_ms,omitempty"`
	// Path is what the bottleneck and TCP did.
	Path   sim.PathStats `json:"path"`
	Errors []string      `json:"errors,omitempty"`
}

// Run runs the cells on that many workers, in any order, and hands each outcome to done, one at a time. It ends with
// the first error of done, or of ctx; cells in progress then finish first and still reach done if they can. A cell that
// cannot be run does not end it: the errors of all such are joined.
func Run(ctx context.Context, cells []Cell, workers int, done func(Outcome) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan Cell)
	var workersDone sync.WaitGroup
	var mu sync.Mutex // for faults and done
	var faults []error
	var ended error
	for range max(1, min(workers, len(cells))) {
		workersDone.Go(func() {
			for cell := range work {
				o, err := runCell(cell)
				mu.Lock()
				switch {
				case err != nil:
					faults = append(faults, err)
				case ended == nil:
					if ended = done(o); ended != nil {
						cancel(ended)
					}
				}
				mu.Unlock()
			}
		})
	}
	feed(ctx, cells, work)
	workersDone.Wait()
	switch {
	case ended != nil:
		return ended
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return errors.Join(faults...)
}

// feed hands out the cells until ctx ends.
func feed(ctx context.Context, cells []Cell, work chan<- Cell) {
	defer close(work)
	for _, cell := range cells {
		select {
		case <-ctx.Done():
			return
		default:
		}
		select {
		case <-ctx.Done():
			return
		case work <- cell:
		}
	}
}

// runCell runs one cell. A panic of the strategy or of the engine is an error that names the cell.
func runCell(cell Cell) (o Outcome, err error) {
	s := cell.Scenario
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
		if err != nil {
			err = fmt.Errorf("cell %d (%s, rtt_ms %v, rate_mbit %v, loss %v, seed %d, %v): %w",
				cell.Index, s.Title(), s.RTTMs, s.RateMbit, s.Loss, s.Seed, s.Flow, err)
		}
	}()
	r, err := sim.Run(s)
	if err != nil {
		return Outcome{}, err
	}
	o = NewOutcome(s, r)
	o.Cell = cell.Index
	return o, nil
}

// NewOutcome summarises what a scenario gave.
func NewOutcome(s sim.Scenario, r sim.Result) Outcome {
	if s.Flow != nil {
		s.Strategy = s.Flow.String()
	}
	o := Outcome{Scenario: s, Records: r.Records, Jain: r.Fairness(), Path: r.Path, Errors: r.Errors}
	var small []float64
	for _, stream := range r.Streams {
		if stream.Small && stream.Seconds >= 0 {
			small = append(small, stream.Seconds*1e3)
		}
	}
	if len(small) > 0 {
		slices.Sort(small)
		p50, p99 := small[len(small)/2], small[min(len(small)*99/100, len(small)-1)]
		o.SmallP50Ms, o.SmallP99Ms = &p50, &p99
	}
	return o
}
