package hostile

import (
	"slices"
	"time"

	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/stream"
)

// The user opens requests and does with them what users do.
type user struct {
	requests map[frame.StreamID]*request
	order    []*request
	opened   int
	noMore   bool
}

// A request is one as the user sees it.
type request struct {
	id      frame.StreamID
	method  string
	reader  reader
	left    int // octets of the body to send; its end is sent after the last
	trailer bool

	opened  bool // the head has left
	status  int
	length  int64
	got     int // octets of the body
	unread  int
	ended   bool // the response is complete
	sentAll bool
	stopped bool
	blocked bool // it had to wait for a window
	failed  *conn.Error
	gaveUp  bool
}

// over reports whether the request has had its outcome.
func (r *request) over() bool { return r.ended || r.failed != nil || r.gaveUp }

// A reader is how the user reads.
type reader uint8

const (
	eager   reader = iota // everything at once
	slow                  // some at a time
	absent                // nothing until the faults stop
	leaving               // gives up after some octets
	numReaders
)

// pattern is the octet of a body at an offset.
func pattern(id frame.StreamID, offset int) byte { return byte(int(id)*31 + offset*7) }

// live counts the requests without an outcome.
func (u *user) live() int {
	n := 0
	for _, r := range u.order {
		if !r.over() {
			n++
		}
	}
	return n
}

// any returns a request that is not over, or nil.
func (u *user) any(w *world) *request {
	if u.live() == 0 {
		return nil
	}
	k := w.choose.IntN(u.live())
	for _, r := range u.order {
		if !r.over() {
			if k == 0 {
				return r
			}
			k--
		}
	}
	return nil
}

// act does one thing.
func (u *user) act(w *world) {
	if w.closed {
		return
	}
	r := u.any(w)
	switch k := w.choose.IntN(16); {
	case k < 4 || r == nil:
		u.open(w)
	case k < 8:
		w.upload(r, 1+w.choose.IntN(30000))
	case k < 11:
		w.read(r, 1+w.choose.IntN(3000))
	case k == 11 && w.oneIn(3):
		w.giveUp(r)
	case k == 12 && w.oneIn(3) && !r.sentAll:
		w.tally.reach("the body of a request fails")
		w.giveUp(r)
	case k == 13:
		n := w.choose.IntN(5000)
		w.c.ReaderWaiting(w.now, r.id, n)
		if n%2 == 0 {
			w.c.ReaderAway(w.now, r.id)
		}
	case k == 14 && w.oneIn(4):
		w.c.Ping(w.now, [8]byte{'u', byte(w.choose.IntN(256))})
	case k == 15 && w.oneIn(40):
		w.shutdown()
	}
}

// open begins a request of any kind.
func (u *user) open(w *world) {
	if u.noMore || u.opened >= 40 || u.live() > 10 {
		return
	}
	r := &request{method: pick(w, "GET", "GET", "POST", "HEAD"), reader: reader(w.choose.IntN(int(numReaders))), length: -1}
	if r.method == "POST" {
		r.left = pick(w, 0, 10, 1000, 70000, 200000)
		r.trailer = w.oneIn(4)
	}
	fields := []frame.Field{{Name: ":method", Value: r.method}, {Name: ":scheme", Value: "https"},
		{Name: ":authority", Value: "a"}, {Name: ":path", Value: "/"}}
	if w.oneIn(3) {
		fields = append(fields, frame.Field{Name: "x-long", Value: string(fill('v', pick(w, 10, 500, 40000)))})
	}
	r.sentAll = r.method != "POST"
	id, err := w.c.Open(w.now, fields, r.sentAll)
	if err != nil {
		switch err {
		case conn.ErrIDsExhausted:
			w.tally.reach("no stream identifiers are left")
		case conn.ErrQueueFull:
			w.tally.reach("the queue for slots is full")
		case conn.ErrHeaderListTooLarge:
			w.tally.reach("a request is above the server's limit for heads")
		case conn.ErrClosed:
		default:
			w.fatal("Open: %v", err)
		}
		return
	}
	w.note("=", r.method)
	r.id = id
	u.opened++
	u.requests[id] = r
	u.order = append(u.order, r)
	if w.stuck && len(w.unsent) > 0 {
		w.tally.reach("a request is opened while the transport is blocked")
	}
	w.output()
	if !r.opened && !w.stuck && w.c.QueuedStreams() > 0 {
		w.tally.reach("a request waits for a slot")
	}
}

