// Package conn is the client's side of one HTTP/2 connection without I/O: a value with verbs that whoever owns it
// drives, with a real clock, a virtual one, or none.
//
// [Conn] takes octets ([Conn.Feed]), time ([Conn.Advance]) and the application's wishes ([Conn.Open], [Conn.Reset],
// [Conn.Consumed] and so on), and gives events ([Conn.NextEvent]), octets ([Conn.AppendOutput]) and the time at which it
// wants to be woken ([Conn.Deadline]). A turn of a driver looks like this:
//
//	c.Feed(now, octets)
//	for ev := c.NextEvent(); ev.Kind != conn.None; ev = c.NextEvent() {
//		// hand ev to its stream; ev.Data is borrowed
//	}
//	buf = c.AppendOutput(now, buf[:0], 64<<10)
//	// write buf, then c.Written(c.Packed())
//
// A request is Open, then for each piece of a body SendQuota and AppendData, then EndStream or SendTrailers. Every octet
// of a response body that the application takes is reported by Consumed.
//
// Every window of the receive side is the business of the flow.Strategy in the [Config]: it is told what happens and
// answers with grants, which the connection checks, and packs. No WINDOW_UPDATE leaves otherwise.
//
// Invariants, which [Conn.CheckInvariants] checks: what the connection counts as unread is the sum of what its streams
// hold (credit conservation); no window leaves its range; open streams stay within the limits of both sides; after a
// connection error every input is a no-op; each stream has one last event.
//
// The package does not dial, retry, pool, time requests out or map them to net/http; and it has no locks.
package conn
