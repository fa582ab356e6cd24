package flowtest

import (
	"fmt"
	"time"

	"example.com/h2flow/flow"
)

// A reader is the application on one stream.
type reader struct {
	// octets is the most it takes in one read; zero takes all there is.
	octets int64
	// every is the time between reads: zero reads whatever arrives at once, negative never reads.
	every time.Duration
}

var (
	instant = reader{octets: 8192}
	never   = reader{every: -1}
)

// model is a client's connection with one strategy, and its server, in virtual time.
//
// It keeps the windows as a connection does, tells the strategy every event, and checks every action; the first broken
// promise is kept in failure and stops the model.
type model struct {
	*clock
	strategy flow.Strategy
	server   *server
	bound    int64 // of conn's unread and window together; 0: none promised

	conn    flow.Receive
	base    flow.Base
	streams map[uint32]*stream
	nextID  uint32
	pings   flow.PingBudget
	closing bool // every action is refused

	lowering     bool // an initial window that waits for its acknowledgement
	refusedPings int
	deadline     time.Time
	transcript   uint64
	peakUnread   int64
	peakStream   int64 // what one stream's window held at most
	grants       int
	steps        int
	failure      error
}

// stream is the client's half of one response.
type stream struct {
	id      uint32
	recv    flow.Receive
	reader  reader
	reading bool // a timed read is scheduled
	ended   bool
	done    func()
}

func newModel(cfg flow.Config, path Path) *model {
	m := &model{clock: newClock(), strategy: cfg.New(), streams: make(map[uint32]*stream), nextID: 1}
	if b, ok := cfg.(Bounded); ok {
		m.bound = b.MemoryBound()
	}
	if flow.LiftsPingBudget(m.strategy) {
		m.pings.Lift()
	}
	w := m.strategy.Open(m.now)
	if w.Stream < 0 || w.Stream > flow.MaxWindow || w.Conn > flow.MaxWindow {
		m.failf("Open asks for windows that the protocol cannot express: %+v", w)
		w = flow.Windows{Stream: flow.DefaultWindow}
	}
	m.conn.Init(max(w.Conn, flow.DefaultWindow))
	m.base = flow.MakeBase(w.Stream)
	m.server = newServer(m.clock, path, w, m.receive)
	m.after(path.RTT, func() {
		m.decide(flow.Event{Kind: flow.SettingsAcked})
		m.decide(flow.Event{Kind: flow.RTTSample, Source: flow.SourceSettings, RTT: path.RTT})
	})
	return m
}

func (m *model) failf(format string, args ...any) {
	if m.failure == nil {
		m.failure = fmt.Errorf("at %s: "+format, append([]any{m.elapsed()}, args...)...)
	}
}

// run runs until nothing is left to happen, a promise is broken, or limit has passed.
func (m *model) run(limit time.Duration) {
	for m.failure == nil && m.elapsed() <= limit && m.step() {
		// Grants of a few octets make frames of a few octets, which make grants of a few octets.
		if m.steps++; m.steps > maxSteps {
			m.failf("no end after %d steps and %d grants, %d octets were received: the grants are too small",
				m.steps, m.grants, m.conn.Offsets().Received)
		}
	}
}

// maxSteps is far more than any scenario takes with frames of reasonable size.
const maxSteps = 1_000_000

// open asks for a body of size octets; done runs when it was read to its end.
func (m *model) open(size int64, r reader, done func()) *stream {
	s := &stream{id: m.nextID, reader: r, done: done}
	m.nextID += 2
	m.streams[s.id] = s
	m.after(m.server.path.RTT/2, func() { m.server.request(s.id, size) })
	m.decide(flow.Event{Kind: flow.StreamOpened, Stream: s.id})
	return s
}

// receive is a DATA frame that arrived. It comes in two pieces, as frames do that straddle two reads of a socket.
func (m *model) receive(f dataFrame) {
	s := m.streams[f.stream]
	if !m.conn.Charge(f.n + f.pad) {
		m.failf("bug in the model: the server exceeds the connection window by its frame of %d octets", f.n+f.pad)
		return
	}
	if s == nil {
		m.discard(f)
		return
	}
	if !s.recv.ChargeOver(m.base.Initial(), f.n+f.pad) {
		m.failf("bug in the model: the server exceeds the window of stream %d by its frame of %d octets", s.id, f.n+f.pad)
		return
	}
	m.pings.PeerSpoke()
	m.decide(flow.Event{Kind: flow.FrameStart, Stream: s.id, N: f.n + f.pad})
	if f.pad > 0 {
		s.recv.Receive(f.pad)
		m.conn.Receive(f.pad)
		s.recv.Consume(f.pad)
		m.conn.Consume(f.pad)
		m.decide(flow.Event{Kind: flow.Padding, Stream: s.id, N: f.pad})
	}
	if first := f.n / 3; first > 0 {
		m.arrive(s, first, false)
		m.arrive(s, f.n-first, f.end)
	} else {
		m.arrive(s, f.n, f.end)
	}
	m.read(s)
}

