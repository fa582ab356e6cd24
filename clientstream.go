package h2flow

import (
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
)

// A ClientStream is one request and its response. One goroutine may read (ReadHead, Read, WriteTo, Trailers) while
// another writes (Write, WriteEnd, ReadFrom, CloseWrite, CloseWriteTrailers). If several read, or several write, their
// calls take turns, whole. Reset, Close and the deadlines may be called from anywhere and wake everybody.
//
// Whoever opened a stream has to read it to io.EOF or to call Close, or its octets and its slot stay taken.
type ClientStream struct {
	c    *ClientConn
	id   frame.StreamID
	stop func() bool // ends the watching of the context

	// Whoever reads holds reading, whoever writes holds writing, before c.mu: reader and writer serve one goroutine.
	reading, writing sync.Mutex

	// All below is guarded by c.mu.

	fields *[]Field // the request head, until it has left
	opened bool     // the request head was packed

	reader   waiter
	heads    []Head // came and were not read yet
	gotFinal bool   // ReadHead has returned the final head
	buf      recvBuffer
	dst      []byte // where the reader that waits wants the octets
	got      int    // octets in dst
	trailers []Field
	recvEnd  bool  // the response is complete
	err      error // what reading ends with, after what is buffered

	writer    waiter
	sendOver  bool // END_STREAM is packed or pending
	uploads   bool // counted in writer.bodies
	sendErr   error
	closed    bool // Close, Reset or the context ended it
	readLate  deadline
	writeLate deadline
}

// A Head is a response head.
type Head struct {
	// Status is the status code: 100 to 199 for an interim head, of which any number may come before the final one.
	Status int
	// Fields are the fields of the head, in order, names in lower case; they are the caller's.
	Fields []Field
	// ContentLength is the length of the body by its declaration, in octets, or -1.
	ContentLength int64
	// EndStream says that neither a body nor trailers follow.
	EndStream bool
}

// Interim reports whether h is a 1xx head, so that another one follows.
func (h *Head) Interim() bool { return h.Status < 200 }

// ID is the stream's identifier.
func (s *ClientStream) ID() frame.StreamID { return s.id }

// Conn is the stream's connection.
func (s *ClientStream) Conn() *ClientConn { return s.c }

// deliver takes one event of the core's. The lock is held.
func (s *ClientStream) deliver(ev conn.Event) {
	c := s.c
	switch ev.Kind {
	case conn.Opened:
		s.opened = true
		s.putFields()
		c.wake(&s.reader)
	case conn.Interim, conn.Response:
		s.heads = append(s.heads, Head{
			Status: ev.Status, Fields: slices.Clone(ev.Fields), ContentLength: ev.ContentLength, EndStream: ev.End,
		})
		s.ended(ev.End)
		c.wake(&s.reader)
	case conn.Data:
		s.data(ev)
	case conn.Trailers:
		s.trailers = slices.Clone(ev.Fields)
		s.ended(true)
		c.wake(&s.reader)
	case conn.Sendable:
		c.wake(&s.writer)
	case conn.SendStopped:
		s.stopSending(ErrWriteStopped)
	case conn.StreamError:
		s.fail(streamError(ev.Err))
	}
}

// data takes octets of the body: into the reader's own slice if it waits with one, else into the buffer.
func (s *ClientStream) data(ev conn.Event) {
	p := ev.Data
	if s.dst != nil && s.buf.n == 0 && len(p) > 0 {
		n := len(p)
		if s.got == len(s.dst) || &p[0] != &s.dst[s.got] { // else it lies there already
			n = copy(s.dst[s.got:], p)
		}
		s.got += n
		p = p[n:]
	}
	if len(p) > 0 {
		s.buf.write(p)
	}
	s.ended(ev.End)
	// A reader that does the reading itself goes on until its slice is full; others are told at once.
	if s.dst == nil || s.got == len(s.dst) || ev.End || s.c.reader.role.holder != &s.reader {
		s.c.wake(&s.reader)
	}
}

func (s *ClientStream) ended(end bool) {
	if end {
		s.recvEnd = true
		s.finish()
	}
}

// finish lets the connection forget the stream once both sides are over; what is buffered stays readable.
func (s *ClientStream) finish() {
	if s.recvEnd && s.sendOver && s.buf.n == 0 && s.got == 0 {
		s.detach()
	}
}

// detach ends what ties the stream to its connection and its context.
func (s *ClientStream) detach() {
	s.c.events.streamClosed(s)
	delete(s.c.streams, s.id)
	s.putFields()
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
	s.readLate.stop()
	s.writeLate.stop()
}

func (s *ClientStream) putFields() {
	if s.fields != nil {
		clear(*s.fields)
		fieldPool.Put(s.fields)
		s.fields = nil
	}
}

// fail ends the stream with err; what is buffered can still be read. The lock is held.
func (s *ClientStream) fail(err error) {
	if s.err == nil && !s.recvEnd {
		s.err = err
	}
	s.stopSending(err)
	s.detach()
	s.c.wake(&s.reader)
}

// stopSending ends the sending side.
func (s *ClientStream) stopSending(err error) {
	if s.sendErr == nil {
		s.sendErr = err
	}
	s.endedSending()
	s.c.wake(&s.writer)
	s.finish()
}

// cancel ends the stream with err: the peer is told, everybody who waits returns at once.
func (s *ClientStream) cancel(err error) {
	s.c.mu.Lock()
	s.abort(frame.Cancel, err)
	s.c.unlock()
}

