package h2http

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
)

// An upload sends the body and the trailers of one request on one stream, in a goroutine of its own.
//
// Model: the goroutine reads the body only while stopped is false, and says so by reading. Whoever stops the upload
// closes the body, so that a Read in progress ends; no Read begins after. The body is closed by the first to set
// closed, exactly once. The fields of the first group never change.
type upload struct {
	stream    *h2flow.ClientStream
	body      io.ReadCloser // nil: only trailers are sent
	length    int64         // declared octets, or -1
	trailer   http.Header
	trace     *httptrace.ClientTrace
	lastOnEnd time.Duration // how long to wait for the response head after the end; 0: no limit

	// gate, if not nil, is closed when the server wants the body; continueTimeout is how long to wait for that.
	gate            chan struct{}
	continueTimeout time.Duration

	quit chan struct{} // closed by stop
	done chan struct{} // closed when nothing touches the request any more

	// The exchange is over, and the connection free for others, when both sides are: left counts down to 0.
	left        atomic.Int32
	requestOver sync.Once
	pc          *poolConn
	unwatch     func()

	sent int64 // octets read from the body; the goroutine's own

	mu      sync.Mutex
	reading bool // a Read of the body is in progress
	touched bool // a Read of the body has begun
	stopped bool // no Read may begin
	closed  bool // the body is closed, being closed, or not ours to close
	opened  bool // gate is closed
	ended   bool // everything was sent
	headed  bool // the final response head has arrived
	err     error

	traceMu sync.Mutex // held while a hook runs
	gone    bool       // RoundTrip failed or the response body was closed: no hook is called any more
}

func newUpload(x *exchange) *upload {
	u := &upload{
		stream:    x.stream,
		body:      x.body,
		length:    x.msg.length,
		trailer:   x.req.Trailer,
		trace:     x.trace,
		lastOnEnd: x.t.ResponseHeaderTimeout,
		quit:      make(chan struct{}),
		done:      make(chan struct{}),
		pc:        x.pc,
		unwatch:   x.unwatch,
		closed:    x.body == nil,
	}
	if d := timeout(x.t.ExpectContinueTimeout, defaultExpectContinueTimeout); x.msg.expectContinue && d > 0 {
		u.gate, u.continueTimeout = make(chan struct{}), d
	}
	u.left.Store(2)
	return u
}

func (u *upload) run() {
	err := u.send()
	u.mu.Lock()
	u.stopped = true
	closing := !u.closed
	u.closed = true
	failed := u.err
	u.ended = err == nil
	if u.ended && u.lastOnEnd > 0 && !u.headed {
		u.stream.SetReadDeadline(time.Now().Add(u.lastOnEnd))
	}
	u.mu.Unlock()
	if closing {
		u.body.Close()
	}
	if failed != nil {
		// The server must not take what it got for the whole request.
		u.stream.Reset(frame.Cancel)
	}
	u.wroteRequest(err)
	close(u.done)
	u.requestOver.Do(u.sideDone)
}

// errUploadStopped ends an upload whose rest nobody wants.
var errUploadStopped = errors.New("h2http: the request body is no longer wanted")

// send does all the sending. Its error, nil after the end of the stream was sent, is why it stopped; what is the
// request's own fault is in u.err as well.
func (u *upload) send() error {
	if !u.waitContinue() {
		return errUploadStopped
	}
	if u.body != nil {
		if ended, err := u.sendBody(); ended || err != nil {
			return err
		}
	}
	if len(u.trailer) == 0 {
		return u.stream.CloseWrite()
	}
	fields, err := trailerFields(u.trailer)
	if err != nil {
		return u.fail(err)
	}
	if len(fields) == 0 {
		return u.stream.CloseWrite()
	}
	return u.stream.CloseWriteTrailers(fields)
}

// smallBody is the declared length, in octets, up to which it is worth finding out that the body is complete before
// its last piece is sent: then the end of the stream goes with it, and needs no frame of its own.
const smallBody = 16 << 10

var smallBuffers = sync.Pool{New: func() any { return new([smallBody]byte) }}

// sendBody sends the body, and says whether it has ended the stream.
func (u *upload) sendBody() (ended bool, err error) {
	r := bodyReader{u}
	if 0 < u.length && u.length <= smallBody && len(u.trailer) == 0 {
		if ended, err = u.sendSmall(r); ended || err != nil {
			return ended, err
		}
	}
	_, err = u.stream.ReadFrom(r)
	return false, err
}

