package frame

import (
	"encoding/binary"
	"strconv"
)

// A Header is the part that all frames share, nine octets on the wire. See RFC 9113, Section 4.1.
type Header struct {
	// Length is the size of the payload in octets, 24 bits. The header itself is not counted.
	Length uint32
	Type   Type
	// Flags are kept as they came, the undefined bits too.
	Flags  Flags
	Stream StreamID
}

// ParseHeader reads the header at the beginning of p; ok is false if p holds fewer than HeaderLen octets. Any nine
// octets are a header: CheckHeader says whether it is one that may be accepted.
func ParseHeader(p []byte) (h Header, ok bool) {
	if len(p) < HeaderLen {
		return Header{}, false
	}
	first := binary.BigEndian.Uint32(p)
	// The reserved bit before the stream identifier is ignored. RFC 9113, Section 4.1 (9113-4.1-6).
	stream := StreamID(binary.BigEndian.Uint32(p[5:])) & MaxStreamID
	return Header{Length: first >> 8, Type: Type(first), Flags: Flags(p[4]), Stream: stream}, true
}

// AppendHeader appends the nine octets of h to dst. Only the low 24 bits of the length and the low 31 of the stream
// are written: the reserved bit is always sent as 0 (9113-4.1-5).
func AppendHeader(dst []byte, h Header) []byte {
	stream := h.Stream & MaxStreamID
	return append(dst,
		byte(h.Length>>16), byte(h.Length>>8), byte(h.Length), byte(h.Type), byte(h.Flags),
		byte(stream>>24), byte(stream>>16), byte(stream>>8), byte(stream))
}

// A streamRule says on which streams a frame of some type may be.
type streamRule uint8

const (
	anyStream streamRule = iota
	zeroStream
	nonZeroStream
)

// A frameRule is what the header of a frame of one type has to fulfil. The zero row allows everything: it is the row
// of the types that we do not know, and of extension types, of which only their own parsers judge, since an endpoint
// that does not implement an extension has to ignore its frames whatever they contain (9113-4.1-2).
type frameRule struct {
	min      uint8 // octets that the fixed fields take
	fixed    bool  // the length is exactly min
	stream   streamRule
	sizeConn bool  // a wrong size is a connection error on every stream
	padded   Flags // FlagPadded where it has a meaning: one octet more
	priority Flags // FlagPriority where it has a meaning: five octets more
	flags    Flags // all flags that have a meaning
}

// A size error in a frame that may change the state of the whole connection is a connection error, and those are
// HEADERS, PUSH_PROMISE, CONTINUATION, SETTINGS and everything on stream 0 (9113-4.2-4); RST_STREAM and
// WINDOW_UPDATE name the connection error in their own sections (9113-6.4-5, 9113-6.9-6).
var frameRules = [256]frameRule{
	TypeData: {stream: nonZeroStream, padded: FlagPadded, flags: FlagEndStream | FlagPadded},
	TypeHeaders: {stream: nonZeroStream, sizeConn: true, padded: FlagPadded, priority: FlagPriority,
		flags: FlagEndStream | FlagEndHeaders | FlagPadded | FlagPriority},
	TypePriority:  {min: 5, fixed: true, stream: nonZeroStream},
	TypeRSTStream: {min: 4, fixed: true, stream: nonZeroStream, sizeConn: true},
	TypeSettings:  {stream: zeroStream, sizeConn: true, flags: FlagAck},
	TypePushPromise: {min: 4, stream: nonZeroStream, sizeConn: true, padded: FlagPadded,
		flags: FlagEndHeaders | FlagPadded},
	TypePing:         {min: 8, fixed: true, stream: zeroStream, sizeConn: true, flags: FlagAck},
	TypeGoAway:       {min: 8, stream: zeroStream, sizeConn: true},
	TypeWindowUpdate: {min: 4, fixed: true, sizeConn: true},
	TypeContinuation: {stream: nonZeroStream, sizeConn: true, flags: FlagEndHeaders},
}