func fill(c byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = c
	}
	return b
}

// upload sends up to n octets of a request's body, as the windows allow, and its end after the last.
func (w *world) upload(r *request, n int) {
	if r.sentAll || w.stuck || w.closed || r.failed != nil || r.gaveUp {
		return
	}
	for n > 0 && r.left > 0 && r.opened {
		quota := w.c.SendQuota(r.id)
		if quota == 0 {
			r.blocked = true
			w.noteBlocked(r)
			return
		}
		k := min(n, quota, r.left)
		end := k == r.left && !r.trailer
		w.pack(func(dst []byte) []byte {
			return append(w.c.AppendData(w.now, dst, r.id, k, end), make([]byte, k)...)
		})
		if w.err != nil || r.over() && !r.ended {
			return
		}
		n, r.left = n-k, r.left-k
		r.sentAll = end
	}
	if r.left == 0 && !r.sentAll {
		w.endUpload(r)
	}
	w.take(len(w.unsent))
}

func (w *world) endUpload(r *request) {
	r.sentAll = true
	if r.opened && w.c.SendQuota(r.id) == 0 {
		w.tally.reach("a request ends while its window is 0")
	}
	if r.trailer {
		w.tally.reach("a request ends with trailers")
		if err := w.c.SendTrailers(w.now, r.id, []frame.Field{{Name: "t", Value: "v"}}); err != nil {
			w.fatal("SendTrailers: %v", err)
		}
	} else {
		w.c.EndStream(w.now, r.id)
	}
	w.output()
}

// noteBlocked tells which window an upload waits for.
func (w *world) noteBlocked(r *request) {
	own, connection := w.shadow.SendWindow(r.id), w.shadow.SendWindow(0)
	switch {
	case own < 0:
		w.tally.reach("an upload waits at a window below 0")
	case own == 0 && connection > 0:
		w.tally.reach("an upload waits for its stream's window")
	case own > 0 && connection == 0:
		w.tally.reach("an upload waits for the connection's window")
	case own > 0 && connection > 0 && !w.c.HasOutput(): // else the client may know more than its acknowledgements say
		if !r.ended && w.states[r.id] != stream.HalfClosedLocal {
			w.fatal("stream %d may not send at windows of %d and %d", r.id, own, connection)
		}
	}
}

// read takes up to n octets of what the request holds unread.
func (w *world) read(r *request, n int) {
	if n = min(n, r.unread); n > 0 {
		r.unread -= n
		w.c.Consumed(w.now, r.id, n)
		w.events()
		w.output()
	}
}

// giveUp cancels a request.
func (w *world) giveUp(r *request) {
	if r.gaveUp || w.closed {
		return
	}
	w.note("=", "give up")
	switch {
	case !r.opened:
		w.tally.reach("a request is given up before its head left")
	case r.unread > 0:
		w.tally.reach("a request is given up with octets unread")
	case r.status == 0:
		w.tally.reach("a request is given up before its answer")
	}
	if !r.sentAll {
		w.tally.reach("a request is given up in the middle of its body")
	}
	r.gaveUp, r.unread = true, 0
	w.c.Reset(w.now, r.id, frame.Cancel)
}

func (w *world) shutdown() {
	w.note("=", "shutdown")
	w.user.noMore = true
	if w.user.live() > 0 {
		w.tally.reach("a shutdown with requests in progress")
	}
	w.closing = true
	w.c.Shutdown(w.now)
	w.events()
	w.output()
}

