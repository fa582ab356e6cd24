package h2flow

import (
	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"golang.org/x/net/http2/hpack"
)

// initialHeaderTableSize is the size of both tables, in octets, until a setting says otherwise.
// See RFC 9113, Section 4.3.1.
const initialHeaderTableSize = 4096

// A FieldEncoder is an HPACK encoder as package conn wants it, for those who drive a [conn.Conn] themselves.
// It serves one connection and one goroutine. Create it with [NewFieldEncoder].
//
// Every field that fits goes into the table, but for sensitive ones.
type FieldEncoder struct {
	hpack *hpack.Encoder
	sink  appender
	cap   uint32 // our own limit of the table, in octets
	size  uint32 // the size last chosen, told or about to be told to the peer
}

var _ conn.FieldEncoder = (*FieldEncoder)(nil)

// NewFieldEncoder returns an encoder whose table never holds more than maxTableSize octets, whatever the peer allows.
// The table starts with the lower of that and 4,096 octets; below 4,096 the first block says so to the peer.
func NewFieldEncoder(maxTableSize uint32) *FieldEncoder {
	e := &FieldEncoder{cap: maxTableSize, size: initialHeaderTableSize}
	e.hpack = hpack.NewEncoder(&e.sink)
	e.hpack.SetMaxDynamicTableSizeLimit(max(maxTableSize, initialHeaderTableSize))
	e.SetMaxTableSize(initialHeaderTableSize)
	return e
}

// AppendField appends the representation of f to dst, after the table size updates that are due. Blocks must reach
// the peer in the order in which they were encoded.
func (e *FieldEncoder) AppendField(dst []byte, f frame.Field) []byte {
	e.sink.dst = dst
	// The error can only be the sink's, which has none.
	_ = e.hpack.WriteField(hpack.HeaderField{Name: f.Name, Value: f.Value, Sensitive: f.Sensitive})
	dst, e.sink.dst = e.sink.dst, nil
	return dst
}

// SetMaxTableSize tells the table size that the peer allows, in octets; call it when its SETTINGS are acknowledged.
// A value above our own limit counts as that limit and costs no memory.
func (e *FieldEncoder) SetMaxTableSize(n uint32) {
	// A change is signalled at the start of the next block; of several, the smallest and then the last. The hpack
	// encoder keeps the smallest, but would also repeat a size that has not changed.
	// RFC 7541, Section 4.2 (7541-4.2-2, 7541-4.2-3).
	if n = min(n, e.cap); n != e.size {
		e.size = n
		e.hpack.SetMaxDynamicTableSize(n)
	}
}

// An appender is the writer of an [hpack.Encoder]: it appends to the slice of the call in progress.
type appender struct{ dst []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.dst = append(a.dst, p...)
	return len(p), nil
}

// maxPendingKept is the capacity, in octets, that a decoder keeps for representations that are cut between two
// fragments. A larger buffer is let go when the block ends, so that one odd response does not cost memory for the life
// of the connection.
const maxPendingKept = 16 << 10

// A FieldDecoder is an HPACK decoder as package conn wants it, for those who drive a [conn.Conn] themselves.
// It serves one connection and one goroutine. Create it with [NewFieldDecoder].
//
// It walks over the representations itself and hands them, one at a time and whole, to the decoder of x/net. What it
// adds: a table size update is accepted at the start of a block only, at most twice, and demanded when it is due;
// integers are limited; and a block that arrives one octet at a time costs no more than one that arrives at once.
//
// Memory: a declared length allocates nothing. A representation that is cut is kept until its end arrives, so
// at most the octets of the block are held, which the caller limits: a [conn.Conn] gives up a block that has grown
// beyond its limit for field sections. A single string needs no limit of its own for that reason: its octets are part
// of that sum, and Huffman coding makes at most 8 octets of 5.
type FieldDecoder struct {
	hpack *hpack.Decoder
	walk  fieldWalk

	copied []byte // the representation that the hpack decoder has

	// pending is the beginning of the representation that walk is in.
	pending []byte

	emit func(frame.Field) bool // of the call in progress

	limit   uint32 // the acknowledged setting: updates may go up to this many octets
	size    uint32 // the table size in use, in octets
	due     bool   // the next block must begin with an update to at most dueMax octets
	dueMax  uint32
	updates int  // table size updates in this block
	fields  bool // this block had a field

	err error
}

var _ conn.FieldDecoder = (*FieldDecoder)(nil)

// NewFieldDecoder returns a decoder with the table of 4,096 octets that every connection starts from. A different
// setting counts from its acknowledgement on: see SetMaxTableSize.
func NewFieldDecoder() *FieldDecoder {
	d := &FieldDecoder{limit: initialHeaderTableSize, size: initialHeaderTableSize}
	d.hpack = hpack.NewDecoder(initialHeaderTableSize, d.onField)
	return d
}