// sendSmall sends the first piece of the body as it comes, which often is all of it.
func (u *upload) sendSmall(r bodyReader) (ended bool, err error) {
	buf := smallBuffers.Get().(*[smallBody]byte)
	defer smallBuffers.Put(buf)
	n, err := r.Read(buf[:])
	if err == nil && u.sent == u.length {
		var past [1]byte
		_, err = r.Read(past[:])
	}
	switch err {
	case nil:
		_, err = u.stream.Write(buf[:n])
		return false, err
	case io.EOF:
		_, err = u.stream.WriteEnd(buf[:n])
		return true, err
	}
	return false, err
}

func (u *upload) fail(err error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.stopped {
		return errUploadStopped
	}
	u.err = err
	return err
}

// waitContinue waits until the server wants the body, or has not said so for long enough. It is false if the body is
// not wanted. See RFC 9110, Section 10.1.1.
func (u *upload) waitContinue() bool {
	if u.gate == nil {
		return true
	}
	u.traceWait100Continue()
	timer := time.NewTimer(u.continueTimeout)
	defer timer.Stop()
	select {
	case <-u.gate:
	case <-timer.C:
	case <-u.quit:
		return false
	}
	return true
}

// open lets the body be sent.
func (u *upload) open() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.gate != nil && !u.opened {
		u.opened = true
		close(u.gate)
	}
}

// A bodyReader is the request body as the stream reads it: it stops when the upload is stopped, and holds the body to
// its declared length.
type bodyReader struct{ *upload }

func (r bodyReader) Read(p []byte) (int, error) {
	u := r.upload
	u.mu.Lock()
	if u.stopped {
		u.mu.Unlock()
		return 0, errUploadStopped
	}
	u.reading, u.touched = true, true
	u.mu.Unlock()

	n, err := u.body.Read(p)

	u.mu.Lock()
	defer u.mu.Unlock()
	u.reading = false
	if u.stopped {
		return 0, errUploadStopped
	}
	u.sent += int64(n)
	switch {
	// The server counts too: more or fewer octets than declared make the request malformed. RFC 9113, Section 8.1.1.
	case u.length >= 0 && u.sent > u.length:
		n, err = 0, ErrBodyTooLong
	case err == io.EOF && u.sent < u.length:
		err = ErrBodyTooShort
	}
	if err != nil && err != io.EOF {
		u.err = err
	}
	return n, err
}

// gotHead is told the status of the final response head. A server that answered before it said that it wants the body
// does not want it, and one that answers with a redirection or an error has no use for the rest.
func (u *upload) gotHead(status int) {
	u.mu.Lock()
	u.headed = true
	waiting := u.gate != nil && !u.touched
	ended := u.ended
	u.mu.Unlock()
	if !ended && (waiting || status >= 300) {
		u.stop()
	}
}

// stop ends the upload: no Read of the body begins any more, and the body is closed.
func (u *upload) stop() {
	u.mu.Lock()
	first := !u.stopped
	u.stopped = true
	closing := !u.closed
	u.closed = true
	u.mu.Unlock()
	if closing {
		u.body.Close()
	}
	if first {
		close(u.quit)
	}
}

// readGrace is how long a Read of the request body may go on after the body was closed before it is left behind.
const readGrace = 100 * time.Millisecond

// leave stops the upload and waits until nothing touches the request any more, or for a Read that ignores that its
// body was closed, as long as is bearable. The stream must be over, so that nothing else can block.
func (u *upload) leave() {
	u.traceMu.Lock()
	u.gone = true
	u.traceMu.Unlock()
	u.stop()
	select {
	case <-u.done:
		return
	default:
	}
	timer := time.NewTimer(readGrace)
	defer timer.Stop()
	select {
	case <-u.done:
	case <-timer.C:
		// The stream is over; only the caller's reader is still busy.
		u.requestOver.Do(u.sideDone)
	}
}

// abandon is leave for an attempt that failed. It gives the body back if no Read of it has begun.
func (u *upload) abandon() io.ReadCloser {
	u.mu.Lock()
	var untouched io.ReadCloser
	if !u.touched && !u.closed {
		untouched, u.closed = u.body, true
	}
	u.unwatch = nil
	u.mu.Unlock()
	u.leave()
	return untouched
}

// failure is what is wrong with the request body, if that ended the exchange.
func (u *upload) failure() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// isCut says whether the upload was ended before everything was sent.
func (u *upload) isCut() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.stopped && !u.ended
}

// isDone says whether nothing is left to send.
func (u *upload) isDone() bool {
	select {
	case <-u.done:
		return true
	default:
		return false
	}
}

// sideDone says that the request side or the response side is over.
func (u *upload) sideDone() {
	if u.left.Add(-1) > 0 {
		return
	}
	u.pc.release()
	if u.unwatch != nil {
		u.unwatch()
	}
}
