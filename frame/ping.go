package frame

import "encoding/hex"

const pingLen = 8

// A Ping frame asks for an answer with the same octets, or is that answer. See RFC 9113, Section 6.7.
type Ping struct {
	Ack  bool
	Data [8]byte
}

// ParsePing reads a PING frame whose header CheckHeader has passed. An error is an *Error.
func ParsePing(h Header, payload []byte) (Ping, error) {
	if len(payload) != pingLen {
		return Ping{}, lengthError(TypePing, h, payload)
	}
	return Ping{Ack: h.Flags&FlagAck != 0, Data: [8]byte(payload)}, nil
}

// AppendPing appends a PING frame to dst, an answer if ack is set.
func AppendPing(dst []byte, ack bool, data [8]byte) []byte {
	dst = AppendHeader(dst, Header{Length: pingLen, Type: TypePing, Flags: flagIf(ack, FlagAck)})
	return append(dst, data[:]...)
}

// FrameHeader returns the header that AppendTo writes.
func (f Ping) FrameHeader() Header {
	return Header{Length: pingLen, Type: TypePing, Flags: flagIf(f.Ack, FlagAck)}
}

// AppendTo appends the frame to dst.
func (f Ping) AppendTo(dst []byte) []byte { return AppendPing(dst, f.Ack, f.Data) }

// String is the frame as one transcript line.
func (f Ping) String() string {
	b := hex.AppendEncode([]byte("PING data="), f.Data[:])
	return string(appendIf(b, f.Ack, " ACK"))
}