// arrive is n octets of a frame's content.
func (m *model) arrive(s *stream, n int64, end bool) {
	s.recv.Receive(n)
	m.conn.Receive(n)
	if m.conn.Unread() > flow.MaxWindow {
		m.failf("the server is let send on and on, %d octets are unread", m.conn.Unread())
		return
	}
	s.ended = s.ended || end
	m.decide(flow.Event{Kind: flow.Received, Stream: s.id, N: n, End: end})
}

// discard is a frame for a stream that was reset.
func (m *model) discard(f dataFrame) {
	n := f.n + f.pad
	m.conn.Receive(n)
	m.conn.Consume(n)
	m.decide(flow.Event{Kind: flow.Discarded, N: n})
}

// read lets the reader of s read, or schedules that.
func (m *model) read(s *stream) {
	switch {
	case s.reader.every < 0:
	case s.reader.every == 0:
		for s.recv.Unread() > 0 && m.failure == nil {
			m.consume(s)
		}
		if !s.ended {
			m.decide(flow.Event{Kind: flow.ReaderWaiting, Stream: s.id, N: s.reader.octets})
		}
	case !s.reading && s.recv.Unread() > 0:
		s.reading = true
		m.after(s.reader.every, func() {
			s.reading = false
			if m.streams[s.id] == s {
				m.consume(s)
				m.read(s)
			}
		})
	}
	if s.ended && s.recv.Unread() == 0 && m.streams[s.id] == s {
		m.close(s)
		if s.done != nil {
			s.done()
		}
	}
}

// consume is one read of the application.
func (m *model) consume(s *stream) {
	n := s.recv.Unread()
	if s.reader.octets > 0 {
		n = min(n, s.reader.octets)
	}
	s.recv.Consume(n)
	m.conn.Consume(n)
	m.decide(flow.Event{Kind: flow.Consumed, Stream: s.id, N: n})
}

// close ends s, with what is unread.
func (m *model) close(s *stream) {
	n := s.recv.Unread()
	s.recv.Consume(n)
	m.conn.Consume(n)
	delete(m.streams, s.id)
	m.decideOn(s, flow.Event{Kind: flow.StreamClosed, Stream: s.id, N: n})
}

// cancel resets s; what the server has sent by then still comes.
func (m *model) cancel(s *stream) {
	if m.streams[s.id] != s {
		return
	}
	m.close(s)
	m.after(m.server.path.RTT/2, func() { m.server.reset(s.id) })
}

// decide tells the strategy ev and carries out what it asks for.
func (m *model) decide(ev flow.Event) { m.decideOn(m.streams[ev.Stream], ev) }

func (m *model) decideOn(s *stream, ev flow.Event) {
	pending := []flow.Event{ev}
	for depth := 0; len(pending) > 0 && m.failure == nil; depth++ {
		if depth > 100 {
			m.failf("the strategy answers refused actions with ever more actions: %s", pending[0])
			return
		}
		ev, pending = pending[0], pending[1:]
		for _, a := range m.ask(s, ev) {
			if why := m.act(a); why != 0 {
				pending = append(pending, flow.Event{Kind: flow.ActionRefused, Stream: a.Stream, Action: a, Refusal: why})
			}
		}
	}
	if d := m.strategy.Deadline(); !d.IsZero() && !d.Equal(m.deadline) {
		m.deadline = d
		m.at(d, m.tick)
	}
}

func (m *model) tick() {
	if m.strategy.Deadline().Equal(m.deadline) {
		m.deadline = time.Time{}
		m.decide(flow.Event{Kind: flow.Tick})
	}
}

