package frame

import "encoding/binary"

const (
	priorityLen  = 5
	exclusiveBit = 1 << 31
)

// A PriorityParam is the priority that RFC 7540 defined and RFC 9113, Section 5.3.2 made void. A stream that depends on
// itself is therefore no error.
type PriorityParam struct {
	Exclusive bool
	DependsOn StreamID
	// Weight is the octet on the wire, one less than the weight that RFC 7540 speaks of.
	Weight uint8
}

// parsePriorityParam reads the first five octets of p, which the caller has made sure are there.
func parsePriorityParam(p []byte) PriorityParam {
	_ = p[priorityLen-1]
	v := binary.BigEndian.Uint32(p)
	return PriorityParam{Exclusive: v&exclusiveBit != 0, DependsOn: StreamID(v) & MaxStreamID, Weight: p[4]}
}

func (p PriorityParam) appendTo(dst []byte) []byte {
	v := uint32(p.DependsOn & MaxStreamID)
	if p.Exclusive {
		v |= exclusiveBit
	}
	return append(binary.BigEndian.AppendUint32(dst, v), p.Weight)
}

func (p PriorityParam) appendText(b []byte) []byte {
	b = appendNumber(b, " depends=", uint32(p.DependsOn))
	b = appendNumber(b, " weight=", uint32(p.Weight))
	return appendIf(b, p.Exclusive, " EXCLUSIVE")
}

// A Priority frame carries a void priority; it changes nothing. See RFC 9113, Section 6.3.
type Priority struct {
	Stream StreamID
	PriorityParam
}

// ParsePriority reads a PRIORITY frame whose header CheckHeader has passed. An error is an *Error.
func ParsePriority(h Header, payload []byte) (Priority, error) {
	if len(payload) != priorityLen {
		return Priority{}, lengthError(TypePriority, h, payload)
	}
	return Priority{Stream: h.Stream, PriorityParam: parsePriorityParam(payload)}, nil
}

// FrameHeader returns the header that AppendTo writes.
func (f Priority) FrameHeader() Header {
	return Header{Length: priorityLen, Type: TypePriority, Stream: f.Stream}
}

// AppendTo appends the frame to dst.
func (f Priority) AppendTo(dst []byte) []byte {
	return f.PriorityParam.appendTo(AppendHeader(dst, f.FrameHeader()))
}

// String is the frame as one transcript line.
func (f Priority) String() string {
	return string(f.appendText(appendStart(nil, TypePriority, f.Stream)))
}
