// Package pipe is a network in memory: pairs of net.Conn with a rate, a delay and a bounded queue in each direction.
//
// A [Link] describes the path, [New] makes the two ends of one connection, and a [Listener] makes as many as are
// dialled, so that any server of the standard library can sit at the other end:
//
//	client, server := pipe.New(pipe.Link{RTT: 50 * time.Millisecond, Rate: 100e6, Queue: 64 << 10})
//
//	l := pipe.Listen(pipe.Link{RTT: 50 * time.Millisecond})
//	go http.Serve(l, handler)
//	nc, err := l.Dial()
//
// # Model
//
// What is written waits in the queue until the line is free, leaves at the rate of the link, travels for half of the
// round trip, and then waits to be read. It is cut into segments of about a millisecond, each of which arrives when its
// last octet does. A Write blocks while the octets that wait at either end fill the queue, so a reader that stops holds
// up the writer, as the windows of TCP do. Nothing is lost and nothing overtakes.
//
// # Invariants
//
// There is no goroutine and no busy loop: a blocked call waits for a channel or a timer. In a bubble of testing/synctest
// it therefore blocks durably, and a transfer takes its exact time in the virtual clock and next to none in the real
// one. A call that fails because of a deadline has neither lost nor invented an octet.
//
// # What it does not do
//
// There is no loss, no congestion control and no slow start; opening a connection takes no time. Package sim models
// those.
package pipe
