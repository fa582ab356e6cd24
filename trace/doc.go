// Package trace turns the events of connections into logs: for log/slog, and as qlog in the form of JSON text sequences.
//
// [Slog] and [NewQLog] make hooks for h2flow.Config.OnEvent and h2http.Transport.OnEvent:
//
//	f, err := os.Create("trace.sqlog")
//	...
//	q := trace.NewQLog(f, "my client")
//	t := &h2http.Transport{OnEvent: q.Event}
//	...
//	err = q.Close()
//
// What holds:
//
//   - The hooks may be shared by any number of connections, and are called with a connection locked: they do no more
//     than to format and to write. Give NewQLog a writer that does not block, or a buffered one.
//   - Values of fields that are secret (authorization, proxy-authorization, cookie, set-cookie, and whatever is marked
//     as sensitive) are never written, and neither are octets of bodies.
//   - What cannot be written is dropped; the first error is kept for Close.
//
// The schema of the qlog events, with the name space http2, is in docs/qlog.md.
//
// What it does not do: it draws nothing, keeps no counters (see h2http.Transport.Stats), and rotates no files.
package trace
