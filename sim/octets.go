package sim

// octets is a stream of octets that were written and not yet delivered.
//
// Model: pieces, in order, that are either literal octets or a run of zeros, which stands for a body and costs no
// memory. Bodies are zeros because no strategy looks at them.
type octets struct {
	pieces []piece
	head   int
	size   int64
	slab   []byte // where literals are copied to
}

type piece struct {
	literal []byte
	zeros   int64 // if literal is nil
}

const slabBytes = 4 << 10

var zeros [64 << 10]byte

// append adds literal octets, which are copied.
func (o *octets) append(p []byte) {
	if len(p) > 0 {
		if cap(o.slab)-len(o.slab) < len(p) {
			o.slab = make([]byte, 0, max(len(p), slabBytes))
		}
		at := len(o.slab)
		o.slab = append(o.slab, p...)
		o.push(piece{literal: o.slab[at:len(o.slab):len(o.slab)]})
		o.size += int64(len(p))
	}
}

// appendZeros adds n zeros.
func (o *octets) appendZeros(n int64) {
	if n > 0 {
		o.push(piece{zeros: n})
		o.size += n
	}
}

func (o *octets) push(p piece) {
	if o.head > 1024 && 2*o.head > len(o.pieces) {
		n := copy(o.pieces, o.pieces[o.head:])
		clear(o.pieces[n:])
		o.pieces, o.head = o.pieces[:n], 0
	}
	o.pieces = append(o.pieces, p)
}

// next takes up to n octets from the front, in one piece that is valid until the octets are gone.
func (o *octets) next(n int64) []byte {
	p := &o.pieces[o.head]
	var taken []byte
	if p.literal != nil {
		n = min(n, int64(len(p.literal)))
		taken, p.literal = p.literal[:n], p.literal[n:]
		if len(p.literal) == 0 {
			*p = piece{}
			o.head++
		}
	} else {
		n = min(n, p.zeros, int64(len(zeros)))
		taken = zeros[:n]
		p.zeros -= n
		if p.zeros == 0 {
			o.head++
		}
	}
	if o.head == len(o.pieces) {
		o.pieces, o.head = o.pieces[:0], 0
	}
	o.size -= n
	return taken
}