// abort ends the stream from this side. The lock is held.
func (s *ClientStream) abort(code ErrCode, err error) {
	if s.closed {
		return
	}
	s.closed = true
	s.c.core.Reset(time.Now(), s.id, code)
	s.buf.drop()
	if s.err == nil {
		s.err = err
	}
	s.recvEnd = false
	s.stopSending(err)
	s.detach()
	s.c.wake(&s.reader)
}

// Reset gives the stream up and tells the peer code. Everything of it that came and was not read is given back to the
// connection's window.
func (s *ClientStream) Reset(code ErrCode) {
	s.c.mu.Lock()
	s.abort(code, ErrStreamClosed)
	s.c.unlock()
}

// Close ends the stream: if it is not over, the peer is told by CANCEL. It gives back what was not read, wakes whoever
// waits for the stream, never blocks, and may be called more than once.
func (s *ClientStream) Close() error {
	s.Reset(frame.Cancel)
	return nil
}

// ReadHead returns the next response head: interim ones in their order, then the final one. After the final head it
// returns that head's error, if the stream failed, or io.EOF.
func (s *ClientStream) ReadHead() (Head, error) {
	c := s.c
	s.reading.Lock()
	defer s.reading.Unlock()
	c.mu.Lock()
	defer c.unlock()
	for {
		switch {
		case len(s.heads) > 0 && !s.closed:
			h := s.heads[0]
			s.heads = s.heads[1:]
			s.gotFinal = !h.Interim()
			return h, nil
		case s.err != nil:
			return Head{}, s.named(s.err)
		case s.gotFinal:
			return Head{}, io.EOF
		case s.readLate.passed:
			return Head{}, s.named(os.ErrDeadlineExceeded)
		}
		c.await(&s.reader, nil)
	}
}

// Read reads the body. It returns what has come, waiting only if there is nothing, and io.EOF after the last octet. If
// the stream fails, what came before can be read first.
func (s *ClientStream) Read(p []byte) (int, error) {
	c := s.c
	s.reading.Lock()
	defer s.reading.Unlock()
	c.mu.Lock()
	defer c.unlock()
	if len(p) == 0 {
		return 0, nil
	}
	for waited := false; ; waited = true {
		if n := s.got; n > 0 { // the wait brought it
			s.dst, s.got = nil, 0
			return n, s.consumed(c.reader.last, n)
		}
		s.dst = nil
		if n := s.buf.read(p); n > 0 {
			return n, s.consumed(c.clock(), n)
		}
		switch {
		case s.recvEnd:
			return 0, io.EOF
		case s.err != nil:
			return 0, s.named(s.err)
		case s.readLate.passed:
			if waited {
				c.core.ReaderAway(time.Now(), s.id)
			}
			return 0, s.named(os.ErrDeadlineExceeded)
		}
		if !waited {
			c.core.ReaderWaiting(c.clock(), s.id, len(p))
		}
		s.dst = p
		c.await(&s.reader, s)
	}
}

// consumed reports n octets as read.
func (s *ClientStream) consumed(now time.Time, n int) error {
	s.c.core.Consumed(now, s.id, n)
	s.finish()
	return nil
}

// copyBuffers holds the buffers of WriteTo and ReadFrom.
var copyBuffers = sync.Pool{New: func() any { b := make([]byte, 128<<10); return &b }}

// WriteTo writes the rest of the body to w.
func (s *ClientStream) WriteTo(w io.Writer) (int64, error) {
	buf := copyBuffers.Get().(*[]byte)
	defer copyBuffers.Put(buf)
	var total int64
	for {
		n, err := s.Read(*buf)
		if n > 0 {
			k, werr := w.Write((*buf)[:n])
			total += int64(k)
			if werr == nil && k < n {
				werr = io.ErrShortWrite
			}
			if werr != nil {
				return total, werr
			}
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// Trailers returns the trailer section, or nil. It is complete once Read has returned io.EOF.
func (s *ClientStream) Trailers() []Field {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return s.trailers
}

// SetDeadline sets the time at which waiting calls of both sides return os.ErrDeadlineExceeded; the zero time means
// never. The stream itself lives on.
func (s *ClientStream) SetDeadline(t time.Time) error {
	s.SetReadDeadline(t)
	return s.SetWriteDeadline(t)
}

// SetReadDeadline is SetDeadline for ReadHead and Read.
func (s *ClientStream) SetReadDeadline(t time.Time) error {
	s.c.mu.Lock()
	s.readLate.set(s.c, &s.reader, t)
	s.c.unlock()
	return nil
}

// SetWriteDeadline is SetDeadline for Write and ReadFrom.
func (s *ClientStream) SetWriteDeadline(t time.Time) error {
	s.c.mu.Lock()
	s.writeLate.set(s.c, &s.writer, t)
	s.c.unlock()
	return nil
}

// A deadline wakes a waiter at a time.
type deadline struct {
	passed bool
	timer  *time.Timer
	round  int // of the setting, so that an old timer is known
}

func (d *deadline) set(c *ClientConn, w *waiter, t time.Time) {
	d.stop()
	d.passed = false
	d.round++
	round := d.round
	switch wait := time.Until(t); {
	case t.IsZero():
	case wait <= 0:
		d.passed = true
		c.wake(w)
	default:
		d.timer = time.AfterFunc(wait, func() {
			c.mu.Lock()
			if d.round == round {
				d.passed = true
				c.wake(w)
			}
			c.unlock()
		})
	}
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
