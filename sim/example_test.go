package sim_test

import (
	"fmt"

	"example.com/h2flow/sim"
)

func ExampleReadScenario() {
	s, err := sim.ReadScenario([]byte(`{
		"name": "a slow reader", "strategy": "fixed:stream=1MiB:conn=1MiB",
		"rtt_ms": 20, "rate_mbit": 100, "bytes": 10485760, "reader": "burst:bytes=64KiB:every=100ms"
	}`))
	fmt.Println(s.Reader, s.BDPBytes(), err)
	// Output: burst:bytes=65536:every=100ms 250000 <nil>
}
