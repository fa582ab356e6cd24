package conn

import (
	"math"

	"example.com/h2flow/frame"
)

// Certain returns how many octets of the body of stream id are sure to come although nothing is sent: what is left of
// its declared length, as far as both windows allow it. It is 0 if anything else may have to be seen soon, because other
// streams are open or an answer to a PING or to SETTINGS is awaited.
func (c *Conn) Certain(id frame.StreamID) int64 {
	s := c.streams[id]
	if s == nil || s.contentLeft <= 0 || s.blocked || c.openCount != 1 || c.queue.len() > 0 || c.life != alive ||
		len(c.outstanding) > 0 || len(c.ownSettings) > 0 {
		return 0
	}
	window := min(s.recv.OffsetsOver(c.recvBase.Initial()).Window(), c.recv.Offsets().Window())
	return min(s.contentLeft, max(window, 0), math.MaxInt32)
}