// minLength is the smallest payload, in octets, that can hold the mandatory fields of the frame.
func (r *frameRule) minLength(f Flags) uint32 {
	n := uint32(r.min)
	if f&r.padded != 0 {
		n++
	}
	if f&r.priority != 0 {
		n += priorityLen
	}
	return n
}

// CheckHeader applies every rule that the nine octets alone decide: the limit of the payload in octets (what this side
// advertised as SETTINGS_MAX_FRAME_SIZE), the lengths of the types of RFC 9113, and whether they may be on stream 0. It
// returns nil or an *Error. A stream error leaves the payload to be skipped by the caller, who may have to charge it
// against the flow-control window. Unknown and extension types are held to the limit alone.
func CheckHeader(h Header, maxFrameSize uint32) error {
	r := &frameRules[h.Type]
	n := r.minLength(h.Flags)
	if h.Length > maxFrameSize || h.Length < n || r.fixed && h.Length != n ||
		r.stream == nonZeroStream && h.Stream == 0 || r.stream == zeroStream && h.Stream != 0 ||
		h.Type == TypeSettings && (h.Length%settingLen != 0 || h.Flags&FlagAck != 0 && h.Length != 0) {
		return headerError(h, maxFrameSize)
	}
	return nil
}

// headerError names the rule that h breaks.
//
//go:noinline
func headerError(h Header, maxFrameSize uint32) error {
	r := &frameRules[h.Type]
	n := r.minLength(h.Flags)
	switch {
	// A frame above the advertised limit is of no use in any case. RFC 9113, Section 4.2 (9113-4.2-2).
	case h.Length > maxFrameSize:
		return sizeError(h, "is above the limit of "+utoa(maxFrameSize))

	// DATA, HEADERS, PRIORITY, RST_STREAM, PUSH_PROMISE and CONTINUATION belong to a stream.
	// RFC 9113, Section 6 (9113-6.1-1, 6.2-3, 6.3-1, 6.4-2, 6.6-3, 6.10-2).
	case r.stream == nonZeroStream && h.Stream == 0:
		return &Error{Code: ProtocolError, Reason: h.Type.String() + " on stream 0"}

	// SETTINGS, PING and GOAWAY belong to the connection. RFC 9113, Section 6 (9113-6.5-7, 6.7-5, 6.8-7).
	case r.stream == zeroStream && h.Stream != 0:
		return &Error{Code: ProtocolError, Reason: h.Type.String() + " on stream " + utoa(uint32(h.Stream))}

	// PRIORITY, RST_STREAM, PING and WINDOW_UPDATE have one length each.
	// RFC 9113, Section 6 (9113-6.3-2, 6.4-5, 6.7-6, 6.9-6).
	case r.fixed && h.Length != n:
		return sizeError(h, "is not "+utoa(n))

	// The mandatory fields have to fit. RFC 9113, Section 4.2 (9113-4.2-3).
	case h.Length < n:
		return sizeError(h, "is below "+utoa(n))

	// An acknowledgement carries no settings. RFC 9113, Section 6.5 (9113-6.5-5).
	case h.Type == TypeSettings && h.Flags&FlagAck != 0 && h.Length != 0:
		return sizeError(h, "is not 0 in an acknowledgement")

	// Each setting takes six octets. RFC 9113, Section 6.5 (9113-6.5-9).
	case h.Type == TypeSettings && h.Length%settingLen != 0:
		return sizeError(h, "is not a multiple of 6")
	}
	return nil
}

// sizeError is a FRAME_SIZE_ERROR of the scope that the type demands.
func sizeError(h Header, what string) *Error {
	e := &Error{Code: FrameSizeError, Reason: h.Type.String() + " payload of " + utoa(h.Length) + " octets " + what}
	if !frameRules[h.Type].sizeConn {
		e.Stream = h.Stream
	}
	return e
}

func utoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// String is the header as one transcript line; len is the whole payload, padding included.
func (h Header) String() string {
	b := appendStart(nil, h.Type, h.Stream)
	b = appendNumber(b, " len=", h.Length)
	return string(appendFlags(b, h.Type, h.Flags))
}
