package frame

import (
	"encoding/binary"
	"iter"
	"strconv"
)

const settingLen = 6

// A SettingID names a setting. Endpoints ignore settings that they do not know (9113-6.5.2-12).
type SettingID uint16

// The settings of RFC 9113, Section 6.5.2, RFC 8441, Section 3 and RFC 9218, Section 2.1.
const (
	SettingHeaderTableSize       SettingID = 0x1
	SettingEnablePush            SettingID = 0x2
	SettingMaxConcurrentStreams  SettingID = 0x3
	SettingInitialWindowSize     SettingID = 0x4
	SettingMaxFrameSize          SettingID = 0x5
	SettingMaxHeaderListSize     SettingID = 0x6
	SettingEnableConnectProtocol SettingID = 0x8
	SettingNoRFC7540Priorities   SettingID = 0x9
)

var settingNames = [...]string{
	SettingHeaderTableSize: "HEADER_TABLE_SIZE", SettingEnablePush: "ENABLE_PUSH",
	SettingMaxConcurrentStreams: "MAX_CONCURRENT_STREAMS", SettingInitialWindowSize: "INITIAL_WINDOW_SIZE",
	SettingMaxFrameSize: "MAX_FRAME_SIZE", SettingMaxHeaderListSize: "MAX_HEADER_LIST_SIZE",
	SettingEnableConnectProtocol: "ENABLE_CONNECT_PROTOCOL", SettingNoRFC7540Priorities: "NO_RFC7540_PRIORITIES",
}

// String is the RFC's name for the setting without its prefix, or its number in hexadecimal.
func (id SettingID) String() string {
	if int(id) < len(settingNames) && settingNames[id] != "" {
		return settingNames[id]
	}
	return "0x" + strconv.FormatUint(uint64(id), 16)
}

// A Setting is one identifier and its value.
type Setting struct {
	ID    SettingID
	Value uint32
}

// Check says whether the value is one that either endpoint may send: nil, or an *Error that ends the connection. Any
// value of an unknown setting is fine.
func (s Setting) Check() error {
	switch s.ID {
	// Flags are 0 or 1. RFC 9113, Section 6.5.2 (9113-6.5.2-3), RFC 8441, Section 3 (8441-3-2), and RFC 9218,
	// Section 2.1 (9218-2-1).
	case SettingEnablePush, SettingEnableConnectProtocol, SettingNoRFC7540Priorities:
		if s.Value > 1 {
			return s.error(ProtocolError, "is neither 0 nor 1")
		}
	// A window has 31 bits. RFC 9113, Section 6.5.2 (9113-6.5.2-7).
	case SettingInitialWindowSize:
		if s.Value > MaxWindow {
			return s.error(FlowControlError, "is above 2147483647")
		}
	// The limit of a payload is between 2^14 and 2^24-1. RFC 9113, Section 6.5.2 (9113-6.5.2-9).
	case SettingMaxFrameSize:
		if s.Value < MinMaxFrameSize || s.Value > MaxMaxFrameSize {
			return s.error(ProtocolError, "is not within 16384 to 16777215")
		}
	}
	return nil
}

// CheckFromServer is Check as a client applies it to what a server sent.
func (s Setting) CheckFromServer() error {
	// A server must not allow push, since clients cannot push. RFC 9113, Section 6.5.2 (9113-6.5.2-4).
	if s.ID == SettingEnablePush && s.Value == 1 {
		return s.error(ProtocolError, "comes from a server")
	}
	return s.Check()
}

func (s Setting) error(code ErrCode, what string) error {
	return &Error{Code: code, Reason: s.String() + " " + what}
}

// String is the setting in the form MAX_FRAME_SIZE=16384.
func (s Setting) String() string { return string(s.appendText(nil)) }

func (s Setting) appendText(b []byte) []byte {
	return strconv.AppendUint(append(append(b, s.ID.String()...), '='), uint64(s.Value), 10)
}

// A Settings frame carries settings, to be applied in order, or acknowledges the peer's. See RFC 9113, Section 6.5.
type Settings struct {
	Ack bool
	// Raw is the payload, six octets for each setting. It borrows the payload that was parsed.
	Raw []byte
}

// MakeSettings returns a frame with the given settings, in memory of its own.
func MakeSettings(s ...Setting) Settings {
	raw := make([]byte, 0, len(s)*settingLen)
	for _, x := range s {
		raw = appendSetting(raw, x)
	}
	return Settings{Raw: raw}
}

// ParseSettings reads a SETTINGS frame whose header CheckHeader has passed. An error is an *Error. The values are not
// judged: that is for Setting.Check, in the order in which they are applied.
func ParseSettings(h Header, payload []byte) (Settings, error) {
	ack := h.Flags&FlagAck != 0
	if len(payload)%settingLen != 0 || ack && len(payload) != 0 {
		return Settings{}, lengthError(TypeSettings, h, payload)
	}
	return Settings{Ack: ack, Raw: payload}, nil
}

// Len is the number of settings.
func (f Settings) Len() int { return len(f.Raw) / settingLen }

// At returns setting number i, from 0. It panics unless i is below Len.
func (f Settings) At(i int) Setting {
	p := f.Raw[i*settingLen:][:settingLen]
	return Setting{ID: SettingID(binary.BigEndian.Uint16(p)), Value: binary.BigEndian.Uint32(p[2:])}
}

// All yields the settings in order. An identifier may come more than once.
func (f Settings) All() iter.Seq[Setting] {
	return func(yield func(Setting) bool) {
		for i := range f.Len() {
			if !yield(f.At(i)) {
				return
			}
		}
	}
}

func appendSetting(dst []byte, s Setting) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(dst, uint16(s.ID)), s.Value)
}

// AppendSettings appends a SETTINGS frame with the given settings to dst.
func AppendSettings(dst []byte, s ...Setting) []byte {
	dst = AppendHeader(dst, Header{Length: uint32(len(s) * settingLen), Type: TypeSettings})
	for _, x := range s {
		dst = appendSetting(dst, x)
	}
	return dst
}

// AppendSettingsAck appends a SETTINGS frame that acknowledges to dst.
func AppendSettingsAck(dst []byte) []byte {
	return AppendHeader(dst, Header{Type: TypeSettings, Flags: FlagAck})
}

// FrameHeader returns the header that AppendTo writes.
func (f Settings) FrameHeader() Header {
	return Header{Length: uint32(len(f.Raw)), Type: TypeSettings, Flags: flagIf(f.Ack, FlagAck)}
}

// AppendTo appends the frame to dst.
func (f Settings) AppendTo(dst []byte) []byte {
	return append(AppendHeader(dst, f.FrameHeader()), f.Raw...)
}

// String is the frame as one transcript line.
func (f Settings) String() string {
	b := appendIf([]byte("SETTINGS"), f.Ack, " ACK")
	for i := range min(f.Len(), maxListed) {
		b = f.At(i).appendText(append(b, ' '))
	}
	b = appendIf(b, f.Len() > maxListed, " ...")
	return string(b)
}