// Decode consumes the next fragment of a field block, in any chunking, and calls emit for each complete field line.
// Once emit has returned false it is not called again in this block; the rest is decoded for the sake of the table
// alone: strings that do not enter it are not even looked at. An error is a [*frame.Error] with COMPRESSION_ERROR and
// is final.
func (d *FieldDecoder) Decode(fragment []byte, emit func(frame.Field) bool) error {
	if d.err != nil {
		return d.err
	}
	d.emit = emit
	d.err = d.decode(fragment)
	d.emit = nil
	return d.err
}

// EndBlock says that the block is complete; it fails if the block ends within a representation.
func (d *FieldDecoder) EndBlock() error {
	if d.err != nil {
		return d.err
	}
	// RFC 7541, Section 5 (7541-A-1): a representation is never continued in another block.
	if !d.walk.atStart() {
		d.err = compressionError("the field block ends within a representation")
		return d.err
	}
	if cap(d.pending) > maxPendingKept {
		d.pending = nil
	}
	// Only whole representations were handed on, so this fails only if the two readings of the block differ.
	if err := d.hpack.Close(); err != nil {
		d.err = compressionError(err.Error())
		return d.err
	}
	d.updates, d.fields = 0, false
	d.hpack.SetEmitEnabled(true)
	return nil
}

// SetMaxTableSize tells that the peer acknowledged our SETTINGS_HEADER_TABLE_SIZE of n octets. Call it between blocks.
// If n is below the size in use, the next block that is not empty must begin with a size update.
func (d *FieldDecoder) SetMaxTableSize(n uint32) {
	d.limit = n
	// A reduction below the size in use has to be signalled, even if the limit is raised again before the next block.
	// RFC 7541, Section 4.2 (7541-4.2-3).
	switch {
	case d.due:
		d.dueMax = min(d.dueMax, n)
	case n < d.size:
		d.due, d.dueMax = true, n
	}
}

// decode splits p at the ends of representations.
func (d *FieldDecoder) decode(p []byte) error {
	for len(p) > 0 {
		n, whole, err := d.walk.next(p)
		switch {
		case err != nil:
			return err
		case !whole:
			d.pending = append(d.pending, p...)
			return nil
		case d.walk.kind == sizeUpdate:
			err = d.updateSize(d.walk.integer)
		case len(d.pending) > 0:
			d.pending = append(d.pending, p[:n]...)
			err = d.field(d.pending)
		default:
			err = d.field(p[:n])
		}
		if err != nil {
			return err
		}
		d.pending = d.pending[:0]
		p = p[n:]
	}
	return nil
}

// maxCopied is the length of a representation up to which a copy of it is decoded, in octets. Longer ones are rare, and
// the next short one ends what they keep alive.
const maxCopied = 512

// field decodes one whole representation of a field line.
func (d *FieldDecoder) field(p []byte) error {
	// After a reduction was acknowledged, the block has to begin with an update. RFC 9113, Section 4.3.1
	// (9113-4.3.1-4).
	if d.due {
		return compressionError("no table size update after the table size was lowered")
	}
	d.fields = true
	if len(p) <= maxCopied {
		// The hpack decoder goes on referring to the end of what it was given, which keeps a whole read buffer alive.
		d.copied = append(d.copied[:0], p...)
		p = d.copied
	}
	if _, err := d.hpack.Write(p); err != nil {
		return compressionError(err.Error())
	}
	return nil
}

// onField is called by the hpack decoder for each field line.
func (d *FieldDecoder) onField(f hpack.HeaderField) {
	if !d.emit(frame.Field{Name: f.Name, Value: f.Value, Sensitive: f.Sensitive}) {
		d.hpack.SetEmitEnabled(false)
	}
}

// updateSize applies a table size update. The hpack decoder never sees one: it would accept an update after a field
// while the table is empty, and refuse the second of two while it is not.
func (d *FieldDecoder) updateSize(n uint32) error {
	d.updates++
	switch {
	// An update stands at the start of a block. RFC 7541, Section 4.2 (7541-4.2-4).
	case d.fields:
		return compressionError("a table size update after a field")
	// The smallest size and the last are all there is to say: more is work for nothing that a peer could make without
	// end. RFC 7541, Section 4.2 (7541-4.2-5).
	case d.updates > 2:
		return compressionError("more than two table size updates")
	// RFC 7541, Section 6.3 (7541-6.3-1): never above the acknowledged setting.
	case n > d.limit:
		return compressionError("a table size update above the limit")
	// RFC 9113, Section 4.3.1 (9113-4.3.1-4): the update that is due reaches down to the lowest setting.
	case d.due && n > d.dueMax:
		return compressionError("a table size update above the size that the table was lowered to")
	}
	d.due = false
	d.size = n
	d.hpack.SetMaxDynamicTableSize(n)
	return nil
}

func compressionError(reason string) error {
	return &frame.Error{Code: frame.CompressionError, Reason: reason}
}
