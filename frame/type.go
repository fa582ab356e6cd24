package frame

import "strconv"

const (
	// HeaderLen is the size of a frame header in octets. It does not count towards the frame size limit.
	HeaderLen = 9

	// MinMaxFrameSize is the smallest limit of a payload, in octets, that an endpoint may set, and the one in force
	// before any SETTINGS. See RFC 9113, Section 6.5.2.
	MinMaxFrameSize = 1 << 14

	// MaxMaxFrameSize is the largest limit of a payload, in octets, that an endpoint may set, and the largest length
	// that a frame header can express.
	MaxMaxFrameSize = 1<<24 - 1

	// MaxWindow is the largest flow-control window, and so the largest increment, in octets.
	// See RFC 9113, Section 6.9.1.
	MaxWindow = 1<<31 - 1

	// ClientPreface is what a client sends before its first SETTINGS frame. See RFC 9113, Section 3.4.
	ClientPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

// A Type is the type of a frame. Endpoints ignore frames whose type they do not know.
type Type uint8

// The types of RFC 9113, Section 6, and of three extensions: ALTSVC (RFC 7838), ORIGIN (RFC 8336) and
// PRIORITY_UPDATE (RFC 9218).
const (
	TypeData           Type = 0x0
	TypeHeaders        Type = 0x1
	TypePriority       Type = 0x2
	TypeRSTStream      Type = 0x3
	TypeSettings       Type = 0x4
	TypePushPromise    Type = 0x5
	TypePing           Type = 0x6
	TypeGoAway         Type = 0x7
	TypeWindowUpdate   Type = 0x8
	TypeContinuation   Type = 0x9
	TypeAltSvc         Type = 0xa
	TypeOrigin         Type = 0xc
	TypePriorityUpdate Type = 0x10
)

var typeNames = [...]string{
	TypeData: "DATA", TypeHeaders: "HEADERS", TypePriority: "PRIORITY", TypeRSTStream: "RST_STREAM",
	TypeSettings: "SETTINGS", TypePushPromise: "PUSH_PROMISE", TypePing: "PING", TypeGoAway: "GOAWAY",
	TypeWindowUpdate: "WINDOW_UPDATE", TypeContinuation: "CONTINUATION", TypeAltSvc: "ALTSVC", TypeOrigin: "ORIGIN",
	TypePriorityUpdate: "PRIORITY_UPDATE",
}

// String is the RFC's name for the type, or its number in hexadecimal.
func (t Type) String() string {
	if int(t) < len(typeNames) && typeNames[t] != "" {
		return typeNames[t]
	}
	return "0x" + strconv.FormatUint(uint64(t), 16)
}

// Flags are the eight flags of a frame header. What a bit means depends on the type; bits without a meaning are ignored
// on receipt and sent as zero. See RFC 9113, Section 4.1.
type Flags uint8

// The flags of RFC 9113, Section 6. FlagEndStream and FlagAck are the same bit on different types.
const (
	FlagEndStream  Flags = 0x01 // DATA, HEADERS
	FlagAck        Flags = 0x01 // SETTINGS, PING
	FlagEndHeaders Flags = 0x04 // HEADERS, PUSH_PROMISE, CONTINUATION
	FlagPadded     Flags = 0x08 // DATA, HEADERS, PUSH_PROMISE
	FlagPriority   Flags = 0x20 // HEADERS
)

// Has reports whether all bits of f are set in fl.
func (fl Flags) Has(f Flags) bool { return fl&f == f }
