package stream_test

import (
	"fmt"

	"example.com/h2flow/stream"
)

func Example() {
	state := stream.Idle
	for _, in := range []stream.Input{stream.SendHeaders, stream.SendEndStream, stream.RecvHeaders, stream.RecvEndStream} {
		state, _ = stream.Next(state, in)
		fmt.Println(in, "->", state)
	}
	_, verdict := stream.Next(state, stream.RecvData)
	fmt.Println("a late DATA frame:", verdict)
	// Output:
	// send HEADERS -> open
	// send END_STREAM -> half-closed(local)
	// recv HEADERS -> half-closed(local)
	// recv END_STREAM -> closed(ended)
	// a late DATA frame: connection error STREAM_CLOSED
}
