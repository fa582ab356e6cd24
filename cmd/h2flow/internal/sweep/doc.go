// Package sweep runs many scenarios of package sim, on all cores, in several processes if need be, and loses none.
//
// A [Plan] is a scenario and a list of values for some of its fields; its cells are all combinations:
//
//	plan := sweep.Plan{Base: base, Axes: axes, Strategies: strategies}
//	cells, err := plan.Cells()
//	store, err := sweep.OpenStore(dir, plan, shard)
//	err = sweep.Run(ctx, store.Left(cells), workers, store.Add)
//	outcomes, missing := store.Outcomes()
//	err = sweep.WriteCSV(w, outcomes)
//
// [Field] and [ExpandStrategy] read the lists and ranges that people write.
//
// # Invariants
//
// The order of the cells is a function of the plan, and what a cell gives is a function of the cell, so the final files
// are the same whatever the number of cores, processes and interruptions. A finished cell is in its journal, a file to
// which lines are only appended, before it is reported. A line that a kill cut short is cut off when the journal is
// opened again, and its cell is run again.
//
// # What it does not do
//
// It prints nothing and knows no flags; that is the command line's. It starts no other process: a cluster's scheduler
// runs the shards.
package sweep
