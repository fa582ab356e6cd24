package sim

// receiveWindow is the receive window of TCP itself, which grows as Linux's does since version 6.18.
//
// Model: the application leaves nothing in the buffer, so the window is all of it. It starts at what 128 KiB of memory
// hold. Once a round trip it is measured what arrived in the one before; if that is more than ever, the window follows:
// twice that, and twice the growth on top, since the measure is one round trip old. It opens by twice what arrives and
// no faster. What has come by the time the application wakes up is taken off the measure, as Linux does; so on a fast
// path the window holds slow start back a little after the third round trip.
type receiveWindow struct {
	most     int64 // 0 means that there is no bound at all
	buffer   int64
	opened   int64
	space    int64 // the most that arrived in a round trip
	since    int64 // when the measure began
	arrivals int64 // since then
	queued   int64 // of them, before the application woke up
	waking   bool
}

const (
	firstReceiveBuffer = 84 << 10
	firstReceiveWindow = 64088
	firstReceiveSpace  = 10 * mss
	noWindow           = 1 << 50

	wakeUp = 100e3 // from the first octets to the first read, in nanoseconds
)

func (w *receiveWindow) init(most int64) {
	w.most = most
	w.buffer = min(firstReceiveBuffer, most)
	w.opened = min(firstReceiveWindow, most)
	w.space = firstReceiveSpace
}

func (w *receiveWindow) size() int64 {
	if w.most == 0 {
		return noWindow
	}
	return w.opened
}

// arrived counts n octets in order at e.
func (w *receiveWindow) arrived(e *endpoint, n int64) {
	if w.most == 0 {
		return
	}
	now := e.clock.now
	if w.waking && now-w.since > wakeUp {
		w.waking = false
		w.measure()
	}
	w.opened = min(w.opened+2*max(n, mss), w.buffer)
	switch {
	case w.waking:
		w.queued += n
	case now-w.since >= e.send.minRTT:
		w.since = now
		w.waking = true
		w.arrivals += n
	default:
		w.arrivals += n
	}
}

// measure lets the buffer follow what arrived in a round trip.
func (w *receiveWindow) measure() {
	if copied := w.arrivals - w.queued; copied > w.space {
		window := 2 * copied
		window += 2 * mulDiv(window, copied-w.space, w.space)
		w.space = copied
		w.buffer = max(w.buffer, min(window, w.most))
	}
	w.arrivals, w.queued = w.queued, 0
}