// onEvent is what the user hears.
func (w *world) onEvent(ev conn.Event) {
	switch ev.Kind {
	case conn.Closed:
		w.closed = true
		w.onClosed(ev)
		return
	case conn.GoAway, conn.Settings, conn.SettingsAcked, conn.Pong, conn.AltSvc, conn.Origins:
		w.noteConnEvent(ev)
		return
	}
	r := w.user.requests[ev.Stream]
	switch {
	case r == nil:
		w.fatal("%v of a stream that nobody opened", ev)
		return
	case r.gaveUp || r.failed != nil:
		w.fatal("%v after the last event of its stream", ev)
		return
	}
	if r.ended && ev.Kind != conn.Sendable && ev.Kind != conn.SendStopped && ev.Kind != conn.StreamError {
		w.fatal("%v after the end of the response", ev)
	}
	switch ev.Kind {
	case conn.Opened:
		r.opened = true
	case conn.Interim:
		w.tally.reach("an interim response")
		if r.status != 0 || ev.Status < 100 || ev.Status > 199 {
			w.fatal("%v after the head", ev)
		}
	case conn.Response:
		w.onResponse(r, ev)
	case conn.Data:
		w.onData(r, ev)
	case conn.Trailers:
		w.tally.reach("trailers")
		w.onEnd(r)
	case conn.Sendable:
		if !r.blocked {
			w.fatal("%v that nobody waited for", ev)
		}
		r.blocked = false
		w.tally.reach("an upload is woken")
	case conn.SendStopped:
		w.tally.reach("a complete response, then a reset that stops the upload")
		r.stopped, r.sentAll = true, true
		if !r.ended {
			w.fatal("%v before the end of the response", ev)
		}
	case conn.StreamError:
		w.onError(r, ev.Err)
	case conn.Stalled:
		w.tally.reach("a body stalls")
	}
}

func (w *world) onResponse(r *request, ev conn.Event) {
	if r.status != 0 {
		w.fatal("a second head: %v", ev)
	}
	r.status, r.length = ev.Status, ev.ContentLength
	x := w.server.streams[r.id]
	if x == nil && !w.nemesis.lied || x != nil && !x.tainted && x.status != ev.Status {
		w.fatal("%v, which the server did not say", ev)
		return
	}
	if !r.sentAll {
		w.tally.reach("the answer comes before the request's end")
	}
	if ev.End {
		w.onEnd(r)
	}
}

func (w *world) onData(r *request, ev conn.Event) {
	x := w.server.streams[r.id]
	if r.status == 0 || x == nil && !w.nemesis.lied {
		w.fatal("%v before the head", ev)
		return
	}
	if x != nil && !x.tainted {
		for i, c := range ev.Data {
			if c != pattern(r.id, r.got+i) {
				w.fatal("stream %d: octet %d of the body is wrong", r.id, r.got+i)
				return
			}
		}
	}
	r.got += len(ev.Data)
	r.unread += len(ev.Data)
	if ev.End {
		w.onEnd(r)
	}
	switch r.reader {
	case eager:
		n := r.unread
		r.unread = 0
		w.c.Consumed(w.now, r.id, n)
	case leaving:
		if r.got > 2000 {
			w.tally.reach("a reader leaves in the middle of a DATA frame")
			w.giveUp(r)
		}
	}
}

// onEnd: a response is complete only as the server sent it.
func (w *world) onEnd(r *request) {
	if r.ended {
		w.fatal("stream %d ends twice", r.id)
	}
	r.ended = true
	if next, v := stream.Next(w.states[r.id], stream.RecvEndStream); v.Kind == stream.Accept {
		w.states[r.id] = next
	} else {
		w.fatal("stream %d ends in state %v", r.id, w.states[r.id])
	}
	x := w.server.streams[r.id]
	switch {
	case x == nil && !w.nemesis.lied, x != nil && !x.tainted && (!x.done || x.sent != r.got):
		w.fatal("stream %d: %d octets are a complete response; the server says %+v", r.id, r.got, x)
	case r.length >= 0 && r.method != "HEAD" && r.status != 304 && int64(r.got) != r.length:
		w.fatal("stream %d: %d octets are a complete response of %d", r.id, r.got, r.length)
	}
	if r.unread > 0 {
		w.tally.reach("a response is complete and not read yet")
	}
	if !r.sentAll {
		w.tally.reach("a response is complete before the request")
	}
}

