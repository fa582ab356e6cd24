package strategy

import "time"

// heldUp notices octets that were held up on their way: nothing for a round trip, and then many at once. That is how a
// lost segment looks from here, and a long pause of this process.
type heldUp struct {
	last    time.Time // of the arrivals
	begin   time.Time // of the present burst
	octets  int64     // of it
	counted bool

	before, latest time.Time // of the last two times
}

// heldTime is for how long something that happened twice counts as happening often, or 64 round trips.
const heldTime = 5 * time.Second

// add counts n octets that came now; best is what comes in a span. In slow start, before the path is full, servers send
// bursts themselves.
func (h *heldUp) add(now time.Time, n int64, span time.Duration, best int64, full bool) {
	if now.Sub(h.last) > span-span/8 {
		h.begin, h.octets, h.counted = now, 0, false
	}
	h.last = now
	if h.counted || !full || now.Sub(h.begin) > span/64 {
		return
	}
	if h.octets += n; h.octets >= best/2 {
		h.counted = true
		h.before, h.latest = h.latest, now
	}
}

// often reports whether octets were held up twice of late.
func (h *heldUp) often(now time.Time, span time.Duration) bool {
	return now.Sub(h.before) < max(heldTime, 64*span)
}
