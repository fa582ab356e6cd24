package strategy_test

import (
	"fmt"

	"example.com/h2flow/strategy"
)

func ExampleParse() {
	for _, spec := range []string{"bdp", "fixed:stream=1MiB:conn=16777216", "auto", "fixed:window=1"} {
		cfg, err := strategy.Parse(spec)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(cfg)
	}
	// Output:
	// bdp:max=64MiB
	// fixed:stream=1MiB:conn=16MiB
	// unknown strategy "auto": want one of bdp, fixed, threshold, unlimited
	// strategy fixed: unknown option "window=1": want one of stream, conn
}
