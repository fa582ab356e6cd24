package frame

import "encoding/binary"

const goAwayLen = 8

// A GoAway frame says that its sender takes no more streams, and which was the last it may have acted on.
// See RFC 9113, Section 6.8.
type GoAway struct {
	LastStream StreamID
	Code       ErrCode
	// Debug is for people to read and means nothing. It is of the peer's choice: escape and bound it, as String does.
	// It borrows the payload that was parsed.
	Debug []byte
}

// ParseGoAway reads a GOAWAY frame whose header CheckHeader has passed. An error is an *Error.
func ParseGoAway(h Header, payload []byte) (GoAway, error) {
	if len(payload) < goAwayLen {
		return GoAway{}, lengthError(TypeGoAway, h, payload)
	}
	return GoAway{
		LastStream: StreamID(binary.BigEndian.Uint32(payload)) & MaxStreamID,
		Code:       ErrCode(binary.BigEndian.Uint32(payload[4:])),
		Debug:      payload[goAwayLen:],
	}, nil
}

// AppendGoAway appends a GOAWAY frame to dst.
func AppendGoAway(dst []byte, last StreamID, code ErrCode, debug []byte) []byte {
	dst = AppendHeader(dst, Header{Length: uint32(goAwayLen + len(debug)), Type: TypeGoAway})
	dst = binary.BigEndian.AppendUint32(dst, uint32(last&MaxStreamID))
	dst = binary.BigEndian.AppendUint32(dst, uint32(code))
	return append(dst, debug...)
}

// FrameHeader returns the header that AppendTo writes.
func (f GoAway) FrameHeader() Header {
	return Header{Length: uint32(goAwayLen + len(f.Debug)), Type: TypeGoAway}
}

// AppendTo appends the frame to dst.
func (f GoAway) AppendTo(dst []byte) []byte { return AppendGoAway(dst, f.LastStream, f.Code, f.Debug) }

// String is the frame as one transcript line.
func (f GoAway) String() string {
	b := appendNumber([]byte("GOAWAY"), " last=", uint32(f.LastStream))
	b = append(append(b, " code="...), f.Code.String()...)
	if len(f.Debug) > 0 {
		b = appendQuoted(b, " debug=", f.Debug)
	}
	return string(b)
}
