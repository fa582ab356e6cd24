package sim_test

import (
	"fmt"

	"example.com/h2flow/sim"
)

// A window of 65,535 octets gives one window each round trip; a window that grows gives what the path can do.
func Example() {
	for _, strategy := range []string{"fixed:stream=65535:conn=65535", "bdp", "unlimited"} {
		result, err := sim.Run(sim.Scenario{
			RTTMs: 50, RateMbit: 100, Bytes: 10 << 20, Requests: 2, Strategy: strategy,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		cold, warm := result.Records[0], result.Records[1]
		fmt.Printf("%-30s cold %.2f s, warm %.2f s\n", cold.Strategy, cold.Seconds, warm.Seconds)
	}
	// Output:
	// fixed:stream=65535:conn=65535  cold 8.31 s, warm 8.12 s
	// bdp:max=64MiB                  cold 1.20 s, warm 0.92 s
	// unlimited                      cold 1.20 s, warm 0.92 s
}

func ExampleReadScenario() {
	s, err := sim.ReadScenario([]byte(`{
		"name": "a slow reader", "strategy": "fixed:stream=1MiB:conn=1MiB",
		"rtt_ms": 20, "rate_mbit": 100, "bytes": 10485760, "reader": "burst:bytes=64KiB:every=100ms"
	}`))
	fmt.Println(s.Reader, s.BDPBytes(), err)
	// Output: burst:bytes=65536:every=100ms 250000 <nil>
}
