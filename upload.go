package h2flow

import (
	"io"
	"os"
	"time"

	"example.com/h2flow/frame"
)

// Write sends p as body. It returns once all of p is packed for sending, which the peer's windows may delay; p is not
// kept. An error says how much was packed. After the peer has given a complete response and asked to stop, the error
// is ErrWriteStopped, and the response can still be read.
func (s *ClientStream) Write(p []byte) (int, error) { return s.write(p, false) }

// WriteEnd sends p as the last piece of the body: END_STREAM goes with its last frame.
func (s *ClientStream) WriteEnd(p []byte) (int, error) { return s.write(p, true) }

func (s *ClientStream) write(p []byte, end bool) (int, error) {
	c := s.c
	s.writing.Lock()
	defer s.writing.Unlock()
	c.mu.Lock()
	defer c.unlock()
	total := 0
	for len(p) > 0 {
		if err := s.writeError(); err != nil {
			return total, err
		}
		n, err := s.pack(p, end)
		if err != nil {
			return total, err
		}
		total += n
		p = p[n:]
	}
	if end && !s.sendOver {
		return total, s.endSend()
	}
	return total, s.sendError()
}

// writeError is why nothing may be sent, or nil.
func (s *ClientStream) writeError() error {
	switch {
	case s.sendErr != nil:
		return s.named(s.sendErr)
	case s.sendOver:
		return s.named(ErrStreamClosed)
	case s.writeLate.passed:
		return s.named(os.ErrDeadlineExceeded)
	}
	return nil
}

// sendError is what the sending side failed with.
func (s *ClientStream) sendError() error {
	if s.sendErr != nil {
		return s.named(s.sendErr)
	}
	return nil
}

// wholeDATA is what a frame holds a multiple of, in octets, if it does not hold all that there is.
const wholeDATA = 4 << 10

// pack packs one frame of p, or waits for room in the buffer or in the peer's windows and packs nothing. With end it
// closes this side if all of p went.
func (s *ClientStream) pack(p []byte, end bool) (int, error) {
	c, w := s.c, &s.c.writer
	room := c.cfg.WriteBufferSize - len(w.buf)
	if room < min(len(p), minBufferSize/4) {
		if c.toWrite() {
			c.flush(false)
		} else {
			c.awaitSpace(&s.writer)
		}
		return 0, nil
	}
	quota := c.core.SendQuota(s.id)
	if quota == 0 {
		c.await(&s.writer, nil)
		return 0, nil
	}
	n := min(len(p), quota, room)
	if n < len(p) && n > wholeDATA {
		// Servers read by round numbers, and what is left of one they do not give back before the next comes: the window
		// of the connection would lack it, and the next upload wait for it.
		n -= n % wholeDATA
	}
	last := end && n == len(p)
	w.buf = c.core.AppendData(c.clock(), c.dataBuf(frame.HeaderLen+n), s.id, n, last)
	w.buf = append(w.buf, p[:n]...)
	if !s.uploads {
		s.uploads = true
		w.bodies++
	}
	c.takeEvents()
	if last {
		s.endedSending()
		s.finish()
	}
	return n, nil
}

// ReadFrom sends what r gives until io.EOF as body.
func (s *ClientStream) ReadFrom(r io.Reader) (int64, error) {
	buf := copyBuffers.Get().(*[]byte)
	defer copyBuffers.Put(buf)
	var total int64
	for {
		n, err := r.Read(*buf)
		if n > 0 {
			k, werr := s.Write((*buf)[:n])
			total += int64(k)
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

// CloseWrite ends the body.
func (s *ClientStream) CloseWrite() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.c.mu.Lock()
	defer s.c.unlock()
	if s.sendOver {
		return s.sendError()
	}
	return s.endSend()
}

func (s *ClientStream) endSend() error {
	s.c.core.EndStream(time.Now(), s.id)
	s.endedSending()
	s.finish()
	return nil
}

// CloseWriteTrailers ends the body with a trailer section. The fields are read until the stream is over; one that may
// not be a trailer is an error, and the body is not ended then.
func (s *ClientStream) CloseWriteTrailers(fields []Field) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.c.mu.Lock()
	defer s.c.unlock()
	if s.sendOver {
		if s.sendErr != nil {
			return s.named(s.sendErr)
		}
		return s.named(ErrStreamClosed)
	}
	if err := s.c.core.SendTrailers(time.Now(), s.id, fields); err != nil {
		return err
	}
	s.endedSending()
	s.finish()
	return nil
}

// endedSending notes that this side is over.
func (s *ClientStream) endedSending() {
	s.sendOver = true
	if s.uploads {
		s.uploads = false
		s.c.writer.bodies--
	}
}
