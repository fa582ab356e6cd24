package strategy_test

import (
	"testing"

	"example.com/h2flow/flow"
	"example.com/h2flow/flow/flowtest"
	"example.com/h2flow/strategy"
)

// Every strategy that Parse knows keeps its promises, and so do windows at the edges of what is allowed.
func TestStrategies(t *testing.T) {
	specs := append(strategy.Names(),
		"auto:max=256KiB", "auto:max=1MiB", "auto:max=2MiB", "auto:max=1GiB",
		"bdp:max=1MiB", "bdp:max=2MiB", "bdp:max=1GiB",
		"fixed:stream=32MiB:conn=32MiB", "fixed:stream=64KiB:conn=1MiB", "fixed:stream=2147483647:conn=65535",
		"threshold:stream=65535:conn=65535:fraction=1/2", "threshold:stream=1MiB:conn=16MiB:fraction=9/10",
	)
	for _, spec := range specs {
		t.Run(spec, func(t *testing.T) {
			flowtest.Run(t, parse(t, spec))
		})
	}
}

func parse(t *testing.T, spec string) flow.Config {
	t.Helper()
	cfg, err := strategy.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}
