package frame

// A Data frame carries octets of a body. The whole payload, padding included, counts for flow control.
// See RFC 9113, Section 6.1.
type Data struct {
	Stream    StreamID
	EndStream bool
	// Padded says that the frame has a pad length field and PadLength octets of padding; without it PadLength is not
	// looked at.
	Padded    bool
	PadLength uint8
	// Data borrows the payload that was parsed.
	Data []byte
}

// ParseData reads a DATA frame whose header CheckHeader has passed. An error is an *Error.
func ParseData(h Header, payload []byte) (Data, error) {
	d := Data{Stream: h.Stream, EndStream: h.Flags&FlagEndStream != 0, Data: payload}
	if h.Flags&FlagPadded != 0 {
		body, pad, ok := unpad(payload, 0)
		if !ok {
			return Data{}, paddingError(TypeData, h, payload)
		}
		d.Padded, d.PadLength, d.Data = true, pad, body
	}
	return d, nil
}

// AppendDataHeader appends the header of a DATA frame without padding to dst; the caller appends the payload of length
// octets.
func AppendDataHeader(dst []byte, stream StreamID, length uint32, endStream bool) []byte {
	flags := flagIf(endStream, FlagEndStream)
	return AppendHeader(dst, Header{Length: length, Type: TypeData, Flags: flags, Stream: stream})
}

// FrameHeader returns the header that AppendTo writes.
func (d Data) FrameHeader() Header {
	return Header{
		Length: paddedLength(len(d.Data), d.Padded, d.PadLength),
		Type:   TypeData,
		Flags:  flagIf(d.EndStream, FlagEndStream) | flagIf(d.Padded, FlagPadded),
		Stream: d.Stream,
	}
}

// AppendTo appends the frame to dst.
func (d Data) AppendTo(dst []byte) []byte {
	dst = AppendHeader(dst, d.FrameHeader())
	if d.Padded {
		dst = append(dst, d.PadLength)
	}
	dst = append(dst, d.Data...)
	return appendPadding(dst, d.Padded, d.PadLength)
}

// String is the frame as one transcript line; len is without the padding.
func (d Data) String() string {
	b := appendStart(nil, TypeData, d.Stream)
	b = appendNumber(b, " len=", uint32(len(d.Data)))
	b = appendPad(b, d.Padded, d.PadLength)
	return string(appendIf(b, d.EndStream, " END_STREAM"))
}
