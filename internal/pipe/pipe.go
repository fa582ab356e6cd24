package pipe

import (
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// A Link describes the path between the two ends. The zero value has no delay and no limit of the rate.
type Link struct {
	// RTT is the time for an octet there and back; half of it in each direction.
	RTT time.Duration

	// Rate is that of each direction in bits per second. Zero means unlimited.
	Rate int64

	// Queue is how many octets may wait in each direction, before they leave and until they are read. A Write blocks
	// above it. Octets that travel do not count, except when the rate is unlimited. Zero means DefaultQueue.
	Queue int

	// NoDeadlines makes SetDeadline and its kin fail with errors.ErrUnsupported, as a channel of SSH does.
	NoDeadlines bool
}

// DefaultQueue is the queue of a Link that does not set one, in octets.
const DefaultQueue = 256 << 10

// A Conn is one end of a connection in memory. Its methods may be called by several goroutines at once.
type Conn struct {
	in, out     *direction
	noDeadlines bool
	local, peer Addr
}

var _ net.Conn = (*Conn)(nil)

// New returns the two ends of a connection.
func New(l Link) (client, server *Conn) {
	up, down := newDirection(l), newDirection(l)
	client = &Conn{in: down, out: up, noDeadlines: l.NoDeadlines, local: "client", peer: "server"}
	server = &Conn{in: up, out: down, noDeadlines: l.NoDeadlines, local: "server", peer: "client"}
	return client, server
}

// Read reads what has arrived. It returns io.EOF after the other end was closed for writing, and ECONNRESET after it
// was aborted.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.in.receive(p)
	return n, c.wrap("read", err)
}

// Write puts p into the queue, and blocks while that is full. If it fails, the first n octets are on their way. It
// fails with EPIPE after the other end was closed, and with ECONNRESET after it was aborted.
func (c *Conn) Write(p []byte) (n int, err error) {
	n, err = c.out.write(p)
	return n, c.wrap("write", err)
}

// Close closes both directions. Blocked calls on this end fail with net.ErrClosed. What was written still arrives at
// the other end; what was not read is dropped.
func (c *Conn) Close() error {
	c.out.closeWriter(net.ErrClosed)
	c.in.closeReader()
	return nil
}

// CloseWrite ends the octets to the other end, which reads io.EOF after the last of them. Reading goes on.
func (c *Conn) CloseWrite() error {
	c.out.closeWriter(syscall.EPIPE)
	return nil
}

// Abort closes this end and resets the connection: when the news arrives, the other end's calls fail with ECONNRESET,
// and what it has not read by then is lost.
func (c *Conn) Abort() {
	c.out.abort(true)
	c.in.abort(false)
	_ = c.Close()
}

// PauseReads makes Read block on this end, whatever arrives, until ResumeReads: a peer that never reads.
func (c *Conn) PauseReads() { c.in.update(func() { c.in.held |= holdReads }) }

// ResumeReads ends PauseReads.
func (c *Conn) ResumeReads() { c.in.update(func() { c.in.held &^= holdReads }) }

// PauseWrites keeps everything written on this end, and what is already on its way, from the other end until
// ResumeWrites, though Write succeeds while there is room: a path that has gone dead.
func (c *Conn) PauseWrites() { c.out.update(func() { c.out.held |= holdWrites }) }

// ResumeWrites ends PauseWrites.
func (c *Conn) ResumeWrites() { c.out.update(func() { c.out.held &^= holdWrites }) }

// Stats are counters of one end, in octets.
type Stats struct {
	Sent     int64 // accepted by Write
	Received int64 // returned by Read, or dropped when this end was closed
	Waiting  int64 // written to this end's queue and not yet read by the other end
}

// Stats returns the counters as they are now.
func (c *Conn) Stats() Stats {
	var s Stats
	c.out.mu.Lock()
	s.Sent, s.Waiting = c.out.written, c.out.written-c.out.read
	c.out.mu.Unlock()
	c.in.mu.Lock()
	s.Received = c.in.read
	c.in.mu.Unlock()
	return s
}

// SetDeadline sets both deadlines. A deadline that has passed ends blocked calls at once with
// os.ErrDeadlineExceeded; the zero time is none.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline sets the deadline of Read; see SetDeadline.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if c.noDeadlines {
		return c.wrap("set", errors.ErrUnsupported)
	}
	c.in.update(func() { c.in.readDeadline = t })
	return nil
}

// SetWriteDeadline sets the deadline of Write; see SetDeadline.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	if c.noDeadlines {
		return c.wrap("set", errors.ErrUnsupported)
	}
	c.out.update(func() { c.out.writeDeadline = t })
	return nil
}

// LocalAddr is the address of this end.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr is the address of the other end.
func (c *Conn) RemoteAddr() net.Addr { return c.peer }

// wrap gives an error the form that errors of package net have; io.EOF stays as it is.
func (c *Conn) wrap(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return &net.OpError{Op: op, Net: c.local.Network(), Source: c.local, Addr: c.peer, Err: err}
}

// An Addr is the name of an end.
type Addr string

// Network is "pipe".
func (Addr) Network() string { return "pipe" }

// String is the name.
func (a Addr) String() string { return string(a) }
