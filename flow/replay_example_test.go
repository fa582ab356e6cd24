package flow_test

import (
	"bytes"
	"fmt"

	"example.com/h2flow/flow"
)

// A recorded transfer, and what a strategy with half of the window would have decided on the same arrivals.
func ExampleLog_Replay() {
	lines := record(half{65535}, 8) // the lines of a flow.Recorder

	log, err := flow.ReadLog(bytes.NewReader(lines))
	if err != nil {
		fmt.Println(err)
		return
	}
	replay := log.Replay(half{32768})
	fmt.Println("grants:", replay.Recorded.Grants, "and", replay.Replayed.Grants)
	fmt.Println("answered differently:", len(replay.Differences), "of", replay.Events)
	fmt.Println("came without its grant:", replay.Beyond)
	// Output:
	// grants: 8 and 14
	// answered differently: 8 of 27
	// came without its grant: 0
}