// ask calls the strategy with the state added to ev.
func (m *model) ask(s *stream, ev flow.Event) []flow.Action {
	if s != nil && s.id == ev.Stream {
		ev.StreamWindow = s.recv.OffsetsOver(m.base.Initial())
		m.peakStream = max(m.peakStream, ev.StreamWindow.Granted-ev.StreamWindow.Consumed)
	}
	ev.ConnWindow = m.conn.Offsets()
	ev.InitialWindow = m.base.Initial()
	ev.OpenStreams = len(m.streams)
	ev.Pings = m.pings.SinceFrame()
	m.peakUnread = max(m.peakUnread, m.conn.Unread())
	if ev.Kind == flow.StreamOpened {
		m.pings.FrameSent()
	}
	sentinel := flow.Action{Kind: flow.ActGrantConn, N: -1}
	actions := m.strategy.Decide(m.now, ev, []flow.Action{sentinel})
	if len(actions) == 0 || actions[0] != sentinel {
		m.failf("Decide does not append to dst but replaces what is in it, on %s", ev)
		return nil
	}
	for _, a := range actions[1:] {
		m.note(int64(m.elapsed()))
		m.note(int64(a.Kind))
		m.note(int64(a.Stream))
		m.note(a.N)
	}
	return actions[1:]
}

// note adds v to the transcript, a hash (FNV-1a) of all actions and their times.
func (m *model) note(v int64) { m.transcript = (m.transcript ^ uint64(v)) * 1099511628211 }

// act carries out a, or says why not. What no connection could carry out at any time is a failure.
func (m *model) act(a flow.Action) flow.Refusal {
	if m.closing {
		return flow.RefusedClosed
	}
	switch a.Kind {
	case flow.ActGrantConn:
		return m.grant(&m.conn, 0, a)
	case flow.ActGrantStream:
		s := m.streams[a.Stream]
		if s == nil {
			m.failf("%s: the stream is not open", a)
			return flow.RefusedStream
		}
		if s.ended {
			m.failf("%s: the server has ended the stream", a)
			return 0
		}
		why := m.grant(&s.recv, m.base.Initial(), a)
		m.base.Note(s.recv.Relative())
		return why
	case flow.ActSetInitialWindow:
		return m.setInitial(a)
	case flow.ActPing:
		return m.ping()
	}
	m.failf("an action of no known kind: %s", a)
	return 0
}

func (m *model) grant(r *flow.Receive, base int64, a flow.Action) flow.Refusal {
	if why := r.CheckGrantOver(base, a.N); why != 0 {
		m.failf("%s: %s: window %s", a, why, r.OffsetsOver(base))
		return why
	}
	r.Grant(a.N)
	m.grants++
	m.pings.FrameSent()
	if o := m.conn.Offsets(); m.bound > 0 && o.Granted-o.Consumed > m.bound {
		m.failf("%s: unread octets and window together exceed the promised bound of %d: connection window %s", a, m.bound, o)
	}
	m.after(m.server.path.RTT/2, func() { m.server.update(a.Stream, a.N) })
	return 0
}

func (m *model) setInitial(a flow.Action) flow.Refusal {
	if a.N < 0 || a.N > flow.MaxWindow || m.lowering {
		return flow.RefusedInitialWindow
	}
	m.after(m.server.path.RTT/2, func() { m.server.setInitial(a.N) })
	apply := func() bool {
		highest := int64(0)
		for _, s := range m.streams {
			highest = max(highest, s.recv.Relative())
		}
		m.base.Tighten(highest)
		return m.base.Set(a.N)
	}
	if a.N >= m.base.Initial() {
		if !apply() {
			m.failf("%s: the window of a stream would exceed 2^31-1", a)
			return flow.RefusedInitialWindow
		}
		m.after(m.server.path.RTT, func() { m.decide(flow.Event{Kind: flow.SettingsAcked}) })
		return 0
	}
	m.lowering = true
	m.after(m.server.path.RTT, func() {
		m.lowering = false
		apply()
		m.decide(flow.Event{Kind: flow.SettingsAcked})
	})
	return 0
}

func (m *model) ping() flow.Refusal {
	if why := m.pings.Allow(m.now, flow.Probing); why != 0 {
		// A strategy may learn the budget by asking, but not by asking at every frame.
		if m.refusedPings++; m.refusedPings > 20+int(m.elapsed()/(100*time.Millisecond)) {
			m.failf("the strategy keeps asking for PINGs that are refused: %d so far", m.refusedPings)
		}
		return why
	}
	sent := m.now
	m.pings.Sent(sent)
	m.after(0, func() { m.decide(flow.Event{Kind: flow.PingSent}) })
	// The answer waits its turn behind the DATA that is on the way.
	m.after(m.server.path.RTT/2, func() {
		m.server.send(0, func() {
			m.pings.Answered()
			m.decide(flow.Event{Kind: flow.RTTSample, Source: flow.SourcePing, RTT: m.now.Sub(sent)})
		})
	})
	return 0
}
