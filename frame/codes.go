package frame

import "strconv"

// A StreamID identifies a stream; 0 is the connection itself. 31 bits are used. See RFC 9113, Section 5.1.1.
type StreamID uint32

// MaxStreamID is the largest stream identifier.
const MaxStreamID StreamID = 1<<31 - 1

// An ErrCode is the reason carried by RST_STREAM and GOAWAY. It is a value, not an error.
// See RFC 9113, Section 7.
type ErrCode uint32

// The error codes of RFC 9113, Section 7.
const (
	NoError            ErrCode = 0x0
	ProtocolError      ErrCode = 0x1
	InternalError      ErrCode = 0x2
	FlowControlError   ErrCode = 0x3
	SettingsTimeout    ErrCode = 0x4
	StreamClosed       ErrCode = 0x5
	FrameSizeError     ErrCode = 0x6
	RefusedStream      ErrCode = 0x7
	Cancel             ErrCode = 0x8
	CompressionError   ErrCode = 0x9
	ConnectError       ErrCode = 0xa
	EnhanceYourCalm    ErrCode = 0xb
	InadequateSecurity ErrCode = 0xc
	HTTP11Required     ErrCode = 0xd
)

var errCodeNames = [...]string{
	NoError: "NO_ERROR", ProtocolError: "PROTOCOL_ERROR", InternalError: "INTERNAL_ERROR",
	FlowControlError: "FLOW_CONTROL_ERROR", SettingsTimeout: "SETTINGS_TIMEOUT", StreamClosed: "STREAM_CLOSED",
	FrameSizeError: "FRAME_SIZE_ERROR", RefusedStream: "REFUSED_STREAM", Cancel: "CANCEL",
	CompressionError: "COMPRESSION_ERROR", ConnectError: "CONNECT_ERROR", EnhanceYourCalm: "ENHANCE_YOUR_CALM",
	InadequateSecurity: "INADEQUATE_SECURITY", HTTP11Required: "HTTP_1_1_REQUIRED",
}

// String is the RFC's name for the code, or its number in hexadecimal.
func (c ErrCode) String() string {
	if int64(c) < int64(len(errCodeNames)) {
		return errCodeNames[c]
	}
	return "0x" + strconv.FormatUint(uint64(c), 16)
}

// An Error is what the codec has to say about octets that break a rule: the code to send, the stream it concerns
// (0 makes it a connection error, RFC 9113, Section 5.4.1), and the reason in words.
type Error struct {
	Code   ErrCode
	Stream StreamID
	Reason string
}

// Error describes e with its scope, code and reason.
func (e *Error) Error() string {
	if e.Stream == 0 {
		return "connection error: " + e.Code.String() + ": " + e.Reason
	}
	return "stream error: stream ID " + strconv.FormatUint(uint64(e.Stream), 10) + "; " + e.Code.String() + ": " + e.Reason
}
