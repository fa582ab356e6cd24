package flow

// Receive is one receive window, of a stream or of the connection, kept as the four counts of Offsets.
//
// The window of a stream is kept relative to a base, the initial stream window that is in force for the whole
// connection: the octets granted are the base and what Grant added. So a change of the base moves the windows of all
// streams at once and costs the same with ten thousand streams as with one. The methods whose name ends in Over take
// that base; the others mean a base of 0, as the connection's window has. Whoever raises the base must first know that
// no stream's window leaves the range; Base keeps that knowledge, and Relative is what to Note in it.
//
// The zero value is a stream's window in its initial state.
type Receive struct {
	consumed int64
	received int64
	charged  int64
	added    int64 // granted above the base
}

// Init sets the window to its initial state, with granted octets above the base: DefaultWindow for a connection,
// 0 for a stream.
func (r *Receive) Init(granted int64) { *r = Receive{added: granted} }

// Charge takes the n octets of a whole frame, padding included, from the window; base is 0. It changes nothing and
// reports false if the peer had no right to send them.
func (r *Receive) Charge(n int64) bool { return r.ChargeOver(0, n) }

// ChargeOver is Charge for a window that is relative to base. An empty frame is always within its rights, even when a
// lowered base has made the window negative.
func (r *Receive) ChargeOver(base, n int64) bool {
	// A sender must stay within the window that the receiver advertised. RFC 9113, Section 6.9.1.
	if n > 0 && n > base+r.added-r.charged {
		return false
	}
	r.charged += n
	return true
}

// Receive counts n octets that arrived of those charged.
func (r *Receive) Receive(n int64) {
	if n < 0 || n > r.charged-r.received {
		panic("h2flow: bug: more octets received than charged")
	}
	r.received += n
}

// Consume counts n octets of those received as taken by the application, or as nothing that it will ever see.
func (r *Receive) Consume(n int64) {
	if n < 0 || n > r.received-r.consumed {
		panic("h2flow: bug: more octets consumed than received")
	}
	r.consumed += n
}

// CheckGrant says why n octets cannot be granted, or 0 if they can; base is 0.
func (r *Receive) CheckGrant(n int64) Refusal { return r.CheckGrantOver(0, n) }

// CheckGrantOver is CheckGrant for a window that is relative to base.
func (r *Receive) CheckGrantOver(base, n int64) Refusal {
	// An increment of 0 is an error of whoever sends it. RFC 9113, Section 6.9.
	if n < 1 {
		return RefusedIncrement
	}
	// A window above 2^31-1 is an error of whoever caused it. RFC 9113, Section 6.9.1.
	if n > MaxWindow-(base+r.added-r.charged) {
		return RefusedOverflow
	}
	return 0
}

// Grant adds n octets to the window. CheckGrant must have agreed.
func (r *Receive) Grant(n int64) { r.added += n }

// Relative is the window less the base: what Base.Note wants to know after Grant.
func (r *Receive) Relative() int64 { return r.added - r.charged }

// Unread is how many octets were received and not consumed.
func (r *Receive) Unread() int64 { return r.received - r.consumed }

// Offsets are the four counts; base is 0.
func (r *Receive) Offsets() Offsets { return r.OffsetsOver(0) }

// OffsetsOver is Offsets for a window that is relative to base.
func (r *Receive) OffsetsOver(base int64) Offsets {
	return Offsets{Consumed: r.consumed, Received: r.received, Charged: r.charged, Granted: base + r.added}
}