func (w *world) onError(r *request, e *conn.Error) {
	r.failed = e
	r.unread = 0
	w.noteError(r, e)
	x := w.server.streams[r.id]
	if e.NotProcessed && x != nil && x.status != 0 && !x.refused && !x.tainted && !w.nemesis.lied {
		w.fatal("stream %d was answered and is called not processed: %v", r.id, e)
	}
	if e.Answered != (r.status != 0 || r.got > 0 || e.Answered) {
		w.fatal("stream %d: answered %v", r.id, e.Answered)
	}
	if e.NotProcessed && e.Answered {
		w.fatal("stream %d: answered and not processed: %v", r.id, e)
	}
}

func (w *world) noteError(r *request, e *conn.Error) {
	switch {
	case e.GoAway && e.NotProcessed && !r.opened:
		w.tally.reach("GOAWAY meets a request that waits for a slot")
	case e.GoAway && e.NotProcessed:
		w.tally.reach("GOAWAY names a lower stream")
	case e.Code == frame.RefusedStream && e.NotProcessed:
		w.tally.reach("a stream is refused")
	case e.Origin == conn.Peer && !e.GoAway && r.status == 0:
		w.tally.reach("a reset before the head")
	case e.Origin == conn.Peer && !e.GoAway:
		w.tally.reach("a reset after the head")
	case e.Err != nil && e.Scope == conn.ScopeStream:
		w.tally.reach("a stalled body fails")
	}
	if e.Err == errBroken && e.NotProcessed {
		w.tally.reach("a request never left when the transport failed")
	}
}

func (w *world) onClosed(ev conn.Event) {
	for _, r := range w.user.order {
		if !r.over() {
			w.fatal("the connection is over, and stream %d has no outcome", r.id)
		}
		if r.unread > 0 {
			w.tally.reach("the connection ends with octets unread")
		}
		r.unread, r.sentAll = 0, true
	}
	switch e := ev.Err; {
	case e == nil && w.server.goAwaySent && w.user.opened > 0:
		w.tally.reach("GOAWAY, and the connection drains")
	case e == nil && w.closing:
		w.tally.reach("a shutdown drains")
	case e != nil && e.Origin == conn.Local && (e.Err == nil || e.Code == frame.CompressionError):
		w.tally.reach("a connection error " + e.Code.String())
		if w.closing {
			w.tally.reach("a connection error after a shutdown")
		}
	}
}

func (w *world) noteConnEvent(ev conn.Event) {
	switch ev.Kind {
	case conn.SettingsAcked:
		if w.server.acked++; w.server.acked > 1 {
			w.tally.reach("a change of our windows is acknowledged")
		}
	case conn.GoAway:
		if w.server.goAways > 1 {
			w.tally.reach("a second GOAWAY")
		}
	case conn.Pong:
		w.tally.reach("a PING of the user's is answered")
	case conn.AltSvc, conn.Origins:
		w.tally.reach("an extension frame is handed on")
	}
}

// finish lets the user read and send all there is, when the faults have stopped.
func (u *user) finish(w *world) {
	u.noMore = true
	for _, r := range slices.Clone(u.order) {
		if w.closed || w.err != nil {
			return
		}
		if r.gaveUp || r.failed != nil {
			continue
		}
		w.read(r, r.unread)
		w.upload(r, 1<<20)
	}
	w.advance(50 * time.Millisecond)
}
