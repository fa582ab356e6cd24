package peers

import "example.com/h2flow/flow"

// settings changes the initial window. A connection lets only one change wait for its acknowledgement; one that comes
// too early is asked for again after that.
type settings struct{ want int64 }

func (s *settings) set(n int64, ev flow.Event, dst []flow.Action) []flow.Action {
	if n == ev.InitialWindow {
		return dst
	}
	s.want = n
	return append(dst, flow.SetInitialWindow(n))
}

func (s *settings) retry(ev flow.Event, dst []flow.Action) []flow.Action {
	if ev.Kind == flow.SettingsAcked && s.want > ev.InitialWindow {
		return append(dst, flow.SetInitialWindow(s.want))
	}
	return dst
}

// lifted is part of models whose clients limit PINGs by rules of their own.
type lifted struct{}

// LiftsPingBudget is true: the budget would make the model unfaithful.
func (lifted) LiftsPingBudget() bool { return true }
