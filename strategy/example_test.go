package strategy_test

import (
	"fmt"

	"example.com/h2flow/strategy"
)

func ExampleParse() {
	for _, spec := range []string{"auto", "fixed:stream=1MiB:conn=16777216", "adaptive", "fixed:window=1"} {
		cfg, err := strategy.Parse(spec)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(cfg)
	}
	// Output:
	// auto:max=64MiB
	// fixed:stream=1MiB:conn=16MiB
	// unknown strategy "adaptive": want one of auto, bdp, fixed, threshold, unlimited
	// strategy fixed: unknown option "window=1": want one of stream, conn
}
