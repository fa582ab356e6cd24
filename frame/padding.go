package frame

// unpad takes the pad length and the padding off a payload that has the PADDED flag, leaving at least keep octets; ok
// is false if that is not possible. Padding octets are not looked at, as RFC 9113, Section 6.1 allows (9113-6.1-7).
func unpad(payload []byte, keep int) (body []byte, pad uint8, ok bool) {
	if len(payload) == 0 {
		return nil, 0, false
	}
	pad = payload[0]
	end := len(payload) - int(pad)
	if end < 1+keep {
		return nil, 0, false
	}
	return payload[1:end], pad, true
}

// paddingError says why unpad failed.
//
//go:noinline
func paddingError(t Type, h Header, payload []byte) error {
	if err := lengthError(t, h, payload); err != nil {
		return err
	}
	// Padding that takes the place of the payload is a connection error. RFC 9113, Sections 6.1, 6.2 and 6.6
	// (9113-6.1-4, 6.2-4, 6.6-8).
	return &Error{Code: ProtocolError, Reason: t.String() + " padding of " + utoa(uint32(payload[0])) +
		" octets does not fit a payload of " + utoa(uint32(len(payload)))}
}

// lengthError is what CheckHeader has to say about a frame of type t with this payload; parsers ask it so that they are
// safe when the caller did not.
//
//go:noinline
func lengthError(t Type, h Header, payload []byte) error {
	h.Type, h.Length = t, uint32(len(payload))
	return CheckHeader(h, MaxMaxFrameSize)
}

// paddedLength is the payload length of n octets with or without padding.
func paddedLength(n int, padded bool, pad uint8) uint32 {
	if padded {
		n += 1 + int(pad)
	}
	return uint32(n)
}

var zeros [255]byte

// appendPadding appends the padding; its octets are zero (9113-6.1-6, 6.2-7).
func appendPadding(dst []byte, padded bool, pad uint8) []byte {
	if padded {
		dst = append(dst, zeros[:pad]...)
	}
	return dst
}

func flagIf(cond bool, f Flags) Flags {
	if cond {
		return f
	}
	return 0
}
