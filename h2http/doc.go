// Package h2http is an http.RoundTripper that speaks HTTP/2 and lets the flow control be chosen.
//
// [Transport] is the type that matters. Its zero value works, and its fields have the names and meanings that users of
// [net/http.Transport] know; what is particular to HTTP/2 stands beside them. [ClientConn] is one connection outside
// the pool, from [Transport.NewClientConn]. [Tunnel] is a stream that CONNECT opened, from [Transport.OpenTunnel].
//
//	t := &h2http.Transport{Flow: strategy.Threshold{}}
//	defer t.CloseIdleConnections()
//	client := &http.Client{Transport: t}
//	resp, err := client.Get("https://example.org/")
//
// What holds:
//
//   - RoundTrip gives a response or an error, never both, and returns as soon as the response head is there, even
//     while the request body is being sent. It never changes the request.
//   - Requests to one host share one connection, and one dial. Another connection is opened only when all are at their
//     limit of concurrent streams. [Transport.Policy] and the fields beside it change that: more connections, fewer, or
//     a queue, which [Transport.Stats] shows.
//   - What is wrong with a request is found before an octet of it is sent.
//   - The request body is closed exactly once, whatever happens, and no Read of it begins after the Close, unless the
//     two cross: Close is there to interrupt a Read, and does not wait for one that is just about to begin. When
//     RoundTrip returns an error, or the response body has been closed, the request body is closed and no Read of it
//     is in progress. The one exception is a Read that does not return once its body is closed: it is waited for a
//     tenth of a second and then left behind.
//   - A request is sent again only if the server did not act on it, a few times at most, with pauses, and only if its
//     body can be had again: it was not read yet, or Request.GetBody is set.
//   - A connection on which a request timed out in silence takes no other until the server shows life, for which a
//     PING asks it at most once in 10 seconds.
//   - When the context or the deprecated Request.Cancel ends, every call returns at once, with an error that is the
//     context's error and keeps its cause. Timeouts have a Timeout method that says true.
//   - A body that ends early is an error, never an io.EOF.
//
// Fields of the request that belong to HTTP/1 connections are treated so: Keep-Alive, Proxy-Connection, HTTP2-Settings
// and Host are dropped, and so are Connection with the values close and keep-alive and Transfer-Encoding with the value
// chunked; Connection: close (as Request.Close) makes the connection take no further request. Any other value of those
// two, and Upgrade, is refused before anything is sent. TE is sent only as "trailers". A final status of 300 or above
// that arrives while the request body is being sent stops the sending; the response stays readable.
//
// What it does not do: HTTP/1 (a server that does not agree to HTTP/2 is an error that matches
// h2flow.ErrProtocolNotNegotiated), SOCKS (dial in DialContext), and server push. It reads no environment variable, unless
// Proxy is http.ProxyFromEnvironment. To leave what is not HTTP/2 to net/http, give the Transport to
// http.Transport.RegisterProtocol, wrapped so that it returns http.ErrSkipAltProtocol for the rest.
package h2http
