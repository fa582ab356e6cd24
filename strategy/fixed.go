package strategy

import (
	"example.com/h2flow/flow"
)

// Fixed keeps both windows constant and gives octets back as the application consumes them.
//
// At most a 16th of a window, and never more than 256 KiB, is held back so that small reads do not each cost a frame.
// That is far less than a DATA frame, so a peer that stops a little before the end of a window, or that waits for room
// for a whole frame, is never left waiting. A Fixed window moves at most Stream octets per round trip.
//
// One reader that does not read takes up to Stream octets of Conn from all others: to tolerate n of them, Conn must be
// above n times Stream. With less, as by default, streams that nobody reads come to hold the whole connection window, and
// reads of all their siblings fail as stalled once the connection's StallTimeout has passed. At most Conn octets are ever
// buffered.
type Fixed struct {
	// Stream is the window of each stream, in octets. Zero means 65,535, the window every connection starts from.
	Stream int64
	// Conn is the window of the connection, in octets. Zero means 65,535, and nothing below that can be expressed.
	// Raising only Stream is a common mistake: the lower of the two limits one download.
	Conn int64
}

var _ flow.Config = Fixed{}

// New makes the strategy of one connection. Windows outside what the protocol can express are brought into its range.
func (f Fixed) New() flow.Strategy {
	stream, conn := f.windows()
	return newConstant(level{stream, holdBack(stream)}, level{conn, holdBack(conn)})
}

// String describes f so that Parse reads it back.
func (f Fixed) String() string {
	stream, conn := f.windows()
	return describe("fixed", "stream", formatSize(stream), "conn", formatSize(conn))
}

// Validate reports windows that the protocol cannot express.
func (f Fixed) Validate() error { return validateWindows(f.Stream, f.Conn) }

func (f Fixed) windows() (stream, conn int64) {
	return clampWindows(f.Stream, f.Conn, flow.DefaultWindow, flow.DefaultWindow)
}

// holdBack is how many octets of a window of size octets may be due before they are granted.
func holdBack(size int64) int64 { return max(1, min(size/16, 256<<10)) }

// Unlimited opens both windows to 2^31-1 octets, the most that the protocol can express, and keeps them there. It shows
// what a path can do. Its memory bound is 2 GiB: it is no window for a client of servers it does not trust.
type Unlimited struct{}

var _ flow.Config = Unlimited{}

// New makes the strategy of one connection.
func (Unlimited) New() flow.Strategy {
	return Fixed{Stream: flow.MaxWindow, Conn: flow.MaxWindow}.New()
}

// String is "unlimited".
func (Unlimited) String() string { return "unlimited" }

// MemoryBound is the most octets that are unread on one connection and granted to its peer, together.
func (Unlimited) MemoryBound() int64 { return flow.MaxWindow }

// MemoryBound is the most octets that are unread on one connection and granted to its peer, together.
func (f Fixed) MemoryBound() int64 {
	_, conn := f.windows()
	return conn
}

// SlowReaders is how many streams of one connection may have no reader while all others still make progress.
func (f Fixed) SlowReaders() int {
	stream, conn := f.windows()
	return slowReaders(stream, level{conn, holdBack(conn)})
}

// slowReaders is how many windows of stream octets fit into the connection's with room for a frame and what is held
// back.
func slowReaders(stream int64, conn level) int {
	return int(max(0, conn.size-conn.hold-frame) / stream)
}
