package conn

import (
	"strconv"
	"strings"

	"example.com/h2flow/frame"
)

// Scope says what an error ends.
type Scope uint8

// The scopes.
const (
	// ScopeStream: the stream alone. See RFC 9113, Section 5.4.2.
	ScopeStream Scope = iota
	// ScopeConnection: the connection, and every stream on it. See RFC 9113, Section 5.4.1.
	ScopeConnection
)

// Origin says who found the error.
type Origin uint8

// The origins.
const (
	// Local: this side found it, or wished it.
	Local Origin = iota
	// Peer: the peer said it, by RST_STREAM or GOAWAY.
	Peer
)

// An Error says why a stream or a connection failed.
type Error struct {
	Code   frame.ErrCode
	Scope  Scope
	Origin Origin

	// Stream is the stream that failed; 0 if the error is told of the connection as a whole.
	Stream frame.StreamID

	// NotProcessed says that the peer did not act on the request, so that it may be sent again whatever its method:
	// its HEADERS never left, or the peer said so. See RFC 9113, Section 8.7.
	NotProcessed bool

	// Answered says that a part of the response had been delivered.
	Answered bool

	// LastStream is the identifier in the peer's GOAWAY, if that is the cause; GoAway says whether it is.
	GoAway     bool
	LastStream frame.StreamID

	// Debug is the debug data of the GOAWAY, as it came: untrusted, at most 1 KiB.
	Debug string

	Reason string
	Err    error // the cause, if the error came from outside the protocol: I/O, a stall
}

// Error names the stream or the connection, the code, who said so, and the reason.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Stream != 0 {
		b.WriteString("stream error: stream ID ")
		b.WriteString(strconv.FormatUint(uint64(e.Stream), 10))
		b.WriteString("; ")
	} else {
		b.WriteString("connection error: ")
	}
	b.WriteString(e.Code.String())
	switch {
	case e.Origin == Peer:
		b.WriteString(", sent by the peer")
	case e.Scope == ScopeConnection && e.Stream != 0:
		b.WriteString(", the connection failed")
	}
	if e.Reason != "" {
		b.WriteString(": ")
		b.WriteString(e.Reason)
	}
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	if e.NotProcessed {
		b.WriteString(" (not processed by the peer; safe to send again)")
	}
	return b.String()
}

// Unwrap returns the cause from outside the protocol, if any.
func (e *Error) Unwrap() error { return e.Err }
