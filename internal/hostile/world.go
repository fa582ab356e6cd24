package hostile

import (
	"errors"
	"fmt"
	"strings"
	"time"

	h2flow "example.com/h2flow"
	"example.com/h2flow/conn"
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/plainfields"
	"example.com/h2flow/stream"
)

// epoch is when every life begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// A world is one life of a connection.
//
// Model: what the server says waits in down until the transport brings it; what the client packs waits in unsent until
// the transport takes it, and then in up. The shadow stands at the client's end: it sees octets as they are fed and
// packed, so that it may judge by all that the client knows. The server's own books are those of srv.
type world struct {
	choose Chooser
	tally  *Tally
	now    time.Time
	c      *conn.Conn
	shadow *peer.Shadow
	srv    *peer.Peer
	hpack  bool

	down    []byte
	unsent  []byte
	up      []byte
	taken   int64 // octets that left unsent
	stuck   bool  // the transport takes nothing
	healing bool  // the faults have stopped
	cut     bool  // the transport failed

	user    user
	server  server
	nemesis nemesis
	states  map[frame.StreamID]stream.State // for the table of cells
	highest frame.StreamID                  // that the client has opened

	closed  bool // the last event came
	closing bool // by the user
	talks   bool
	keep    bool   // what is said, for Conversation
	said    []byte // by the server
	sent    []byte // by the client
	lines   []string
	digest  uint64
	err     error
}

// A Report is how a life went.
type Report struct {
	// Err is what went wrong with the connection, nil if nothing did. What the server broke is not wrong.
	Err error
	// Digest is the same for two lives that were the same.
	Digest uint64
	// Requests and Steps are how many there were.
	Requests, Steps int
	lines           []string
}

// Transcript is the last part of a life that was told, one line for each thing that happened.
func (r Report) Transcript() string {
	const last = 80
	return strings.Join(r.lines[max(0, len(r.lines)-last):], "\n")
}

// newWorld makes a connection whose configuration is the first of all decisions.
func newWorld(choose Chooser, tally *Tally, talks bool, strategy flow.Config) *world {
	w := &world{choose: choose, tally: tally, talks: talks, now: epoch, states: map[frame.StreamID]stream.State{}}
	cfg := conn.Config{
		Strategy: w.newStrategy(), Encoder: &plainfields.Encoder{}, Decoder: &plainfields.Decoder{},
		OnFrame: w.onFrame, MaxHeaderListSize: 4096, MaxQueuedStreams: 6,
	}
	if strategy != nil {
		cfg.Strategy = strategy.New()
	}
	codec := peer.Plain
	if w.oneIn(4) {
		w.hpack = true
		cfg.Encoder, cfg.Decoder, codec = h2flow.NewFieldEncoder(4096), h2flow.NewFieldDecoder(), peer.HPACK
	}
	switch w.choose.IntN(8) {
	case 1:
		cfg.MaxConcurrentStreams = 2
	case 2:
		cfg.FirstStreamID = frame.MaxStreamID - 4
	case 3:
		cfg.HeaderTableSize = pick[int64](w, -1, 100, 8192)
	case 4:
		cfg.MaxReadFrameSize = 20000
	}
	w.c = conn.New(w.now, cfg)
	w.shadow = peer.NewShadow(codec)
	w.shadow.Prompt = true
	w.srv = peer.New(codec)
	w.highest = max(cfg.FirstStreamID, 1) - 1
	w.user.requests = map[frame.StreamID]*request{}
	w.server.streams = map[frame.StreamID]*exchange{}
	w.server.goAwayLast = frame.MaxStreamID
	return w
}

// newStrategy chooses who decides about windows; small ones let everything that can be blocked be blocked.
func (w *world) newStrategy() flow.Strategy {
	windows := flow.Windows{
		Stream: pick[int64](w, 65535, 1000, 20000, 100000),
		Conn:   pick[int64](w, 65535, 70000, 200000),
	}
	switch w.choose.IntN(6) {
	case 1:
		return &keeping{windows: windows, never: true}
	case 2:
		return &wild{w: w, keeping: keeping{windows: windows}}
	}
	return &keeping{windows: windows}
}

