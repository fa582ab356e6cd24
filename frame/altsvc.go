package frame

import "encoding/binary"

// An AltSvc frame names alternative services: of Origin on stream 0, of the origin of the request on any other stream.
// See RFC 7838, Section 4.
type AltSvc struct {
	Stream StreamID
	// Origin is an ASCII origin, at most 65,535 octets. Both slices borrow the payload that was parsed.
	Origin []byte
	// Value is what an Alt-Svc field would hold.
	Value []byte
}

const originLenLen = 2

// ParseAltSvc reads an ALTSVC frame. An error is an *Error that a client does not act on: it ignores the frame.
func ParseAltSvc(h Header, payload []byte) (AltSvc, error) {
	origin, value, ok := cutOrigin(payload)
	if !ok {
		return AltSvc{}, extensionSizeError(TypeAltSvc, h, payload, "does not hold its origin")
	}
	// On stream 0 there is an origin, on any other there is none; else the frame is ignored.
	// RFC 7838, Section 4 (7838-4-1).
	if (h.Stream == 0) != (len(origin) != 0) {
		return AltSvc{}, &Error{Code: ProtocolError, Stream: h.Stream,
			Reason: "ALTSVC on stream " + utoa(uint32(h.Stream)) + " with an origin of " + utoa(uint32(len(origin))) + " octets"}
	}
	return AltSvc{Stream: h.Stream, Origin: origin, Value: value}, nil
}

// cutOrigin takes a string with two octets of length off p.
func cutOrigin(p []byte) (origin, rest []byte, ok bool) {
	if len(p) < originLenLen {
		return nil, nil, false
	}
	n := int(binary.BigEndian.Uint16(p))
	p = p[originLenLen:]
	if len(p) < n {
		return nil, nil, false
	}
	return p[:n:n], p[n:], true
}

// extensionSizeError is a FRAME_SIZE_ERROR of an extension frame.
//
//go:noinline
func extensionSizeError(t Type, h Header, payload []byte, what string) error {
	h.Type, h.Length = t, uint32(len(payload))
	return sizeError(h, what)
}

func appendOrigin(dst, origin []byte) []byte {
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(origin))), origin...)
}

// FrameHeader returns the header that AppendTo writes.
func (f AltSvc) FrameHeader() Header {
	return Header{Length: uint32(originLenLen + len(f.Origin) + len(f.Value)), Type: TypeAltSvc, Stream: f.Stream}
}

// AppendTo appends the frame to dst. Of the length of an origin above 65,535 octets the low 16 bits are written.
func (f AltSvc) AppendTo(dst []byte) []byte {
	return append(appendOrigin(AppendHeader(dst, f.FrameHeader()), f.Origin), f.Value...)
}

// String is the frame as one transcript line.
func (f AltSvc) String() string {
	b := appendStart(nil, TypeAltSvc, f.Stream)
	if len(f.Origin) > 0 {
		b = appendQuoted(b, " origin=", f.Origin)
	}
	return string(appendQuoted(b, " value=", f.Value))
}
