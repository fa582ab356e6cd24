package frame

import "encoding/binary"

const priorityUpdateLen = 4

// A PriorityUpdate frame tells a server the priority of a response. Only clients send it. See RFC 9218, Section 7.1.
type PriorityUpdate struct {
	Prioritized StreamID
	// Value is what a Priority field would hold. It borrows the payload that was parsed.
	Value []byte
}

// ParsePriorityUpdate reads a PRIORITY_UPDATE frame. An error is an *Error that ends the connection.
func ParsePriorityUpdate(h Header, payload []byte) (PriorityUpdate, error) {
	// The frame belongs to the connection. RFC 9218, Section 7.1.
	if h.Stream != 0 {
		return PriorityUpdate{}, priorityUpdateError("PRIORITY_UPDATE on stream " + utoa(uint32(h.Stream)))
	}
	if len(payload) < priorityUpdateLen {
		return PriorityUpdate{}, extensionSizeError(TypePriorityUpdate, h, payload, "is below 4")
	}
	id := StreamID(binary.BigEndian.Uint32(payload)) & MaxStreamID
	// The connection has no priority. RFC 9218, Section 7.1.
	if id == 0 {
		return PriorityUpdate{}, priorityUpdateError("PRIORITY_UPDATE of stream 0")
	}
	return PriorityUpdate{Prioritized: id, Value: payload[priorityUpdateLen:]}, nil
}

func priorityUpdateError(reason string) error { return &Error{Code: ProtocolError, Reason: reason} }

// FrameHeader returns the header that AppendTo writes.
func (f PriorityUpdate) FrameHeader() Header {
	return Header{Length: uint32(priorityUpdateLen + len(f.Value)), Type: TypePriorityUpdate}
}

// AppendTo appends the frame to dst.
func (f PriorityUpdate) AppendTo(dst []byte) []byte {
	dst = AppendHeader(dst, f.FrameHeader())
	dst = binary.BigEndian.AppendUint32(dst, uint32(f.Prioritized&MaxStreamID))
	return append(dst, f.Value...)
}

// String is the frame as one transcript line.
func (f PriorityUpdate) String() string {
	b := appendNumber([]byte("PRIORITY_UPDATE"), " prioritized=", uint32(f.Prioritized))
	return string(appendQuoted(b, " value=", f.Value))
}