// keeping gives back what was consumed, at once or never.
type keeping struct {
	windows flow.Windows
	never   bool
}

func (k *keeping) Open(time.Time) flow.Windows { return k.windows }
func (k *keeping) Deadline() time.Time         { return time.Time{} }

func (k *keeping) Decide(_ time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	switch ev.Kind {
	case flow.Consumed, flow.Padding, flow.Discarded, flow.StreamClosed:
	default:
		return dst
	}
	if k.never {
		return dst
	}
	if n := ev.StreamWindow.Due(k.windows.Stream); n > 0 && ev.Stream != 0 && ev.Kind != flow.StreamClosed {
		dst = append(dst, flow.GrantStream(ev.Stream, n))
	}
	if n := ev.ConnWindow.Due(k.windows.Conn); n > 0 {
		dst = append(dst, flow.GrantConn(n))
	}
	return dst
}

// wild asks for anything, too, whether it may or not.
type wild struct {
	keeping
	w *world
}

func (s *wild) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	dst = s.keeping.Decide(now, ev, dst)
	if ev.Kind == flow.ActionRefused {
		s.w.tally.reach("an action of the strategy is refused")
		return dst
	}
	n := pick[int64](s.w, 0, -1, 1, 1000, 70000, flow.MaxWindow, flow.MaxWindow+1)
	switch s.w.choose.IntN(12) {
	case 1:
		dst = append(dst, flow.GrantConn(n))
	case 2:
		dst = append(dst, flow.GrantStream(uint32(1+2*s.w.choose.IntN(12)), n))
	case 3:
		dst = append(dst, flow.SetInitialWindow(n))
	case 4:
		dst = append(dst, flow.Ping())
	}
	return dst
}

