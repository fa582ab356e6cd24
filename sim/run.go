package sim

import "errors"

// Run runs the scenario to its end. Only a scenario that cannot be run, or an invariant that broke, gives an error:
// streams that fail are results.
func Run(s Scenario) (Result, error) {
	if err := s.Validate(); err != nil {
		return Result{}, err
	}
	return Result{}, errors.New("sim: no path is modelled yet")
}
