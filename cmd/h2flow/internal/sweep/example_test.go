package sweep_test

import (
	"context"
	"encoding/json"
	"fmt"

	"example.com/h2flow/cmd/h2flow/internal/sweep"
	"example.com/h2flow/flow"
	"example.com/h2flow/sim"
	"example.com/h2flow/strategy"
)

// Two round-trip times and two strategies are four cells.
func Example() {
	plan := sweep.Plan{
		Base:       sim.Scenario{Name: "bulk", RateMbit: 100, Bytes: 1 << 20},
		Axes:       []sweep.Axis{{Field: "rtt_ms", Values: []json.RawMessage{[]byte("10"), []byte("50")}}},
		Strategies: []flow.Config{strategy.Unlimited{}, strategy.Fixed{}},
	}
	cells, err := plan.Cells()
	if err != nil {
		fmt.Println(err)
		return
	}
	outcomes := make([]sweep.Outcome, len(cells))
	err = sweep.Run(context.Background(), cells, 2, func(o sweep.Outcome) error {
		outcomes[o.Cell] = o
		return nil
	})
	for _, o := range outcomes {
		r := o.Records[0]
		fmt.Printf("%v ms %s: %s\n", r.RTTMs, r.Strategy, r.Outcome)
	}
	fmt.Println(err)
	// Output:
	// 10 ms unlimited: ok
	// 10 ms fixed:stream=65535:conn=65535: ok
	// 50 ms unlimited: ok
	// 50 ms fixed:stream=65535:conn=65535: ok
	// <nil>
}
