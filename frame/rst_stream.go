package frame

import "encoding/binary"

const rstStreamLen = 4

// An RSTStream frame ends a stream at once. See RFC 9113, Section 6.4.
type RSTStream struct {
	Stream StreamID
	// Code may be one that this package has no name for, which is to be treated like INTERNAL_ERROR or as the
	// application likes. See RFC 9113, Section 7.
	Code ErrCode
}

// ParseRSTStream reads an RST_STREAM frame whose header CheckHeader has passed. An error is an *Error.
func ParseRSTStream(h Header, payload []byte) (RSTStream, error) {
	if len(payload) != rstStreamLen {
		return RSTStream{}, lengthError(TypeRSTStream, h, payload)
	}
	return RSTStream{Stream: h.Stream, Code: ErrCode(binary.BigEndian.Uint32(payload))}, nil
}

// AppendRSTStream appends an RST_STREAM frame to dst.
func AppendRSTStream(dst []byte, stream StreamID, code ErrCode) []byte {
	dst = AppendHeader(dst, Header{Length: rstStreamLen, Type: TypeRSTStream, Stream: stream})
	return binary.BigEndian.AppendUint32(dst, uint32(code))
}

// FrameHeader returns the header that AppendTo writes.
func (f RSTStream) FrameHeader() Header {
	return Header{Length: rstStreamLen, Type: TypeRSTStream, Stream: f.Stream}
}

// AppendTo appends the frame to dst.
func (f RSTStream) AppendTo(dst []byte) []byte { return AppendRSTStream(dst, f.Stream, f.Code) }

// String is the frame as one transcript line.
func (f RSTStream) String() string {
	b := appendStart(nil, TypeRSTStream, f.Stream)
	return string(append(append(b, " code="...), f.Code.String()...))
}
