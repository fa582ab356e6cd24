package frame

import "encoding/binary"

const promisedLen = 4

// A PushPromise frame announces a stream that the server is going to open, and begins the field section of the request
// that it answers. See RFC 9113, Section 6.6.
type PushPromise struct {
	Stream     StreamID
	EndHeaders bool
	// Padded says that the frame has a pad length field and PadLength octets of padding; without it PadLength is not
	// looked at.
	Padded    bool
	PadLength uint8
	Promised  StreamID
	// Fragment borrows the payload that was parsed.
	Fragment []byte
}

// ParsePushPromise reads a PUSH_PROMISE frame whose header CheckHeader has passed. An error is an *Error.
func ParsePushPromise(h Header, payload []byte) (PushPromise, error) {
	f := PushPromise{Stream: h.Stream, EndHeaders: h.Flags&FlagEndHeaders != 0}
	body := payload
	if h.Flags&FlagPadded != 0 {
		var ok bool
		if body, f.PadLength, ok = unpad(payload, promisedLen); !ok {
			return PushPromise{}, paddingError(TypePushPromise, h, payload)
		}
		f.Padded = true
	}
	if len(body) < promisedLen {
		return PushPromise{}, lengthError(TypePushPromise, h, payload)
	}
	f.Promised = StreamID(binary.BigEndian.Uint32(body)) & MaxStreamID
	f.Fragment = body[promisedLen:]
	// Only servers promise, and their streams have even identifiers. RFC 9113, Sections 5.1.1 and 6.6 (9113-6.6-7).
	if f.Promised == 0 || f.Promised&1 != 0 {
		return PushPromise{}, promisedError(f.Promised)
	}
	return f, nil
}

//go:noinline
func promisedError(id StreamID) error {
	return &Error{Code: ProtocolError, Reason: "PUSH_PROMISE of stream " + utoa(uint32(id)) + ", which no server can open"}
}

// FrameHeader returns the header that AppendTo writes.
func (f PushPromise) FrameHeader() Header {
	return Header{
		Length: paddedLength(promisedLen+len(f.Fragment), f.Padded, f.PadLength),
		Type:   TypePushPromise,
		Flags:  flagIf(f.EndHeaders, FlagEndHeaders) | flagIf(f.Padded, FlagPadded),
		Stream: f.Stream,
	}
}

// AppendTo appends the frame to dst.
func (f PushPromise) AppendTo(dst []byte) []byte {
	dst = AppendHeader(dst, f.FrameHeader())
	if f.Padded {
		dst = append(dst, f.PadLength)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(f.Promised&MaxStreamID))
	dst = append(dst, f.Fragment...)
	return appendPadding(dst, f.Padded, f.PadLength)
}

// String is the frame as one transcript line; len is that of the fragment.
func (f PushPromise) String() string {
	b := appendStart(nil, TypePushPromise, f.Stream)
	b = appendNumber(b, " promised=", uint32(f.Promised))
	b = appendNumber(b, " len=", uint32(len(f.Fragment)))
	b = appendPad(b, f.Padded, f.PadLength)
	return string(appendIf(b, f.EndHeaders, " END_HEADERS"))
}
