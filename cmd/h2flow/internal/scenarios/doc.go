// Package scenarios is a table of named experiments: usual paths, and the cases that flow control gets wrong.
//
// [Find] gives one by its name, [All] lists them. They are values to start from: the command line varies their fields.
//
//	s, ok := scenarios.Find("transatlantic")
//	s.Scenario.Strategy = "unlimited"
//	result, err := sim.Run(s.Scenario)
//
// Each name stays what it is, so that results can be compared with older ones: a changed experiment gets a new name.
// The package runs nothing.
package scenarios
