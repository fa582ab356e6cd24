package frame

import "iter"

// An Origin frame lists the origins for which the connection may be used. See RFC 8336, Section 2.
type Origin struct {
	// Raw is the payload: for each origin two octets of length and the ASCII origin. It borrows the payload that was
	// parsed.
	Raw []byte
}

// MakeOrigin returns a frame with the given origins, each at most 65,535 octets, in memory of its own.
func MakeOrigin(origins ...string) Origin {
	var raw []byte
	for _, o := range origins {
		raw = appendOrigin(raw, []byte(o))
	}
	return Origin{Raw: raw}
}

// ParseOrigin reads an ORIGIN frame. An error is an *Error that a client does not act on: it ignores the frame.
func ParseOrigin(h Header, payload []byte) (Origin, error) {
	// On any stream but 0 the frame is ignored. RFC 8336, Section 2.1 (8336-2-1).
	if h.Stream != 0 {
		return Origin{}, &Error{Code: ProtocolError, Stream: h.Stream, Reason: "ORIGIN on stream " + utoa(uint32(h.Stream))}
	}
	for p := payload; len(p) > 0; {
		var ok bool
		if _, p, ok = cutOrigin(p); !ok {
			return Origin{}, extensionSizeError(TypeOrigin, h, payload, "ends within an entry")
		}
	}
	return Origin{Raw: payload}, nil
}

// All yields the origins in order, up to an entry that is cut short. They borrow Raw.
func (f Origin) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for p := f.Raw; ; {
			origin, rest, ok := cutOrigin(p)
			if !ok || !yield(origin) {
				return
			}
			p = rest
		}
	}
}

// FrameHeader returns the header that AppendTo writes.
func (f Origin) FrameHeader() Header { return Header{Length: uint32(len(f.Raw)), Type: TypeOrigin} }

// AppendTo appends the frame to dst.
func (f Origin) AppendTo(dst []byte) []byte {
	return append(AppendHeader(dst, f.FrameHeader()), f.Raw...)
}

// String is the frame as one transcript line.
func (f Origin) String() string {
	b := appendNumber([]byte("ORIGIN"), " len=", uint32(len(f.Raw)))
	shown := 0
	for o := range f.All() {
		if shown += len(o) + originLenLen; shown > maxQuoted {
			b = append(b, " ..."...)
			break
		}
		b = appendQuoted(b, " ", o)
	}
	return string(b)
}
