package sim

// receiveWindow is the receive window of TCP itself, which grows as Linux's does since version 6.18.
//
// Model: the application leaves nothing in the buffer, so the window is all of it. It starts at half of 128 KiB. Once a
// round trip it is measured what arrived; if that is more than ever, the window follows: twice that, and twice the
// growth on top, since the measure is one round trip old. It cannot open faster than by twice what arrives.
type receiveWindow struct {
	most     int64 // 0 means that there is no bound at all
	buffer   int64
	opened   int64
	space    int64 // the most that arrived in a round trip
	since    int64 // when the measure began
	arrivals int64
}

const (
	firstReceiveWindow = 64 << 10
	firstReceiveSpace  = 10 * mss
	noWindow           = 1 << 50
)

func (w *receiveWindow) init(most int64) {
	w.most = most
	w.buffer = min(firstReceiveWindow, most)
	w.opened = w.buffer
	w.space = firstReceiveSpace
}

func (w *receiveWindow) size() int64 {
	if w.most == 0 {
		return noWindow
	}
	return min(w.buffer, w.opened)
}

// arrived counts n octets in order at e.
func (w *receiveWindow) arrived(e *endpoint, n int64) {
	if w.most == 0 {
		return
	}
	w.opened = min(w.opened+2*max(n, mss), w.most)
	w.arrivals += n
	if e.clock.now-w.since < max(e.send.srtt, 1) {
		return
	}
	if w.arrivals > w.space {
		window := 2 * w.arrivals
		window += 2 * mulDiv(window, w.arrivals-w.space, w.space)
		w.space = w.arrivals
		w.buffer = max(w.buffer, min(window, w.most))
	}
	w.arrivals = 0
	w.since = e.clock.now
}
