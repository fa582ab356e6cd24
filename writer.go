package h2flow

import (
	"crypto/tls"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"time"
)

// writer is the sending side: what was packed and waits for its turn.
//
// Model: buf is filled by whoever has something to send, up to Config.WriteBufferSize. One goroutine at a time holds the
// pen: it takes buf, packs what else is pending, and writes, until nothing is left; so what many ask for leaves in one
// write. What the socket is known to take at once is written by the goroutine that asked for it, before it goes on, which
// spares a hand-over, and lets GOAWAY leave before the error is returned; anything else by a goroutine that exists while
// there is something to write. So nobody who asks for something to be sent waits for the transport.
type writer struct {
	pen    bool // somebody holds it
	failed bool
	whole  []byte // a buffer that the socket did not take whole
	rest   []byte // what is left of it; it goes first
	buf    []byte // packed, to be written next
	spare  []byte // the other buffer, while it is not being written
	bodies int    // of requests, of which something was packed and the end was not
	space  []*waiter
	until  time.Time // the transport's write deadline
	run    func()    // ClientConn.write; kept, since making it anew would allocate
}

// toWrite reports whether there is something to write and nobody holds the pen.
func (c *ClientConn) toWrite() bool {
	w := &c.writer
	return !w.pen && !w.failed && (len(w.buf) > 0 || len(w.rest) > 0 || c.core.HasOutput() || c.core.Done())
}

// startWriter starts the writing goroutine if there is something to send and nobody sends.
func (c *ClientConn) startWriter() {
	if c.toWrite() {
		c.writer.pen = true
		go c.writer.run()
	}
}

// flush sends what there is to send: at once if the transport takes it, else by the writing goroutine. The lock is held
// before and after, and not in between. With others, goroutines that can run do so first, since they are likely to have
// something to send, too.
func (c *ClientConn) flush(others bool) {
	if !c.toWrite() {
		return
	}
	w := &c.writer
	w.pen = true
	if c.socket == nil {
		go w.run()
		return
	}
	if others {
		c.mu.Unlock()
		runtime.Gosched()
		c.mu.Lock()
	}
	for c.packAll() {
		if c.tryWrite(); len(w.rest) > 0 {
			go w.run()
			return
		}
	}
	c.dropPen()
}

// tryWrite writes of the buffer what the transport takes at once. The lock is held before and after, not in between. An
// error is left to whoever writes the rest.
func (c *ClientConn) tryWrite() {
	buf, packed := c.takeBuf()
	n := 0
	if c.socket.plain {
		n = c.socket.tryWrite(buf)
	} else {
		n = c.tryRecords(buf)
	}
	c.mu.Lock()
	c.core.Written(packed - int64(len(buf)-n))
	if n == len(buf) {
		c.keepSpare(buf)
		return
	}
	c.writer.rest, c.writer.whole = buf[n:], buf
}

// tryRecords writes p by TLS, a record at a time, while the socket has room for one. It returns how much was written.
func (c *ClientConn) tryRecords(p []byte) int {
	for total := 0; ; {
		if total == len(p) || !c.socket.writable() {
			return total
		}
		n, err := c.send(p[total:min(total+maxTLSRecord, len(p))], true)
		if total += n; err != nil {
			return total
		}
	}
}

// takeBuf takes the buffer, which may be seen by the peer from now on, and unlocks. It returns how much is packed with
// it.
func (c *ClientConn) takeBuf() (buf []byte, packed int64) {
	w := &c.writer
	buf, w.buf = w.buf, nil
	packed = c.core.Packed()
	c.core.Written(packed)
	c.wakeSpace()
	c.endSection()
	c.mu.Unlock()
	return buf, packed
}

// keepSpare keeps a buffer that was written for the next time.
func (c *ClientConn) keepSpare(buf []byte) {
	if c.writer.spare == nil && cap(buf) <= 2*c.cfg.WriteBufferSize {
		c.writer.spare = buf[:0]
	}
}

// awaitSpace waits until the buffer was taken, or w is woken for another reason.
func (c *ClientConn) awaitSpace(w *waiter) {
	w.fired, w.space = false, true
	c.writer.space = append(c.writer.space, w)
	c.sleep(w)
}

// wakeSpace wakes everybody who waits for room in the buffer.
func (c *ClientConn) wakeSpace() {
	for len(c.writer.space) > 0 {
		c.wake(c.writer.space[0])
	}
}

// packNow packs pending output into the buffer at once if there is room, so that what was asked for has its place in
// the order.
func (c *ClientConn) packNow(now time.Time) {
	w := &c.writer
	if room := c.cfg.WriteBufferSize - len(w.buf); room > 0 && !w.failed {
		w.buf = c.core.AppendOutput(now, c.writeBuf(), room)
		c.takeEvents()
	}
}

