package peer

import (
	"bytes"
	"errors"
	"fmt"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/plainfields"
	"golang.org/x/net/http2/hpack"
)

// A Codec says how field blocks are coded; both sides must agree.
type Codec uint8

// The codecs.
const (
	// Plain is that of package plainfields: literals only.
	Plain Codec = iota
	// HPACK is RFC 7541.
	HPACK
)

// initialTableSize is the size of both HPACK tables until a setting says otherwise, in octets.
const initialTableSize = 4096

type fieldEncoder interface {
	AppendField(dst []byte, f frame.Field) []byte
	SetMaxTableSize(n uint32)
}

// A fieldDecoder decodes whole field blocks.
type fieldDecoder interface {
	decode(block []byte) ([]frame.Field, error)
	setMax(n uint32) // the table size that the client acknowledged
}

func newEncoder(c Codec) fieldEncoder {
	if c == Plain {
		return &plainfields.Encoder{}
	}
	e := &hpackEncoder{}
	e.enc = hpack.NewEncoder(&e.buf)
	return e
}

func newDecoder(c Codec) fieldDecoder {
	if c == Plain {
		return &plainDecoder{}
	}
	return &hpackDecoder{
		dec: hpack.NewDecoder(initialTableSize, nil), limit: initialTableSize, size: initialTableSize,
	}
}

type hpackEncoder struct {
	enc *hpack.Encoder
	buf bytes.Buffer
}

func (e *hpackEncoder) AppendField(dst []byte, f frame.Field) []byte {
	e.buf.Reset()
	_ = e.enc.WriteField(hpack.HeaderField{Name: f.Name, Value: f.Value, Sensitive: f.Sensitive})
	return append(dst, e.buf.Bytes()...)
}

func (e *hpackEncoder) SetMaxTableSize(n uint32) {
	if n = min(n, initialTableSize); n != e.enc.MaxDynamicTableSize() {
		e.enc.SetMaxDynamicTableSize(n)
	}
}

type plainDecoder struct{ dec plainfields.Decoder }

func (d *plainDecoder) decode(block []byte) (fields []frame.Field, err error) {
	err = d.dec.Decode(block, func(f frame.Field) bool { fields = append(fields, f); return true })
	if err == nil {
		err = d.dec.EndBlock()
	}
	return fields, err
}

func (d *plainDecoder) setMax(n uint32) { d.dec.SetMaxTableSize(n) }

// An hpackDecoder takes the table size updates off the start of a block itself, since it also has to know that one is
// there when it is due.
type hpackDecoder struct {
	dec         *hpack.Decoder
	limit, size uint32 // octets: the acknowledged setting, and what the client chose
	lowest      uint32 // octets: the lowest setting since the last block, if due
	due         bool
}

func (d *hpackDecoder) setMax(n uint32) {
	d.limit = n
	switch {
	case d.due:
		d.lowest = min(d.lowest, n)
	case n < d.size:
		d.due, d.lowest = true, n
	}
}

func (d *hpackDecoder) decode(block []byte) ([]frame.Field, error) {
	updates := 0
	for len(block) > 0 && block[0]&0xe0 == 0x20 {
		n, rest, ok := sizeUpdate(block)
		updates++
		switch {
		case !ok:
			return nil, errors.New("a table size update that is cut or too long")
		case updates > 2:
			return nil, errors.New("more than two table size updates (7541-4.2-3)")
		case n > d.limit:
			return nil, fmt.Errorf("a table size update to %d, above the limit of %d (7541-4.2-1)", n, d.limit)
		case updates == 1 && d.due && n > d.lowest:
			return nil, fmt.Errorf("a table size update to %d, after it was lowered to %d (9113-4.3.1-3)", n, d.lowest)
		}
		d.due, d.size, block = false, n, rest
		d.dec.SetMaxDynamicTableSize(n)
	}
	if d.due {
		return nil, fmt.Errorf("no table size update, after the table was lowered to %d (9113-4.3.1-3)", d.lowest)
	}
	list, err := d.dec.DecodeFull(block)
	var fields []frame.Field
	for _, f := range list {
		fields = append(fields, frame.Field{Name: f.Name, Value: f.Value, Sensitive: f.Sensitive})
	}
	return fields, err
}

func sizeUpdate(p []byte) (n uint32, rest []byte, ok bool) {
	if n = uint32(p[0] & 0x1f); n < 0x1f {
		return n, p[1:], true
	}
	for i, c := range p[1:min(len(p), 6)] {
		n += uint32(c&0x7f) << (7 * i)
		if c < 0x80 {
			return n, p[i+2:], true
		}
	}
	return 0, nil, false
}
