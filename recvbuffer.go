package h2flow

import "sync"

// recvBuffer holds the octets of a body that came and were not read yet. Octets are copied into chunks that are filled
// one after the other, so that many small frames neither cost a chunk each nor keep a large read buffer alive: what it
// holds is bounded by the stream's window and one chunk.
type recvBuffer struct {
	chunks []*chunk
	n      int // octets held
}

// A chunk is a piece of memory of one of the sizes of chunkSizes.
type chunk struct {
	b    []byte
	r, w int // read and write positions
}

var chunkSizes = [...]int{1 << 10, 4 << 10, 16 << 10}

var chunkPools [len(chunkSizes)]sync.Pool

// newChunk takes the smallest chunk that holds n octets, or the largest there is.
func newChunk(n int) *chunk {
	i := 0
	for i < len(chunkSizes)-1 && n > chunkSizes[i] {
		i++
	}
	if c, ok := chunkPools[i].Get().(*chunk); ok {
		return c
	}
	return &chunk{b: make([]byte, chunkSizes[i])}
}

func (c *chunk) free() {
	c.r, c.w = 0, 0
	for i, size := range chunkSizes {
		if len(c.b) == size {
			chunkPools[i].Put(c)
		}
	}
}

// write copies p into the buffer.
func (b *recvBuffer) write(p []byte) {
	b.n += len(p)
	for len(p) > 0 {
		if k := len(b.chunks); k == 0 || b.chunks[k-1].w == len(b.chunks[k-1].b) {
			b.chunks = append(b.chunks, newChunk(max(len(p), min(b.n, chunkSizes[2]))))
		}
		c := b.chunks[len(b.chunks)-1]
		n := copy(c.b[c.w:], p)
		c.w += n
		p = p[n:]
	}
}

// read moves octets into p.
func (b *recvBuffer) read(p []byte) int {
	total := 0
	for len(p) > 0 && len(b.chunks) > 0 {
		c := b.chunks[0]
		n := copy(p, c.b[c.r:c.w])
		c.r += n
		p = p[n:]
		total += n
		if c.r == c.w {
			c.free()
			b.chunks[0] = nil
			b.chunks = b.chunks[1:]
		}
	}
	b.n -= total
	if b.n == 0 {
		b.chunks = nil
	}
	return total
}

// drop forgets everything.
func (b *recvBuffer) drop() {
	for _, c := range b.chunks {
		c.free()
	}
	*b = recvBuffer{}
}
