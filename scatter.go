package h2flow

import (
	"sync"

	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
)

// scatter reads what a large body brings straight into the slice of the goroutine that waits for it, so that its octets
// are copied once, by the kernel.
//
// Model: servers fill frames by a rule of their own, so that in the midst of a body the lengths of the next frames can be
// told from those of the last. So a read is spread over pieces: the rest of the frame that is being received goes into the slice, nine octets for the header that
// should follow go elsewhere, the payload of that frame goes into the slice again, and so on until it is full. The
// pieces are fed to the core in their order. After each header the core tells whether that frame is the one that was
// expected; if so, its payload lies where it belongs. If not, what was read behind that header is moved away from the
// slice before anything is delivered into it, and fed as any other octets.
type scatter struct {
	pieces  [][]byte
	lengths [scatterFrames]uint32 // of the frames that are expected
	headers [scatterFrames][frame.HeaderLen]byte
	vector  pieceVector
}

var scatterPool = sync.Pool{New: func() any { return new(scatter) }}

const (
	// scatterFrames is for how many headers one read makes room.
	scatterFrames = 32
	// scatterLeast is how many octets a read has to be able to bring into the slice, or copying is cheaper.
	scatterLeast = 8 << 10
	// scatterFrame is the length of a frame below which so many pieces are dearer than copying, in octets.
	scatterFrame = 2 << 10
	// scatterMost bounds what one read brings and so what may have to be moved, in octets.
	scatterMost = 256 << 10
)

// plan lays out the pieces of a read into dst and reports whether such a read pays. at is where the core stands in the
// frames of the stream that dst is for, many says whether one read may fill several pieces.
func (sc *scatter) plan(dst []byte, at conn.DataRun, many bool) bool {
	sc.pieces = sc.pieces[:0]
	if len(dst) > scatterMost {
		dst = dst[:scatterMost]
	}
	if !many {
		return sc.planOne(dst, at)
	}
	if len(dst) < scatterLeast || at.Length < scatterFrame && at.Left < scatterLeast {
		return false
	}
	period := period(at.Lengths)
	take := func(n int) {
		n = min(n, len(dst))
		sc.pieces = append(sc.pieces, dst[:n:n])
		dst = dst[n:]
	}
	if at.Left > 0 {
		take(int(at.Left))
	}
	header := at.Header
	for i := 0; i < scatterFrames && len(dst) > 0 && at.Length >= scatterFrame; i++ {
		if i < period {
			sc.lengths[i] = at.Lengths[len(at.Lengths)-period+i]
		} else {
			sc.lengths[i] = sc.lengths[i-period]
		}
		sc.pieces = append(sc.pieces, sc.headers[i][:header])
		header = frame.HeaderLen
		take(int(sc.lengths[i]))
	}
	return true
}

// planOne is plan for a read of one piece: the rest of a large frame, or only the header of the next if that is likely
// to be a large one.
func (sc *scatter) planOne(dst []byte, at conn.DataRun) bool {
	switch {
	case len(dst) < scatterLeast:
		return false
	case at.Left >= scatterLeast:
		n := min(len(dst), int(at.Left))
		sc.pieces = append(sc.pieces, dst[:n:n])
	case at.Left == 0 && at.Length >= 4*scatterLeast:
		sc.pieces = append(sc.pieces, sc.headers[0][:at.Header])
		sc.lengths[0] = at.Length
	default:
		return false
	}
	return true
}

// mostPeriod is the longest period that is looked for.
const mostPeriod = 20

// period is the least number of frames after which lengths repeats itself, as far as it goes back and for a period at
// least: what a server writes at once ends with a shorter frame, say. It is 1 if there is none.
func period(lengths []uint32) int {
	n := len(lengths)
	for p := 1; p <= mostPeriod && 2*p <= n; p++ {
		i := n - 1
		for i >= p && i >= n-2*mostPeriod && lengths[i] == lengths[i-p] {
			i--
		}
		if i < p || i < n-2*mostPeriod {
			return p
		}
	}
	return 1
}

// planBody lays out a read into the slice of the goroutine that holds the role and reports whether it waits for a body
// and such a read pays. It returns where the core stands.
func (c *ClientConn) planBody() (conn.DataRun, bool) {
	s := c.reader.body
	if s == nil || s.dst == nil || s.buf.n > 0 || c.cfg.ReadBufferSize < scatterLeast {
		return conn.DataRun{}, false
	}
	run := c.core.DataRun()
	if run.Stream != s.id {
		return run, false
	}
	sc := scatterPool.Get().(*scatter)
	if !sc.plan(s.dst[s.got:], run, c.socket.scatters()) {
		scatterPool.Put(sc)
		return run, false
	}
	c.reader.scatter = sc
	return run, true
}

// readBody reads as planned.
func (c *ClientConn) readBody() (int, error) {
	sc := c.reader.scatter
	if len(sc.pieces) > 1 {
		return c.socket.readPieces(sc.pieces, &sc.vector)
	}
	return c.nc.Read(sc.pieces[0])
}

// feedBody gives the core the n octets that were read as planned, and hands on what comes of them.
func (c *ClientConn) feedBody(run conn.DataRun, n int) {
	sc := c.reader.scatter
	pieces := sc.pieces
	header, frames := run.Left == 0, 0
	for i, p := range pieces {
		p = p[:min(n, len(p))]
		n -= len(p)
		c.core.Feed(c.reader.last, p)
		c.drain()
		if n == 0 {
			break
		}
		if header {
			if id, left := c.core.InData(); id != run.Stream || left != sc.lengths[frames] {
				c.feedSpilled(pieces[i+1:], n)
				break
			}
		}
		if header {
			frames++
		}
		header = !header
	}
	clear(pieces)
	c.reader.scatter = nil
	scatterPool.Put(sc)
}

// feedSpilled feeds the first n octets of pieces from a place of their own.
func (c *ClientConn) feedSpilled(pieces [][]byte, n int) {
	spill := readBuffers.get(n)[:0]
	for _, p := range pieces {
		p = p[:min(n, len(p))]
		n -= len(p)
		spill = append(spill, p...)
	}
	c.reader.spill = spill
	c.core.Feed(c.reader.last, spill)
}

// drain hands on everything that the core makes of what it was fed.
func (c *ClientConn) drain() {
	for ev := c.core.NextEvent(); ev.Kind != conn.None; ev = c.core.NextEvent() {
		c.deliver(ev)
	}
}
