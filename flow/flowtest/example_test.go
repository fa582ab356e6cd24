package flowtest_test

import (
	"fmt"
	"time"

	"example.com/h2flow/flow/flowtest"
)

// A window of 1 MiB moves 1 MiB a round trip at most, less what is held back, whatever the path could carry.
func ExampleDownload() {
	path := flowtest.Path{RTT: 100 * time.Millisecond, Rate: 125_000_000}
	results, err := flowtest.Download(sound(), path, 10<<20)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(results[0].Took.Round(100 * time.Millisecond))
	// Output:
	// 1s
}
