package h2http

import (
	"io"
	"net/http"
)

// An exchange is the body of its response.
var (
	_ io.ReadCloser = (*exchange)(nil)
	_ io.WriterTo   = (*exchange)(nil)
)

// Read reads the response body as it arrives. After io.EOF the trailers are in the response.
func (x *exchange) Read(p []byte) (int, error) {
	switch {
	case x.closed.Load():
		return 0, ErrBodyClosed
	case x.readErr != nil:
		return 0, x.readErr
	}
	n, err := x.stream.Read(p)
	if err != nil {
		err = x.endBody(err)
	}
	return n, err
}

// WriteTo writes the rest of the response body to w, without a buffer in between.
func (x *exchange) WriteTo(w io.Writer) (int64, error) {
	switch {
	case x.closed.Load():
		return 0, ErrBodyClosed
	case x.readErr == io.EOF:
		return 0, nil
	case x.readErr != nil:
		return 0, x.readErr
	}
	sink := bodySink{w: w}
	n, err := x.stream.WriteTo(&sink)
	switch {
	case sink.err != nil:
		return n, sink.err
	case err == nil:
		x.endBody(io.EOF)
		return n, nil
	}
	return n, x.endBody(err)
}

// A bodySink tells failures of the writer from failures of the stream.
type bodySink struct {
	w   io.Writer
	err error
}

func (s *bodySink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	s.err = err
	return n, err
}

// Close ends the exchange. What is left of the response, and of the request body, is cancelled.
func (x *exchange) Close() error {
	if x.closed.Swap(true) {
		return nil
	}
	x.stream.Close()
	if x.up != nil {
		x.up.leave()
	}
	x.responseOver()
	return nil
}

// endBody is told how reading the body ended, and returns what the reader is told from then on.
func (x *exchange) endBody(err error) error {
	switch {
	case err == io.EOF:
		x.setTrailers()
		if x.up != nil && x.up.isCut() {
			// The server has said all it has to say, and will not get the rest of the request.
			x.stream.Close()
		}
	case x.closed.Load():
		err = ErrBodyClosed
	default:
		err = x.failure(err)
		x.t.countError(err)
		x.stream.Close()
		if x.up != nil {
			x.up.stop()
		}
	}
	x.readErr = err
	x.responseOver()
	return err
}

// setTrailers adds the trailers to those that the response announced.
func (x *exchange) setTrailers() {
	fields := x.stream.Trailers()
	if len(fields) == 0 {
		return
	}
	trailer := makeHeader(fields)
	if x.resp.Trailer == nil {
		x.resp.Trailer = make(http.Header, len(trailer))
	}
	for key, values := range trailer {
		x.resp.Trailer[key] = values
	}
}

// responseOver lets go of what the response side held. It may be called more than once, from anywhere.
func (x *exchange) responseOver() {
	if x.over.Swap(true) {
		return
	}
	if x.up != nil {
		x.up.sideDone()
		return
	}
	if x.retries == 0 {
		// Nothing else has seen the message, and the stream, which read it, is over.
		x.msg.free()
		x.msg = nil
	}
	x.pc.release()
	if x.unwatch != nil {
		x.unwatch()
	}
}
