package plainfields

import "example.com/h2flow/frame"

// initialTableSize is the table size that both sides of HTTP/2 start from, in octets. See RFC 9113, Section 4.3.1.
const initialTableSize = 4096

// The first octets of the representations that are written and read. See RFC 7541, Section 6.
const (
	literalWithoutIndexing = 0x00
	literalNeverIndexed    = 0x10
	tableSizeUpdate        = 0x20
)

// An Encoder appends literal field lines. The zero value is ready.
type Encoder struct {
	given uint32 // octets below initialTableSize that the peer took from the table
	due   bool   // a size update must precede the next field
}

// AppendField appends the representation of f to dst. The first field after the peer lowered the table size is
// preceded by a size update, even though no table is used.
func (e *Encoder) AppendField(dst []byte, f frame.Field) []byte {
	// The first block after a reduction was acknowledged begins with an update. RFC 9113, Section 4.3.1
	// (9113-4.3.1-3).
	if e.due {
		e.due = false
		dst = appendInteger(dst, tableSizeUpdate, 5, initialTableSize-e.given)
	}
	// A sensitive value is sent as a literal that is never indexed. RFC 7541, Section 7.1.3 (7541-7.1.3-1).
	first := byte(literalWithoutIndexing)
	if f.Sensitive {
		first = literalNeverIndexed
	}
	dst = append(dst, first)
	dst = appendInteger(dst, 0, 7, uint32(len(f.Name)))
	dst = append(dst, f.Name...)
	dst = appendInteger(dst, 0, 7, uint32(len(f.Value)))
	return append(dst, f.Value...)
}

// SetMaxTableSize tells the table size that the peer allows, in octets. A reduction is signalled by the next field;
// the encoder never goes up again, so one update always tells the smallest size and the last.
func (e *Encoder) SetMaxTableSize(n uint32) {
	if n < initialTableSize-e.given {
		e.given = initialTableSize - n
		e.due = true
	}
}

// appendInteger appends v with a prefix of n bits in an octet that has the bits of first set.
// See RFC 7541, Section 5.1.
func appendInteger(dst []byte, first byte, n uint, v uint32) []byte {
	limit := uint32(1)<<n - 1
	if v < limit {
		return append(dst, first|byte(v))
	}
	dst = append(dst, first|byte(limit))
	for v -= limit; v >= 0x80; v >>= 7 {
		dst = append(dst, byte(v)|0x80)
	}
	return append(dst, byte(v))
}
