package conformance_test

import (
	"fmt"
	"net"

	"example.com/h2flow/conformance"
)

// A case is played against the low-level API of this module; any other client takes an adapter of the same size.
func Example() {
	for _, c := range conformance.Cases() {
		if c.ID != "9113-6.7-2" {
			continue
		}
		fmt.Println(c.Section)
		fmt.Println(c.Name)
		server, client := net.Pipe()
		root, err := newRootClient(client)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(conformance.Run(server, root, c, 0).Verdict)
	}
	// Output:
	// RFC 9113, Section 6.7
	// PING is answered by PING with ACK and the same octets; an answer is not answered.
	// pass
}
