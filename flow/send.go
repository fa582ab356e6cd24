package flow

// SendWindow is what the peer still lets us send on one stream or on the connection. Like Receive it is kept relative
// to a base, the initial window that the peer advertises for all streams; the connection's base is DefaultWindow for
// ever. The window is signed, since a lowered base may take it below 0. See RFC 9113, Section 6.9.2.
//
// The zero value is a window in its initial state.
type SendWindow struct {
	relative int64
}

// Available is the window over base, in octets. At 0 and below nothing may be sent but empty frames.
func (w *SendWindow) Available(base int64) int64 { return base + w.relative }

// Update adds the increment of a WINDOW_UPDATE. It changes nothing and reports false if the window would exceed
// MaxWindow, which is an error of the peer: FLOW_CONTROL_ERROR, of the stream or of the connection.
func (w *SendWindow) Update(base, increment int64) bool {
	// A window above 2^31-1 ends the stream or the connection. RFC 9113, Section 6.9.1.
	if increment > MaxWindow-(base+w.relative) {
		return false
	}
	w.relative += increment
	return true
}

// Spend takes n octets that were packed for sending. n must not exceed Available.
func (w *SendWindow) Spend(n int64) { w.relative -= n }

// Relative is the window less its base: what Base.Note wants to know after Update.
func (w *SendWindow) Relative() int64 { return w.relative }

// Base is the initial window of all streams of a connection in one direction, and what must be known to change it.
//
// Model: a stream's window is the base plus the stream's own relative part. The parts change one by one, the base for
// all at once, and no window may leave the range up to MaxWindow. Base keeps an upper bound of the highest relative
// part. The bound rises with Note and never falls by itself, as streams spend their windows and close, so it may be
// too high but never too low. Set looks at the bound alone. Only when the bound says that a window might overflow does
// the owner walk its streams, once, and Tighten the bound to what it found:
//
//	if !base.Set(n) {
//		base.Tighten(highest) // the highest Relative of all open streams
//		if !base.Set(n) {
//			// some window would really overflow
//		}
//	}
//
// The walk makes the bound exact, and each further walk needs another Note that raised it. The zero value has a base
// of 0.
type Base struct {
	initial int64
	bound   int64
}

// MakeBase returns a base of initial octets with no streams.
func MakeBase(initial int64) Base { return Base{initial: initial} }

// Initial is the base itself: the window of a stream that has just opened, in octets.
func (b *Base) Initial() int64 { return b.initial }

// Note raises the bound to relative, the relative part of a window that has just risen.
func (b *Base) Note(relative int64) { b.bound = max(b.bound, relative) }

// Set changes the base to initial octets. It changes nothing and reports false if a stream's window might then exceed
// MaxWindow; whether one really would is known after Tighten.
func (b *Base) Set(initial int64) bool {
	// A changed initial window must not take any stream's window above 2^31-1. RFC 9113, Section 6.9.2 (9113-6.9.2-6).
	if initial < 0 || initial > MaxWindow-b.bound {
		return false
	}
	b.initial = initial
	return true
}

// Tighten sets the bound to highest, the highest relative part that any open stream has now. It stays at 0 or above
// for the streams that are yet to open.
func (b *Base) Tighten(highest int64) { b.bound = max(0, highest) }

// Update is w.Update over this base, with the bound kept.
func (b *Base) Update(w *SendWindow, increment int64) bool {
	if !w.Update(b.initial, increment) {
		return false
	}
	b.Note(w.relative)
	return true
}
