package frame

import "encoding/binary"

const windowUpdateLen = 4

// A WindowUpdate frame lets the peer send Increment octets more on a stream, or with stream 0 on the connection.
// See RFC 9113, Section 6.9.
type WindowUpdate struct {
	Stream    StreamID
	Increment uint32
}

// ParseWindowUpdate reads a WINDOW_UPDATE frame whose header CheckHeader has passed. An error is an *Error. Whether the
// window may grow by the increment is not judged here.
func ParseWindowUpdate(h Header, payload []byte) (WindowUpdate, error) {
	if len(payload) != windowUpdateLen {
		return WindowUpdate{}, lengthError(TypeWindowUpdate, h, payload)
	}
	n := binary.BigEndian.Uint32(payload) & MaxWindow
	// An increment of 0 is an error of the stream, or of the connection. RFC 9113, Section 6.9 (9113-6.9-2, 6.9-3).
	if n == 0 {
		return WindowUpdate{}, incrementError(h.Stream)
	}
	return WindowUpdate{Stream: h.Stream, Increment: n}, nil
}

//go:noinline
func incrementError(stream StreamID) error {
	return &Error{Code: ProtocolError, Stream: stream, Reason: "WINDOW_UPDATE with an increment of 0"}
}

// AppendWindowUpdate appends a WINDOW_UPDATE frame to dst. The increment, in octets, must be within 1 and MaxWindow.
func AppendWindowUpdate(dst []byte, stream StreamID, increment uint32) []byte {
	dst = AppendHeader(dst, Header{Length: windowUpdateLen, Type: TypeWindowUpdate, Stream: stream})
	return binary.BigEndian.AppendUint32(dst, increment&MaxWindow)
}

// FrameHeader returns the header that AppendTo writes.
func (f WindowUpdate) FrameHeader() Header {
	return Header{Length: windowUpdateLen, Type: TypeWindowUpdate, Stream: f.Stream}
}

// AppendTo appends the frame to dst.
func (f WindowUpdate) AppendTo(dst []byte) []byte {
	return AppendWindowUpdate(dst, f.Stream, f.Increment)
}

// String is the frame as one transcript line.
func (f WindowUpdate) String() string {
	return string(appendNumber(appendStart(nil, TypeWindowUpdate, f.Stream), " increment=", f.Increment))
}
