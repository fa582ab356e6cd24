package frame

import "strconv"

// maxQuoted bounds, in octets, what String shows of a text that the peer chose, so that a log cannot be flooded.
const maxQuoted = 128

// maxListed bounds the settings that String shows.
const maxListed = 32

// appendStart appends the type and, for types that belong to a stream, the stream.
func appendStart(b []byte, t Type, stream StreamID) []byte {
	b = append(b, t.String()...)
	if frameRules[t].stream == zeroStream && stream == 0 {
		return b
	}
	return appendNumber(b, " stream=", uint32(stream))
}

func appendNumber(b []byte, name string, n uint32) []byte {
	return strconv.AppendUint(append(b, name...), uint64(n), 10)
}

// appendQuoted appends octets of the peer's choice, escaped and bounded.
func appendQuoted(b []byte, name string, text []byte) []byte {
	b = append(b, name...)
	if len(text) > maxQuoted {
		return append(strconv.AppendQuoteToASCII(b, string(text[:maxQuoted])), "..."...)
	}
	return strconv.AppendQuoteToASCII(b, string(text))
}

// appendFlags appends the names of the flags that have a meaning for t, and the rest as a number.
func appendFlags(b []byte, t Type, f Flags) []byte {
	known := f & frameRules[t].flags
	for _, x := range [...]struct {
		flag Flags
		name string
	}{
		{FlagEndStream, flagOneName(t)},
		{FlagEndHeaders, " END_HEADERS"},
		{FlagPadded, " PADDED"},
		{FlagPriority, " PRIORITY"},
	} {
		if known&x.flag != 0 {
			b = append(b, x.name...)
		}
	}
	if rest := f &^ known; rest != 0 {
		b = strconv.AppendUint(append(b, " flags=0x"...), uint64(rest), 16)
	}
	return b
}

func flagOneName(t Type) string {
	if t == TypeSettings || t == TypePing {
		return " ACK"
	}
	return " END_STREAM"
}

func appendIf(b []byte, cond bool, text string) []byte {
	if cond {
		b = append(b, text...)
	}
	return b
}

func appendPad(b []byte, padded bool, n uint8) []byte {
	if padded {
		b = appendNumber(b, " pad=", uint32(n))
	}
	return b
}
