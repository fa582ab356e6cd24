package plainfields

import "example.com/h2flow/frame"

// A Decoder reads literal field lines. The zero value is ready.
type Decoder struct {
	// pending is the beginning of a representation whose end has not arrived; need is how long it must be before
	// another look at it is worth while.
	pending []byte
	need    uint64

	raised  uint32 // allowed table size in octets = initialTableSize + raised (modulo 2^32)
	updates int    // size updates in this block
	fields  bool   // this block had a field
	stopped bool   // emit returned false in this block
	err     error
}

// Decode consumes the next fragment of a block, in any chunking, and calls emit for each complete field line until
// emit returns false; the rest of the block is then only checked. An error is an [*frame.Error] with
// COMPRESSION_ERROR and is final.
func (d *Decoder) Decode(fragment []byte, emit func(frame.Field) bool) error {
	if d.err != nil {
		return d.err
	}
	p := fragment
	if len(d.pending) > 0 {
		d.pending = append(d.pending, fragment...)
		if uint64(len(d.pending)) < d.need {
			return nil
		}
		p = d.pending
	}
	for len(p) > 0 {
		n, err := d.representation(p, emit)
		if err != nil {
			d.err = err
			return err
		}
		if n == 0 {
			break
		}
		p = p[n:]
	}
	d.pending = append(d.pending[:0], p...)
	return nil
}

// EndBlock says that the block is complete; it fails if the block ends within a field line.
func (d *Decoder) EndBlock() error {
	if d.err != nil {
		return d.err
	}
	// RFC 7541, Section 5 (7541-A-1): a representation is never continued in another block.
	if len(d.pending) > 0 {
		d.err = compressionError("the field block ends within a representation")
		return d.err
	}
	d.updates, d.fields, d.stopped = 0, false, false
	return nil
}

// SetMaxTableSize tells the table size that was acknowledged, in octets: the limit of size updates.
func (d *Decoder) SetMaxTableSize(n uint32) { d.raised = n - initialTableSize }

// representation reads one representation from the start of p and returns its length, or 0 if p holds only a part;
// need then says how many octets of it there must be.
func (d *Decoder) representation(p []byte, emit func(frame.Field) bool) (int, error) {
	switch {
	case p[0]&0xe0 == tableSizeUpdate:
		size, n, err := integer(p, 5)
		if n == 0 {
			d.need = uint64(len(p)) + 1
			return 0, err
		}
		return n, d.sizeUpdate(size)
	case p[0] != literalWithoutIndexing && p[0] != literalNeverIndexed:
		return 0, compressionError("a representation other than a literal with a new name")
	}
	name, n, err := d.text(p, 1)
	if n == 0 {
		return 0, err
	}
	value, n, err := d.text(p, n)
	if n == 0 {
		return 0, err
	}
	d.fields = true
	if !d.stopped {
		f := frame.Field{Name: string(name), Value: string(value), Sensitive: p[0] == literalNeverIndexed}
		d.stopped = !emit(f)
	}
	return n, nil
}

// text reads the string at p[at:] and returns it with the offset of what follows, or 0 if it is not complete.
func (d *Decoder) text(p []byte, at int) ([]byte, int, error) {
	if at < len(p) && p[at]&0x80 != 0 {
		return nil, 0, compressionError("a Huffman string")
	}
	length, n, err := integer(p[at:], 7)
	if n == 0 {
		d.need = uint64(len(p)) + 1
		return nil, 0, err
	}
	start := at + n
	if end := uint64(start) + uint64(length); end > uint64(len(p)) {
		d.need = end
		return nil, 0, nil
	}
	end := start + int(length)
	return p[start:end], end, nil
}

func (d *Decoder) sizeUpdate(size uint32) error {
	d.updates++
	switch {
	// A size update stands at the start of a block. RFC 7541, Section 4.2 (7541-4.2-4).
	case d.fields:
		return compressionError("a table size update after a field")
	// The smallest size and the last are all there is to say. RFC 7541, Section 4.2 (7541-4.2-5).
	case d.updates > 2:
		return compressionError("more than two table size updates")
	// RFC 7541, Section 6.3 (7541-6.3-1): the size stays within the acknowledged setting.
	case size > initialTableSize+d.raised:
		return compressionError("a table size update above the limit")
	}
	return nil
}

// maxContinuation is how many octets may follow the prefix of an integer: enough for any 32-bit value.
const maxContinuation = 5

// integer reads an integer with a prefix of n bits from the start of p and returns it with its length in octets,
// which is 0 if p ends too early. See RFC 7541, Section 5.1.
func integer(p []byte, n uint) (uint32, int, error) {
	if len(p) == 0 {
		return 0, 0, nil
	}
	limit := uint64(1)<<n - 1
	v := uint64(p[0]) & limit
	if v < limit {
		return uint32(v), 1, nil
	}
	for i, c := range p[1:] {
		// Integers beyond what we can hold, in value or in octets, are errors. RFC 7541, Section 5.1 (7541-5.1-1).
		if i == maxContinuation {
			return 0, 0, compressionError("an integer of too many octets")
		}
		v += uint64(c&0x7f) << (7 * i)
		if v > 1<<31-1 {
			return 0, 0, compressionError("an integer above 2^31-1")
		}
		if c < 0x80 {
			return uint32(v), i + 2, nil
		}
	}
	return 0, 0, nil
}

func compressionError(reason string) error {
	return &frame.Error{Code: frame.CompressionError, Reason: reason}
}
