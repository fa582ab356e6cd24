package frame

import "io"

const (
	// initialBuffer is the first size of a Reader's buffer, in octets.
	initialBuffer = 4096
	// maxEmptyReads is how often in a row a source may return nothing before it counts as broken.
	maxEmptyReads = 100
)

// A Reader reads frames, one after the other, from an io.Reader, for tools and tests that own a goroutine for it. It
// reads ahead, and keeps one buffer, which grows as octets arrive and never because a header announces them.
type Reader struct {
	src          io.Reader
	maxFrameSize uint32
	buf          []byte // buf[start:end] has been read and not returned
	start, end   int
	err          error
}

// NewReader returns a Reader that refuses frames whose payload is above maxFrameSize octets.
func NewReader(r io.Reader, maxFrameSize uint32) *Reader {
	return &Reader{src: r, maxFrameSize: maxFrameSize}
}

// Next returns the next frame; the payload is valid until the next call. Nothing is checked but the size: above the
// limit the error is a FRAME_SIZE_ERROR as CheckHeader tells it, beside the header. At the end between two frames the
// error is io.EOF, within a frame io.ErrUnexpectedEOF. After an error every call returns the same one.
func (r *Reader) Next() (Header, []byte, error) {
	if r.err != nil {
		return Header{}, nil, r.err
	}
	if err := r.fill(HeaderLen); err != nil {
		return Header{}, nil, err
	}
	h, _ := ParseHeader(r.buf[r.start:r.end])
	if h.Length > r.maxFrameSize {
		r.err = headerError(h, r.maxFrameSize)
		return h, nil, r.err
	}
	size := HeaderLen + int(h.Length)
	if err := r.fill(size); err != nil {
		return h, nil, err
	}
	payload := r.buf[r.start+HeaderLen : r.start+size : r.start+size]
	r.start += size
	return h, payload, nil
}

// Buffered returns the octets that were read from the source and not yet returned; valid until the next call of Next.
func (r *Reader) Buffered() []byte { return r.buf[r.start:r.end] }

// fill reads until at least n octets are buffered.
func (r *Reader) fill(n int) error {
	empty := 0
	for r.end-r.start < n {
		r.makeRoom()
		m, err := r.src.Read(r.buf[r.end:])
		r.end += m
		switch {
		case r.end-r.start >= n: // an error, if any, comes again with the next read
			return nil
		case m > 0:
			empty = 0
		case err == nil:
			if empty++; empty == maxEmptyReads {
				err = io.ErrNoProgress
			}
		}
		if err == io.EOF && r.end > r.start {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			r.err = err
			return err
		}
	}
	return nil
}

// makeRoom moves what is buffered to the front, and doubles the buffer if that makes no room.
func (r *Reader) makeRoom() {
	if r.start > 0 {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.buf) {
		grown := make([]byte, max(2*len(r.buf), initialBuffer))
		copy(grown, r.buf)
		r.buf = grown
	}
}
