package h2flow

// A representation is one of the forms that a field block consists of. See RFC 7541, Section 6.
type representation uint8

const (
	indexedField representation = iota
	literalField
	sizeUpdate
)

// A walkState is the part of a representation that the next octet belongs to.
type walkState uint8

const (
	atRepresentation walkState = iota // its first octet
	inFirstInteger                    // continuation of the index or the table size
	atNameLength
	inNameLength // continuation
	inName
	atValueLength
	inValueLength // continuation
	inValue
)

// A fieldWalk follows the representations of a field block, cut into fragments in any way, to find where each of them
// ends. It checks integers and nothing else; it stores no octet of the block.
type fieldWalk struct {
	state   walkState
	kind    representation
	integer uint32 // value so far of the integer in progress; octets left while in a string
	octets  uint8  // continuation octets of that integer so far
}

// The limits of an integer: no index, length or table size is sensibly larger, and five continuation octets hold that
// after any prefix.
const (
	maxHPACKInteger      = 1<<31 - 1
	maxHPACKContinuation = 5
)

// atStart reports whether the octets so far end with a whole representation.
func (w *fieldWalk) atStart() bool { return w.state == atRepresentation }

// next consumes octets of p up to the end of the representation in progress and returns how many they are. If p ends
// first, whole is false and n is len(p). For a table size update, integer is the size.
func (w *fieldWalk) next(p []byte) (n int, whole bool, err error) {
	for n < len(p) {
		if w.state == inName || w.state == inValue {
			k := min(len(p)-n, int(w.integer))
			n += k
			w.integer -= uint32(k)
			if w.integer > 0 {
				return n, false, nil
			}
		} else {
			complete, err := w.octet(p[n])
			n++
			if err != nil {
				return n, false, err
			}
			if !complete {
				continue
			}
		}
		if w.advance() {
			return n, true, nil
		}
	}
	return n, false, nil
}

// octet takes one octet outside of strings and reports whether it completes an integer.
func (w *fieldWalk) octet(c byte) (complete bool, err error) {
	switch w.state {
	case atRepresentation:
		kind, prefix := firstOctet(c)
		w.kind, w.state = kind, inFirstInteger
		return w.prefix(c, prefix), nil
	case atNameLength, atValueLength:
		w.state++ // in the length
		return w.prefix(c, 7), nil
	}
	// Integers beyond what we can hold, in value or in octets, are errors. RFC 7541, Section 5.1 (7541-5.1-1).
	if w.octets == maxHPACKContinuation {
		return false, compressionError("an integer of too many octets")
	}
	v := uint64(w.integer) + uint64(c&0x7f)<<(7*w.octets)
	if v > maxHPACKInteger {
		return false, compressionError("an integer above 2^31-1")
	}
	w.integer = uint32(v)
	w.octets++
	return c < 0x80, nil
}

// firstOctet tells the form of a representation and the length of its integer's prefix, in bits.
// See RFC 7541, Section 6.
func firstOctet(c byte) (representation, uint) {
	switch {
	case c&0x80 != 0:
		return indexedField, 7
	case c&0x40 != 0:
		return literalField, 6
	case c&0x20 != 0:
		return sizeUpdate, 5
	default:
		return literalField, 4
	}
}

// prefix begins an integer with the low bits of c and reports whether that is all of it.
func (w *fieldWalk) prefix(c byte, bits uint) (complete bool) {
	mask := byte(1)<<bits - 1
	w.integer, w.octets = uint32(c&mask), 0
	return c&mask != mask
}

// advance goes on to the next part that has octets, after an integer or a string was completed, and reports whether
// that is the next representation.
func (w *fieldWalk) advance() (whole bool) {
	switch {
	// The name of a literal is an index, unless that is 0. RFC 7541, Section 6.2 (7541-6.2-1).
	case w.state == inFirstInteger && w.kind == literalField && w.integer == 0:
		w.state = atNameLength
	case w.state == inFirstInteger && w.kind == literalField:
		w.state = atValueLength
	case w.state == inNameLength && w.integer > 0:
		w.state = inName
	case w.state == inNameLength, w.state == inName:
		w.state = atValueLength
	case w.state == inValueLength && w.integer > 0:
		w.state = inValue
	default:
		w.state = atRepresentation
	}
	return w.state == atRepresentation
}
