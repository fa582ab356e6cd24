package conn

import (
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/stream"
)

// A streamRecord is what the connection knows of one stream, from Open until the stream is over and nothing of it is
// unread. Records are recycled.
//
// Invariants: an idle record is in the queue and nowhere else; a closed one is kept for its unread octets alone; the
// receive window is relative to Conn.recvBase, the send window to Conn.sendBase.
type streamRecord struct {
	id    frame.StreamID
	state stream.State
	phase stream.Phase // of the response

	recv flow.Receive
	send flow.SendWindow

	fields     []frame.Field // the request head, lent by the caller until it is packed
	trailers   []frame.Field // lent likewise
	priority   string        // what PRIORITY_UPDATE is to say
	headersEnd int64         // where the request head ends in the output; 0 until it is packed

	contentLeft  int64 // of the body, by the declared length; -1 if unknown
	interim      int   // 1xx heads so far
	interimSize  int   // octets of their sections
	pendingGrant int64 // accepted, not packed
	progress     time.Time
	asked        time.Time // when the request head was packed

	endWanted     bool // END_STREAM is to be packed with the request head, or on its own
	trailersReady bool // trailers are to be packed
	waiting       bool // the application waits for data
	blocked       bool // in Conn.blocked
	answered      bool // a part of the response was delivered
	head          bool // the method is HEAD
	connect       bool // the method is CONNECT
	tunnel        bool // CONNECT was answered by 2xx
	noContent     bool // the response has no content by its status or the method
	silent        bool // no event is given any more
	stallReported bool
	priorityDue   bool // PRIORITY_UPDATE is to be packed
}

// lookup returns the record of stream id, nil if there is none, and the state that id is in.
func (c *Conn) lookup(id frame.StreamID) (*streamRecord, stream.State) {
	if c.last != nil && c.last.id == id {
		return c.last, c.last.state
	}
	if s := c.streams[id]; s != nil {
		c.last = s
		return s, s.state
	}
	if id%2 == 0 {
		if id != 0 && id <= c.maxPromise {
			return nil, stream.ClosedSentReset // every promise is refused
		}
		return nil, stream.Idle
	}
	// Opening a stream closes all lower idle ones. RFC 9113, Section 5.1.1 (9113-5.1-3).
	if id > c.maxOpened {
		return nil, stream.Idle
	}
	return nil, c.closed.state(id)
}

// newRecord takes a record from the free list, or makes one.
func (c *Conn) newRecord(id frame.StreamID) *streamRecord {
	var s *streamRecord
	if n := len(c.free); n > 0 {
		s, c.free = c.free[n-1], c.free[:n-1]
	} else {
		s = new(streamRecord)
	}
	*s = streamRecord{id: id, contentLeft: -1, progress: c.now}
	c.streams[id] = s
	return s
}

// maxFreeRecords bounds the free list; an idle connection should hold little.
const maxFreeRecords = 16

// move takes s through its life cycle and keeps the count of open streams; the caller knows that in is legal.
func (c *Conn) move(s *streamRecord, in stream.Input) {
	next, v := stream.Next(s.state, in)
	if v.Kind != stream.Accept {
		panic("h2flow: bug: stream in state " + s.state.String() + " was asked to " + in.String())
	}
	if in == stream.SendReset && s.state.CanReceive() {
		c.crossing += max(0, c.recvBase.Initial()+s.recv.Relative())
	}
	was, is := s.state.Counts(), next.Counts()
	s.state = next
	switch {
	case is && !was:
		c.openCount++
		if c.openCount == 1 {
			c.lastRecv = c.now // silence counts from the first request, not from idleness
			c.setTimer(timerLiveness, c.cfg.PingInterval)
		}
	case was && !is:
		c.openCount--
		c.closed.add(s.id, next)
	}
	c.armStall(s)
}

// settle lets go of s if it is over and nothing of it is unread. It is called at the end of everything that may have
// ended a stream.
func (c *Conn) settle(s *streamRecord) {
	if s.state.Closed() && s.recv.Unread() == 0 {
		c.release(s)
	}
}

// release forgets s. What is unread counts as consumed on the connection, once.
func (c *Conn) release(s *streamRecord) {
	unread := s.recv.Unread()
	if unread > 0 {
		s.recv.Consume(unread)
		c.recv.Consume(unread)
	}
	if s.headersEnd > 0 {
		c.tell(s, flow.Event{Kind: flow.StreamClosed, Stream: uint32(s.id), N: unread})
	}
	delete(c.streams, s.id)
	if c.last == s {
		c.last = nil
	}
	if c.input.data.s == s {
		c.input.data.s = nil // the rest of its frame is discarded
	}
	if c.block.s == s {
		c.block.s = nil // its block is decoded for the table alone
	}
	c.unblock(s)
	if len(c.free) < maxFreeRecords {
		*s = streamRecord{}
		c.free = append(c.free, s)
	}
	c.checkDrained()
}

// closedMemory remembers how the last few streams closed, in a ring.
type closedMemory struct {
	ids    [maxClosedMemory]frame.StreamID
	states [maxClosedMemory]stream.State
	next   int
}

func (m *closedMemory) add(id frame.StreamID, s stream.State) {
	m.ids[m.next], m.states[m.next] = id, s
	m.next = (m.next + 1) % maxClosedMemory
}

// state is how id closed, or ClosedForgotten.
func (m *closedMemory) state(id frame.StreamID) stream.State {
	for i, known := range m.ids {
		if known == id {
			return m.states[i]
		}
	}
	return stream.ClosedForgotten
}

// A streamQueue holds streams in the order in which they were opened, until there is a slot.
type streamQueue struct {
	list []*streamRecord // nil where one was taken out of the middle
	head int
	n    int
}

func (q *streamQueue) len() int { return q.n }

func (q *streamQueue) push(s *streamRecord) {
	q.list = append(q.list, s)
	q.n++
}

// pop takes the first; the queue must not be empty.
func (q *streamQueue) pop() *streamRecord {
	for q.list[q.head] == nil {
		q.head++
	}
	s := q.list[q.head]
	q.list[q.head] = nil
	q.head++
	q.n--
	q.compact()
	return s
}

// remove takes s out, wherever it stands.
func (q *streamQueue) remove(s *streamRecord) {
	for i := q.head; i < len(q.list); i++ {
		if q.list[i] == s {
			q.list[i] = nil
			q.n--
			break
		}
	}
	q.compact()
}

func (q *streamQueue) compact() {
	switch {
	case q.n == 0:
		q.list, q.head = q.list[:0], 0
	case q.head > 64 && q.head > len(q.list)/2:
		q.list = q.list[:copy(q.list, q.list[q.head:])]
		q.head = 0
	}
}
