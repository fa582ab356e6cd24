package peers_test

import (
	"fmt"
	"time"

	"example.com/h2flow/flow/flowtest"
	"example.com/h2flow/strategy"
	"example.com/h2flow/strategy/peers"
)

// Ten MiB over a path of 100 ms: what a window of 65,535 octets costs, and what grows out of it.
func Example() {
	path := flowtest.Path{RTT: 100 * time.Millisecond, Rate: 12_500_000}
	for _, spec := range []string{"peer:node", "peer:grpc-go", "bdp"} {
		cfg, err := peers.Lookup(spec, strategy.Parse)
		if err != nil {
			fmt.Println(err)
			return
		}
		results, err := flowtest.Download(cfg, path, 10<<20)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-12s %s\n", spec, results[0].Took.Round(100*time.Millisecond))
	}
	// Output:
	// peer:node    16.5s
	// peer:grpc-go 1.8s
	// bdp          1s
}
