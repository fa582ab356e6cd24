package frame

// A Headers frame begins a field section and may end the stream. Its fragment, with those of the CONTINUATION frames
// that follow until END_HEADERS, is one field block. See RFC 9113, Section 6.2.
type Headers struct {
	Stream     StreamID
	EndStream  bool
	EndHeaders bool
	// Padded says that the frame has a pad length field and PadLength octets of padding; without it PadLength is not
	// looked at.
	Padded    bool
	PadLength uint8
	// HasPriority says that the frame has the five octets of Priority, which RFC 9113 keeps only so that they can be
	// skipped; without it Priority is not looked at.
	HasPriority bool
	Priority    PriorityParam
	// Fragment borrows the payload that was parsed.
	Fragment []byte
}

// ParseHeaders reads a HEADERS frame whose header CheckHeader has passed. An error is an *Error.
func ParseHeaders(h Header, payload []byte) (Headers, error) {
	f := Headers{
		Stream:     h.Stream,
		EndStream:  h.Flags&FlagEndStream != 0,
		EndHeaders: h.Flags&FlagEndHeaders != 0,
		Fragment:   payload,
	}
	keep := 0
	if h.Flags&FlagPriority != 0 {
		keep = priorityLen
	}
	if h.Flags&FlagPadded != 0 {
		body, pad, ok := unpad(payload, keep)
		if !ok {
			return Headers{}, paddingError(TypeHeaders, h, payload)
		}
		f.Padded, f.PadLength, f.Fragment = true, pad, body
	}
	if h.Flags&FlagPriority != 0 {
		if len(f.Fragment) < priorityLen {
			return Headers{}, lengthError(TypeHeaders, h, payload)
		}
		f.HasPriority, f.Priority, f.Fragment = true, parsePriorityParam(f.Fragment), f.Fragment[priorityLen:]
	}
	return f, nil
}

// FrameHeader returns the header that AppendTo writes.
func (f Headers) FrameHeader() Header {
	n := len(f.Fragment)
	if f.HasPriority {
		n += priorityLen
	}
	return Header{
		Length: paddedLength(n, f.Padded, f.PadLength),
		Type:   TypeHeaders,
		Flags: flagIf(f.EndStream, FlagEndStream) | flagIf(f.EndHeaders, FlagEndHeaders) |
			flagIf(f.Padded, FlagPadded) | flagIf(f.HasPriority, FlagPriority),
		Stream: f.Stream,
	}
}

// AppendTo appends the frame to dst.
func (f Headers) AppendTo(dst []byte) []byte {
	dst = AppendHeader(dst, f.FrameHeader())
	if f.Padded {
		dst = append(dst, f.PadLength)
	}
	if f.HasPriority {
		dst = f.Priority.appendTo(dst)
	}
	dst = append(dst, f.Fragment...)
	return appendPadding(dst, f.Padded, f.PadLength)
}

// String is the frame as one transcript line; len is that of the fragment.
func (f Headers) String() string {
	b := appendStart(nil, TypeHeaders, f.Stream)
	b = appendNumber(b, " len=", uint32(len(f.Fragment)))
	b = appendPad(b, f.Padded, f.PadLength)
	if f.HasPriority {
		b = f.Priority.appendText(b)
	}
	b = appendIf(b, f.EndStream, " END_STREAM")
	return string(appendIf(b, f.EndHeaders, " END_HEADERS"))
}

// A Continuation frame carries a further fragment of the field block that a HEADERS or PUSH_PROMISE frame on the same
// stream began. See RFC 9113, Section 6.10.
type Continuation struct {
	Stream     StreamID
	EndHeaders bool
	// Fragment borrows the payload that was parsed.
	Fragment []byte
}

// ParseContinuation reads a CONTINUATION frame whose header CheckHeader has passed. It cannot fail.
func ParseContinuation(h Header, payload []byte) (Continuation, error) {
	return Continuation{Stream: h.Stream, EndHeaders: h.Flags&FlagEndHeaders != 0, Fragment: payload}, nil
}

// FrameHeader returns the header that AppendTo writes.
func (f Continuation) FrameHeader() Header {
	return Header{
		Length: uint32(len(f.Fragment)),
		Type:   TypeContinuation,
		Flags:  flagIf(f.EndHeaders, FlagEndHeaders),
		Stream: f.Stream,
	}
}

// AppendTo appends the frame to dst.
func (f Continuation) AppendTo(dst []byte) []byte {
	return append(AppendHeader(dst, f.FrameHeader()), f.Fragment...)
}

// String is the frame as one transcript line.
func (f Continuation) String() string {
	b := appendStart(nil, TypeContinuation, f.Stream)
	b = appendNumber(b, " len=", uint32(len(f.Fragment)))
	return string(appendIf(b, f.EndHeaders, " END_HEADERS"))
}