// packAll packs what is pending and reports whether there is something to write.
func (c *ClientConn) packAll() bool {
	if c.core.HasOutput() {
		c.packNow(c.clock())
	}
	return len(c.writer.buf) > 0
}

// writeBuf is the buffer to pack into.
func (c *ClientConn) writeBuf() []byte {
	if c.writer.buf == nil {
		c.writer.buf = c.writer.spare
		c.writer.spare = nil
	}
	return c.writer.buf
}

// dataBuf is the buffer to pack n octets of DATA into: it has room for them.
func (c *ClientConn) dataBuf(n int) []byte {
	w := &c.writer
	buf := c.writeBuf()
	if cap(buf)-len(buf) < n {
		size := c.cfg.WriteBufferSize
		w.buf = append(writeBuffers.get(max(size, len(buf)+n))[:0], buf...)
	}
	return w.buf
}

// write is the writing goroutine; it holds the pen from the start.
func (c *ClientConn) write() {
	c.mu.Lock()
	for (len(c.writer.rest) > 0 || c.packAll()) && c.writeOut() {
	}
	if c.core.Done() || c.writer.failed {
		c.writer.failed = true // nothing is written any more
		c.writer.pen = false
		c.closeTransport()
		return
	}
	c.dropPen()
	c.unlock()
}

// dropPen ends the writing; an idle connection holds no large buffer.
func (c *ClientConn) dropPen() {
	w := &c.writer
	w.pen = false
	if cap(w.spare) > smallBuffer && w.bodies == 0 {
		writeBuffers.put(w.spare)
		w.spare = nil
	}
	if c.core.Done() {
		c.startWriter() // which closes the transport
	}
}

// writeOut writes the buffer. The lock is held before and after, not in between. It reports false if the transport
// failed.
func (c *ClientConn) writeOut() bool {
	w := &c.writer
	var buf, whole []byte
	var packed int64
	if len(w.rest) > 0 {
		buf, whole, packed = w.rest, w.whole, c.core.Packed()-int64(len(w.buf))
		w.rest, w.whole = nil, nil
		c.core.Written(packed)
		c.endSection()
		c.mu.Unlock()
	} else {
		buf, packed = c.takeBuf()
		whole = buf
	}

	n, err := c.send(buf, false)

	c.mu.Lock()
	c.core.Written(packed - int64(len(buf)-n))
	c.keepSpare(whole)
	if err != nil {
		c.transportFailed(err)
	}
	return err == nil
}

// maxTLSRecord is what one TLS record carries at most, in octets. See RFC 8446, Section 5.1.
const maxTLSRecord = 16 << 10

// send writes p, as long as something of it leaves within each timeout. It returns how much did, and an error unless
// that is all. A little, which the socket has room for, may have a quarter more time than that.
func (c *ClientConn) send(p []byte, little bool) (total int, err error) {
	timeout := timeoutOr(c.cfg.WriteTimeout, defaultWriteTimeout)
	piece := len(p)
	if _, ok := c.nc.(*tls.Conn); ok {
		piece = maxTLSRecord // a record that a deadline cuts ends the connection
	}
	for total < len(p) {
		if timeout > 0 {
			c.setWriteDeadline(timeout, little)
		}
		rest := p[total:min(total+piece, len(p))]
		n, err := c.nc.Write(rest)
		total += n
		switch {
		case err == nil && n < len(rest):
			return total, io.ErrShortWrite
		case err != nil && !(n > 0 && errors.Is(err, os.ErrDeadlineExceeded)):
			return total, err
		}
	}
	return total, nil
}

// setWriteDeadline lets the next write take timeout. For a little, a deadline that is further away is left alone, since
// to move it costs as much as what else this side does for a small write. Whoever holds the pen calls it.
func (c *ClientConn) setWriteDeadline(timeout time.Duration, little bool) {
	w, now := &c.writer, c.clock()
	switch {
	case !little:
		w.until = now.Add(timeout)
	case w.until.Sub(now) < timeout:
		w.until = now.Add(timeout + timeout/4)
	default:
		return
	}
	c.nc.SetWriteDeadline(w.until) // a transport that refuses deadlines has none
}

// A bufferPool holds buffers of one size, or of few.
type bufferPool struct{ pool sync.Pool } // of *[]byte

var readBuffers, writeBuffers bufferPool

// get returns a buffer of size octets.
func (p *bufferPool) get(size int) []byte {
	if b, ok := p.pool.Get().(*[]byte); ok && cap(*b) >= size && cap(*b) <= 2*size {
		return (*b)[:size]
	}
	return make([]byte, size)
}

func (p *bufferPool) put(buf []byte) {
	if buf != nil {
		p.pool.Put(&buf)
	}
}
