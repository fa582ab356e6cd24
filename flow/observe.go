package flow

import "time"

// An Observer watches one Strategy. Its methods are called where the strategy's are, under the same rules: never
// overlapping, without I/O, and quickly.
type Observer interface {
	// Opened is told the windows that Open returned.
	Opened(now time.Time, w Windows)
	// Decided is told an event and what the strategy asks for because of it; actions are borrowed for the call. What
	// is refused comes back as an ActionRefused event.
	Decided(now time.Time, ev Event, actions []Action)
}

// Observe returns a Config that is cfg with an observer beside each of its strategies: newObserver is called once for
// each connection, and may return nil to watch that one not.
func Observe(cfg Config, newObserver func() Observer) Config {
	return observedConfig{cfg, newObserver}
}

type observedConfig struct {
	Config
	newObserver func() Observer
}

// New makes the strategy of one connection, with its observer.
func (c observedConfig) New() Strategy {
	s := c.Config.New()
	if o := c.newObserver(); o != nil {
		return &observed{s, o}
	}
	return s
}

type observed struct {
	Strategy
	observer Observer
}

func (o *observed) Open(now time.Time) Windows {
	w := o.Strategy.Open(now)
	o.observer.Opened(now, w)
	return w
}

func (o *observed) Decide(now time.Time, ev Event, dst []Action) []Action {
	before := len(dst)
	dst = o.Strategy.Decide(now, ev, dst)
	o.observer.Decided(now, ev, dst[before:])
	return dst
}

// LiftsPingBudget is true if it is for the strategy observed.
func (o *observed) LiftsPingBudget() bool { return LiftsPingBudget(o.Strategy) }
