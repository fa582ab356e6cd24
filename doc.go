// Package h2flow is an HTTP/2 client engine whose flow control is a plug-in: whoever embeds it chooses, or writes, the
// strategy that decides every WINDOW_UPDATE of a connection.
//
// This package is the low-level API: one connection, raw streams, no net/http. [Dial], [DialCleartext] and
// [NewClientConn] make a [ClientConn]; [ClientConn.OpenStream] sends a request's head and returns a [ClientStream],
// whose ReadHead, Read, Write and CloseWrite do what their names say:
//
//	c, err := h2flow.Dial(ctx, "localhost:8443", &h2flow.Config{Flow: strategy.Threshold{}})
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	s, err := c.OpenStream(ctx, &h2flow.Request{
//		Method: "GET", Scheme: "https", Authority: "localhost:8443", Path: "/", EndStream: true,
//	})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	head, err := s.ReadHead()
//	if err != nil {
//		return err
//	}
//	fmt.Println(head.Status)
//	_, err = io.Copy(os.Stdout, s)
//	return err
//
// # What to read next
//
//   - To put the engine under an [net/http.Client]: package [example.com/h2flow/h2http].
//   - To choose windows: package [example.com/h2flow/strategy].
//   - To write a strategy: package [example.com/h2flow/flow].
//   - To drive the protocol without goroutines, clocks or sockets: package [example.com/h2flow/conn].
//   - To read and write frames only: package [example.com/h2flow/frame].
//
// # Invariants
//
// This package owns the only clock, the only goroutines and the only socket calls of the engine. One mutex for each
// connection guards the core and is never held across I/O. Cancelling a stream returns at once, whatever the peer or
// the socket does. After [ClientConn.Close] no goroutine of the connection is left.
//
// # What it does not do
//
// It speaks HTTP/2 to servers only: no HTTP/1, no upgrade from it, no server push, no server side. It pools no
// connections, retries nothing and follows no redirects; h2http does the first two, [net/http.Client] the last.
package h2flow
