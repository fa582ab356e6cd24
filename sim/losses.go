package sim

// losses decides which segments are lost at random.
//
// Model: on the way to the client, each stretch of mss octets of a TCP stream has at most one octet that is lost when it
// is sent for the n-th time; whether and which follows from the seed, the connection, the stretch and n alone, so that
// other segment boundaries, or other times, lose the same octets. What goes to the server is small and differs from
// strategy to strategy anyway: there each segment is lost as a whole, by its first octet.
type losses struct {
	seed      uint64
	threshold uint64 // of 2^53; 0 means that nothing is lost
	whole     bool   // each segment as a whole
}

// newLosses has the losses of one way of the path.
func newLosses(seed uint64, loss float64, toServer bool) losses {
	l := losses{seed: mix(seed + 1), threshold: uint64(loss * (1 << 53)), whole: toServer}
	if toServer {
		l.seed = mix(l.seed)
	}
	return l
}

// losesSegment reports whether the octets of p from start to end, in one segment, are lost.
func (l *losses) losesSegment(p *packet, start, end int64) bool {
	key := l.seed ^ mix(uint64(p.to.connection)<<32|uint64(p.attempt))
	if l.whole {
		return l.hits(mix(key ^ uint64(start)))
	}
	for stretch := start / mss; stretch*mss < end; stretch++ {
		h := mix(key ^ uint64(stretch))
		if !l.hits(h) {
			continue
		}
		if at := stretch*mss + int64(mix(h)%mss); at >= start && at < end {
			return true
		}
	}
	return false
}

// losesAck reports whether an acknowledgement alone is lost.
func (l *losses) losesAck(p *packet) bool {
	if l.threshold == 0 {
		return false
	}
	return l.hits(mix(l.seed ^ mix(uint64(p.to.connection)<<32|uint64(p.attempt)) ^ uint64(p.ack)))
}

func (l *losses) hits(h uint64) bool { return h>>11 < l.threshold }

// mix is a bijection of 64 bits that leaves no pattern: two rounds of multiplication and shifting.
func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	return x
}
