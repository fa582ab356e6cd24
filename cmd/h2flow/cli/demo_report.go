package cli

import "example.com/h2flow/cmd/h2flow/internal/report"

// reportRow is what the report shows of one contender on one cell.
func reportRow(r row, results []result, failure error) report.Row {
	out := report.Row{
		Client: r.contender.title(), Strategy: r.contender.strategyName(), Cold: r.cold, Warm: r.warm, Bytes: r.bytes,
		WindowUpdates: r.updates, Pings: r.pings, PeakBuffered: r.buffered, PeakWindow: r.window,
	}
	if failure != nil {
		out.Failure = oneLine(failure)
	}
	cold, warm := medianRun(results, phaseCold), medianRun(results, phaseWarm)
	for i := range results {
		run := &results[i]
		out.Runs = append(out.Runs, report.Run{
			Phase: run.Phase, Number: run.Run, Seconds: run.Seconds, Typical: run == cold || run == warm,
			Curves: run.curves, Opening: run.opening, OpeningSeconds: openingTrips * run.RTTMs / 1000,
		})
	}
	return out
}