// fatal notes the first thing that went wrong.
func (w *world) fatal(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// mix makes octets part of the digest (FNV-1a).
func (w *world) mix(octets ...byte) {
	for _, c := range octets {
		w.digest = (w.digest ^ uint64(c)) * 1099511628211
	}
}

// note keeps a line of the transcript, if there is to be one.
func (w *world) note(direction string, v any) {
	if !w.talks {
		return
	}
	line := fmt.Sprintf("+%.3fs %s %v", w.now.Sub(epoch).Seconds(), direction, v)
	if len(line) > 200 {
		line = line[:200]
	}
	if len(w.lines) >= 400 {
		w.lines = append(w.lines[:0], w.lines[200:]...)
	}
	w.lines = append(w.lines, line)
}

// deliver brings up to n octets of what the server said to the client, in pieces.
func (w *world) deliver(n int) {
	if w.cut {
		w.down = nil
		return
	}
	n = min(n, len(w.down))
	octets := w.down[:n]
	w.down = w.down[n:]
	whole := w.oneIn(2)
	for len(octets) > 0 && w.err == nil {
		k := len(octets)
		if !whole {
			k = min(k, pick(w, 1, 3, 9, 100, 2000))
		}
		if k == 1 {
			w.tally.reach("one octet is fed")
		}
		w.mix(octets[:k]...)
		if w.keep {
			w.said = append(w.said, octets[:k]...)
		}
		w.shadow.FromServer(octets[:k])
		w.c.Feed(w.now, octets[:k])
		octets = octets[k:]
		w.events()
		w.output()
	}
}

// events takes the events that there are; now and then the user acts in between.
func (w *world) events() {
	for ev := w.c.NextEvent(); ev.Kind != conn.None; ev = w.c.NextEvent() {
		w.mix(byte(ev.Kind), byte(ev.Stream))
		if ev.Kind != conn.Data {
			w.note("!", ev)
		}
		if w.closed {
			w.fatal("%v after the last event", ev)
			return
		}
		w.onEvent(ev)
		if w.err != nil {
			return
		}
		if w.oneIn(60) {
			if r := w.user.any(w); r != nil {
				w.tally.reach("the user gives up between two events")
				w.giveUp(r)
			}
		}
	}
}

// output packs what there is, and the transport takes some of it.
func (w *world) output() {
	if w.stuck || w.err != nil {
		return
	}
	limit := 1 << 20
	if w.oneIn(8) {
		limit = pick(w, 1, 30, 200)
	}
	w.pack(func(dst []byte) []byte { return w.c.AppendOutput(w.now, dst, limit) })
	if w.oneIn(8) {
		w.take(w.choose.IntN(1 + len(w.unsent)))
		return
	}
	w.take(len(w.unsent))
}

// pack appends to unsent what f appends, and shows it to the shadow.
func (w *world) pack(f func(dst []byte) []byte) {
	before := len(w.unsent)
	w.unsent = f(w.unsent)
	w.mix(w.unsent[before:]...)
	if w.keep {
		w.sent = append(w.sent, w.unsent[before:]...)
	}
	for _, v := range w.shadow.FromClient(w.unsent[before:]) {
		w.note(">", v)
	}
	w.events()
}

// take lets n octets of unsent leave.
func (w *world) take(n int) {
	if w.cut {
		return
	}
	n = min(n, len(w.unsent))
	w.up = append(w.up, w.unsent[:n]...)
	w.unsent = w.unsent[n:]
	w.taken += int64(n)
	w.c.Written(w.taken)
}

// arrive brings up to n octets to the server.
func (w *world) arrive(n int) {
	n = min(n, len(w.up))
	w.srv.Feed(w.up[:n])
	w.up = w.up[n:]
	for {
		v, ok := w.srv.Next()
		if !ok {
			return
		}
		w.server.hear(w, v)
	}
}

// check applies what must hold after every step.
func (w *world) check() {
	if err := w.complaint(); err != nil {
		w.fatal("at the client's end: %w", err)
	}
	if err := w.c.CheckInvariants(); err != nil {
		w.fatal("%w", err)
	}
	if d := w.c.Deadline(); !d.IsZero() && d.Before(w.now) {
		w.fatal("the deadline is %v ago", w.now.Sub(d))
	}
	if w.closed && w.c.Err() != nil && len(w.unsent) > 64<<10 {
		w.fatal("%d octets are to be sent after the end", len(w.unsent))
	}
}

// complaint is what the shadow at the client's end finds wrong. It charges a DATA frame when it has come to its end and
// the client when its header has come, so that whether a window is lifted too far is for the server's end to say.
func (w *world) complaint() error {
	joined, ok := w.shadow.Check().(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, err := range joined.Unwrap() {
		switch text := err.Error(); {
		case strings.Contains(text, "lifts the window"):
		// What comes in one piece with the frame that ended the connection is never looked at.
		case w.closed && strings.Contains(text, "after RST_STREAM from the server"):
		default:
			return err
		}
	}
	return nil
}

// advance moves the clock by d, with the timers on the way.
func (w *world) advance(d time.Duration) {
	end := w.now.Add(d)
	for rounds := 0; w.err == nil; rounds++ {
		at := w.c.Deadline()
		if at.IsZero() || at.After(end) {
			break
		}
		if rounds > 10000 {
			w.fatal("the deadlines do not move")
		}
		w.now = at
		w.c.Advance(at)
		w.events()
		w.output()
	}
	w.now = end
}

var errBroken = errors.New("hostile: the transport broke")

// breakTransport lets the transport fail, with whatever is under way.
func (w *world) breakTransport() {
	if w.cut || w.closed {
		return
	}
	switch {
	case w.server.goAwaySent:
		w.tally.reach("the transport fails after GOAWAY")
	case len(w.unsent) > 0:
		w.tally.reach("the transport fails with octets that never left")
	}
	if w.user.live() > 0 {
		w.tally.reach("the transport fails with requests in progress")
	}
	w.note("!", "the transport breaks")
	w.cut, w.down, w.unsent = true, nil, nil
	w.c.Fail(w.now, errBroken)
	w.events()
	if !w.closed || !w.c.Done() {
		w.fatal("after Fail: last event %v, Done %v", w.closed, w.c.Done())
	}
}
