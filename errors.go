package h2flow

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"

	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
)

// The sentinels that errors of this package match by errors.Is.
var (
	// ErrNotProcessed: the peer did not act on the request, so that it may be sent again, whatever its method.
	ErrNotProcessed = errors.New("h2flow: the request was not processed by the peer; it is safe to send again")
	// ErrConnClosed: the connection is over or takes no new streams.
	ErrConnClosed = errors.New("h2flow: the connection is closed")
	// ErrStreamClosed: the stream was closed, or its sending side was, by this side.
	ErrStreamClosed = errors.New("h2flow: the stream is closed")
	// ErrWriteStopped: the peer gave a complete response and wants no more of the request body. The response can
	// still be read.
	ErrWriteStopped = errors.New("h2flow: the peer has answered and wants no more of the request body")
	// ErrProtocolNotNegotiated: the TLS peer did not choose HTTP/2.
	ErrProtocolNotNegotiated = errors.New("h2flow: the peer did not choose HTTP/2 (ALPN h2)")
)

// Retryable reports whether the request that failed with err may be sent again whatever its method: the peer did not
// act on it. It is the same as errors.Is(err, ErrNotProcessed).
func Retryable(err error) bool { return errors.Is(err, ErrNotProcessed) }

// A StreamError says why one stream failed.
type StreamError struct {
	StreamID uint32
	Code     ErrCode
	// Cause is what is behind it: a *ConnError or *GoAwayError if the connection failed, a *flow.Stall, or nil.
	Cause error
	// Remote says that the peer ended the stream; else this side did.
	Remote bool
	// NotProcessed says that the peer did not act on the request; see ErrNotProcessed.
	NotProcessed bool
	// Answered says that a part of the response had come.
	Answered bool
	// Reason says in words what happened.
	Reason string
}

// Error names the stream, the code, who said so, the reason, and whether the request may be sent again.
func (e *StreamError) Error() string {
	s := "stream error: stream ID " + strconv.FormatUint(uint64(e.StreamID), 10) + "; " + e.Code.String()
	if e.Remote {
		s += "; received from peer"
	}
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	if e.NotProcessed {
		s += " (not processed by the peer; safe to send again)"
	}
	return s
}

// Unwrap returns the Cause.
func (e *StreamError) Unwrap() error { return e.Cause }

// Is matches ErrNotProcessed.
func (e *StreamError) Is(target error) bool { return target == ErrNotProcessed && e.NotProcessed }

// As fills any struct that has the fields StreamID, Code and Cause, so that code written for other packages' stream
// errors finds its own type in ours.
func (e *StreamError) As(target any) bool {
	v := reflect.ValueOf(target)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct || v.Elem().NumField() != 3 {
		return false
	}
	id, code, cause := v.Elem().FieldByName("StreamID"), v.Elem().FieldByName("Code"), v.Elem().FieldByName("Cause")
	if !settable(id, reflect.Uint32) || !settable(code, reflect.Uint32) || !settable(cause, reflect.Interface) {
		return false
	}
	id.SetUint(uint64(e.StreamID))
	code.SetUint(uint64(e.Code))
	if e.Cause != nil {
		cause.Set(reflect.ValueOf(e.Cause))
	}
	return true
}

func settable(v reflect.Value, k reflect.Kind) bool {
	return v.IsValid() && v.CanSet() && v.Kind() == k
}

// A stateError is what a call found about its stream, with the stream's name. It is what it wraps for errors.Is, and a
// timeout if that is one.
type stateError struct {
	id  frame.StreamID
	err error
}

func (e *stateError) Error() string {
	text := strings.TrimPrefix(e.err.Error(), "h2flow: ")
	return "h2flow: stream " + strconv.FormatUint(uint64(e.id), 10) + ": " + text
}

func (e *stateError) Unwrap() error { return e.err }

// Timeout and Temporary are those of net.Error.
func (e *stateError) Timeout() bool   { return e.err == os.ErrDeadlineExceeded }
func (e *stateError) Temporary() bool { return e.Timeout() }

// named gives the errors that do not know their stream its name.
func (s *ClientStream) named(err error) error {
	if err == ErrStreamClosed || err == os.ErrDeadlineExceeded {
		return &stateError{s.id, err}
	}
	return err
}

// A ConnError says why a connection failed.
type ConnError struct {
	Code   ErrCode
	Reason string
	// Cause is the error of the transport, if that failed.
	Cause error
}

// Error names the code and the reason.
func (e *ConnError) Error() string {
	s := "connection error: " + e.Code.String()
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the Cause.
func (e *ConnError) Unwrap() error { return e.Cause }

// Is matches ErrConnClosed.
func (e *ConnError) Is(target error) bool { return target == ErrConnClosed }

// A GoAwayError says that the peer ended the connection by GOAWAY.
type GoAwayError struct {
	// LastStreamID is the last stream that the peer acted on.
	LastStreamID uint32
	ErrCode      ErrCode
	// DebugData is what the peer added: untrusted, at most 1 KiB.
	DebugData string
}

// Error names the code and the last stream; the debug data is quoted.
func (e *GoAwayError) Error() string {
	s := fmt.Sprintf("the peer sent GOAWAY; last stream %d; %v", e.LastStreamID, e.ErrCode)
	if e.DebugData != "" {
		s += "; " + strconv.QuoteToASCII(e.DebugData)
	}
	return s
}

// Is matches ErrConnClosed.
func (e *GoAwayError) Is(target error) bool { return target == ErrConnClosed }

// connError makes the error of the connection from the core's.
func connError(e *conn.Error) error {
	switch {
	case e == nil:
		return nil
	case e.GoAway:
		return &GoAwayError{LastStreamID: uint32(e.LastStream), ErrCode: e.Code, DebugData: e.Debug}
	}
	return &ConnError{Code: e.Code, Reason: e.Reason, Cause: e.Err}
}

// streamError makes the error of a stream from the core's.
func streamError(e *conn.Error) *StreamError {
	s := &StreamError{
		StreamID: uint32(e.Stream), Code: e.Code, Remote: e.Origin == conn.Peer, NotProcessed: e.NotProcessed,
		Answered: e.Answered,
	}
	switch {
	case e.GoAway, e.Scope == conn.ScopeConnection:
		s.Cause = connError(e)
	default:
		s.Reason, s.Cause = e.Reason, e.Err
	}
	return s
}

// An OpenError says why a stream could not be opened; nothing was sent.
type OpenError struct {
	// Err is the reason: one of package conn's sentinels, a *conn.FieldError, or the error of the connection.
	Err error
	// Elsewhere says that the request may succeed on another connection.
	Elsewhere bool
}

// Error gives the reason, and says whether another connection may serve.
func (e *OpenError) Error() string {
	s := "h2flow: cannot open a stream: " + e.Err.Error()
	if e.Elsewhere {
		s += " (nothing was sent; safe to send on another connection)"
	}
	return s
}

// Unwrap returns Err.
func (e *OpenError) Unwrap() error { return e.Err }

// Is matches ErrNotProcessed and ErrConnClosed if the request may succeed on another connection.
func (e *OpenError) Is(target error) bool {
	return e.Elsewhere && (target == ErrNotProcessed || target == ErrConnClosed)
}

// openError makes the error of OpenStream.
func openError(err, connErr error) error {
	elsewhere := errors.Is(err, conn.ErrClosed) || errors.Is(err, conn.ErrIDsExhausted)
	if elsewhere && connErr != nil {
		err = connErr
	}
	return &OpenError{Err: err, Elsewhere: elsewhere || errors.Is(err, conn.ErrQueueFull)}
}
