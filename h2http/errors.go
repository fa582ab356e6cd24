package h2http

import (
	"context"
	"errors"
	"os"
	"strings"

	"example.com/h2flow"
)

// A RequestError is a request that was refused before anything of it was sent.
type RequestError struct {
	// Reason says what is wrong, in words.
	Reason string
}

// Error is the reason.
func (e *RequestError) Error() string { return "h2http: invalid request: " + e.Reason }

// A TimeoutError is one of the Transport's own timeouts that has passed. Its Timeout method says true, and it is both
// os.ErrDeadlineExceeded and context.DeadlineExceeded for errors.Is.
type TimeoutError struct {
	// Waiting says what did not come in time.
	Waiting string
}

// Error says what did not come in time.
func (e *TimeoutError) Error() string { return "h2http: timeout awaiting " + e.Waiting }

// Timeout is true.
func (e *TimeoutError) Timeout() bool { return true }

// Temporary is true.
func (e *TimeoutError) Temporary() bool { return true }

// Is says that e is a deadline that has passed, whichever of the two names is used for it.
func (e *TimeoutError) Is(target error) bool { return isDeadline(target) }

func isDeadline(target error) bool {
	return target == os.ErrDeadlineExceeded || target == context.DeadlineExceeded
}

// Errors that a body gives. Errors of the protocol come from package h2flow.
var (
	// ErrBodyClosed is what reading a response body gives after it was closed.
	ErrBodyClosed = errors.New("h2http: read of a closed response body")
	// ErrBodyTooLong is the failure of a request whose body gave more octets than its ContentLength.
	ErrBodyTooLong = errors.New("h2http: the request body is longer than its ContentLength")
	// ErrBodyTooShort is the failure of a request whose body ended before its ContentLength.
	ErrBodyTooShort = errors.New("h2http: the request body is shorter than its ContentLength")
)

// errRequestCanceled is the cause of a context that Request.Cancel ended.
var errRequestCanceled = errors.New("h2http: Request.Cancel was closed")

// errNoBodyAgain is why a request cannot be sent again. Other packages look for its last six words.
const errNoBodyAgain = "h2http: the request was not processed, but its body has been read; " +
	"define Request.GetBody to avoid this error"

// An unreplayableError is a request that could be sent again if its body could be had again.
type unreplayableError struct{ err error }

func (e *unreplayableError) Error() string { return errNoBodyAgain + ": " + e.err.Error() }
func (e *unreplayableError) Unwrap() error { return e.err }

// A contextError is a context that ended, with the cause that was given for it.
type contextError struct{ err, cause error }

// contextFailure is the error of a request whose context has ended: the context's own error where that says it all.
func contextFailure(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if err == context.Canceled && cause == err {
		return err
	}
	return &contextError{err: err, cause: cause}
}

// isContextEnd says whether err is what the end of ctx did.
func isContextEnd(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Cause(ctx)) || errors.Is(err, ctx.Err()))
}

func (e *contextError) Error() string {
	if e.cause == e.err {
		return e.err.Error()
	}
	return e.err.Error() + ": " + e.cause.Error()
}

func (e *contextError) Unwrap() []error { return []error{e.err, e.cause} }

// Timeout says whether it was a deadline that ended the context.
func (e *contextError) Timeout() bool   { return e.err == context.DeadlineExceeded }
func (e *contextError) Temporary() bool { return e.Timeout() }

// Is makes a deadline of a context the same as a deadline of a connection.
func (e *contextError) Is(target error) bool { return e.Timeout() && isDeadline(target) }

// countError tells a failure to the counter in HTTP2, in its character set: a-z, 0-9, and _.
func (t *Transport) countError(err error) {
	if t.HTTP2 == nil || t.HTTP2.CountError == nil {
		return
	}
	var (
		goAway *h2flow.GoAwayError
		stream *h2flow.StreamError
		conn   *h2flow.ConnError
		kind   string
		code   h2flow.ErrCode
	)
	switch {
	case errors.As(err, &goAway):
		kind, code = "recv_goaway_", goAway.ErrCode
	case errors.As(err, &stream):
		kind, code = "stream_error_", stream.Code
		if stream.Remote {
			kind = "recv_rststream_"
		}
	case errors.As(err, &conn):
		kind, code = "conn_error_", conn.Code
	default:
		return
	}
	t.HTTP2.CountError(kind + strings.ToLower(code.String()))
}
