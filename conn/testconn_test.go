package conn_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/h2flow/conn"
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/plainfields"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// epoch is when every test begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// A testConn is a client's connection, the server that talks to it, and a virtual clock. Its methods are the test
// language: TestTour shows it.
//
// There are two connections that live the same life: the first is fed what the server says in one piece, the second
// one octet at a time. After every step their events and their output must be equal, their invariants must hold, and
// the server must find nothing wrong with what was sent.
type testConn struct {
	t     testing.TB
	c     *conn.Conn // the first side's, for what a test asks
	sides [2]side
	peer  *peer.Peer
	now   time.Time

	sent   []fmt.Stringer // by the client, not expected yet
	events []conn.Event   // not expected yet
	bodies map[frame.StreamID][]byte
	lines  []string // the transcript

	over    map[frame.StreamID]string // streams of which no event may follow, and why
	ended   map[frame.StreamID]bool   // streams whose response is complete
	closing bool                      // Closed was told

	ignored map[frame.Type]bool
	reading bool // the application takes every octet of a body at once
	stuck   bool // the transport takes nothing
	exact   bool // both windows of the connection can be compared: the server said whole frames only
}

// A side is one of the two connections.
type side struct {
	c      *conn.Conn
	chunk  int          // octets of each Feed; 0: all there are
	events []conn.Event // of this step
	out    []byte       // of this step
}

// An option changes what a test begins with.
type option func(*setup)

type setup struct {
	config   conn.Config
	strategy func() flow.Strategy
	encoder  func() conn.FieldEncoder
	decoder  func() conn.FieldDecoder
	codec    peer.Codec
	chunks   [2]int // octets of each Feed, for both sides; 0: all there are
}

// withChunks feeds both sides alike, n octets at a time; 0 means all there are. It is for strategies that look at the
// octets of each event, which are told as they come.
func withChunks(n int) option { return func(s *setup) { s.chunks = [2]int{n, n} } }

// plainConfig is a configuration with plain field codecs.
func plainConfig(s flow.Strategy) conn.Config {
	return conn.Config{Strategy: s, Encoder: &plainfields.Encoder{}, Decoder: &plainfields.Decoder{}}
}

// withConfig changes the configuration, but for Strategy, Encoder and Decoder.
func withConfig(change func(*conn.Config)) option { return func(s *setup) { change(&s.config) } }

// withStrategy makes the strategy of each connection.
func withStrategy(f func() flow.Strategy) option { return func(s *setup) { s.strategy = f } }

// withRecvWindow opens both levels of the receive window to that many octets, under a strategy that gives back at once
// what was consumed.
func withRecvWindow(stream, connection int64) option {
	return withStrategy(func() flow.Strategy { return &returning{stream: stream, conn: connection} })
}

// withoutGrants is withRecvWindow under a strategy that never gives anything back.
func withoutGrants(stream, connection int64) option {
	return withStrategy(func() flow.Strategy { return &returning{stream: stream, conn: connection, never: true} })
}

// returning is a strategy that keeps both windows constant.
type returning struct {
	stream, conn int64
	never        bool
}

func (r *returning) Open(time.Time) flow.Windows { return flow.Windows{Stream: r.stream, Conn: r.conn} }
func (r *returning) Deadline() time.Time         { return time.Time{} }

func (r *returning) Decide(_ time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	switch ev.Kind {
	case flow.Consumed, flow.Padding, flow.Discarded, flow.StreamClosed:
	default:
		return dst
	}
	if r.never {
		return dst
	}
	if n := ev.StreamWindow.Due(r.stream); n > 0 && ev.Stream != 0 && ev.Kind != flow.StreamClosed {
		dst = append(dst, flow.GrantStream(ev.Stream, n))
	}
	if n := ev.ConnWindow.Due(r.conn); n > 0 {
		dst = append(dst, flow.GrantConn(n))
	}
	return dst
}

// newTestConn returns a connection whose preface was sent and not looked at.
func newTestConn(t testing.TB, options ...option) *testConn {
	t.Helper()
	s := setup{
		chunks:   [2]int{0, 1},
		strategy: func() flow.Strategy { return &returning{stream: 65535, conn: 65535} },
		encoder:  func() conn.FieldEncoder { return &plainfields.Encoder{} },
		decoder:  func() conn.FieldDecoder { return &plainfields.Decoder{} },
	}
	for _, change := range options {
		change(&s)
	}
	tc := &testConn{
		t: t, now: epoch, peer: peer.New(s.codec), exact: true,
		bodies: map[frame.StreamID][]byte{}, ignored: map[frame.Type]bool{},
		over: map[frame.StreamID]string{}, ended: map[frame.StreamID]bool{},
	}
	tc.peer.Prompt = true
	for i := range tc.sides {
		cfg := s.config
		cfg.Strategy, cfg.Encoder, cfg.Decoder = s.strategy(), s.encoder(), s.decoder()
		if i > 0 {
			cfg.OnFrame = nil
		}
		tc.sides[i] = side{c: conn.New(tc.now, cfg), chunk: s.chunks[i]}
	}
	tc.c = tc.sides[0].c
	tc.step(func(*side) {})
	return tc
}

// greet lets both sides exchange their SETTINGS and acknowledgements, the server's with settings, and forgets them.
func (tc *testConn) greet(settings ...frame.Setting) {
	tc.t.Helper()
	tc.write(frame.MakeSettings(settings...), frame.Settings{Ack: true})
	tc.forget()
}

// forget drops what was sent and what happened so far.
func (tc *testConn) forget() { tc.sent, tc.events = nil, nil }

// ignore leaves frames of these types out of what want sees; the server checks them all the same.
func (tc *testConn) ignore(types ...frame.Type) {
	for _, t := range types {
		tc.ignored[t] = true
	}
}

// write lets the server say items (see peer.Peer.Encode) and the client take them in.
func (tc *testConn) write(items ...any) {
	tc.t.Helper()
	for _, item := range items {
		tc.note("<", item)
		if _, raw := item.(peer.Raw); raw {
			tc.exact = false
		}
	}
	octets := tc.peer.Encode(nil, items...)
	tc.step(func(s *side) { s.feed(tc.now, octets) })
}

func (s *side) feed(now time.Time, octets []byte) {
	for len(octets) > 0 {
		n := len(octets)
		if s.chunk > 0 {
			n = min(n, s.chunk)
		}
		s.c.Feed(now, octets[:n])
		octets = octets[n:]
		s.collect()
	}
}

// collect takes the events that there are and joins DATA that belongs together.
func (s *side) collect() {
	for {
		ev := s.c.NextEvent()
		if ev.Kind == conn.None {
			return
		}
		ev.Data = append([]byte(nil), ev.Data...)
		ev.Fields = append([]frame.Field(nil), ev.Fields...)
		if n := len(s.events); n > 0 && ev.Kind == conn.Data {
			if last := &s.events[n-1]; last.Kind == conn.Data && last.Stream == ev.Stream && !last.End {
				last.Data, last.End = append(last.Data, ev.Data...), ev.End
				continue
			}
		}
		s.events = append(s.events, ev)
	}
}

// step does something to both sides and then what a driver does at the end of every turn: it takes the events and
// sends what is to be sent.
func (tc *testConn) step(do func(s *side)) {
	tc.t.Helper()
	for i := range tc.sides {
		s := &tc.sides[i]
		s.events, s.out = nil, nil
		do(s)
		s.collect()
		if !tc.stuck {
			s.out = s.c.AppendOutput(tc.now, s.out, 1<<30)
			s.c.Written(s.c.Packed())
			s.collect()
		}
	}
	tc.compare()
	tc.finish()
	tc.check()
	if tc.reading {
		tc.readAll()
	}
}

// compare fails unless both sides did the same.
func (tc *testConn) compare() {
	tc.t.Helper()
	a, b := &tc.sides[0], &tc.sides[1]
	if !reflect.DeepEqual(a.events, b.events) {
		tc.fatalf("events differ between one piece and octet by octet:\n%s", cmp.Diff(eventLines(a.events), eventLines(b.events)))
	}
	if string(a.out) != string(b.out) {
		tc.fatalf("output differs between one piece and octet by octet:\n%s", cmp.Diff(frameLines(a.out), frameLines(b.out)))
	}
}

// finish hands on what the step brought.
func (tc *testConn) finish() {
	s := &tc.sides[0]
	for _, ev := range s.events {
		tc.note("!", ev)
		tc.checkOrder(ev)
		if ev.Kind == conn.Data {
			tc.bodies[ev.Stream] = append(tc.bodies[ev.Stream], ev.Data...)
		}
	}
	tc.events = append(tc.events, s.events...)
	tc.peer.Feed(s.out)
	for {
		v, ok := tc.peer.Next()
		if !ok {
			return
		}
		tc.note(">", v)
		if f, ok := v.(frame.Frame); ok && tc.ignored[f.FrameHeader().Type] {
			continue
		}
		tc.sent = append(tc.sent, v)
	}
}

// checkOrder fails if ev comes after the last event of its stream, or of the connection.
func (tc *testConn) checkOrder(ev conn.Event) {
	tc.t.Helper()
	id := ev.Stream
	switch {
	case tc.closing:
		tc.fatalf("%v after Closed", ev)
	case id != 0 && tc.over[id] != "" && ev.Kind != conn.AltSvc:
		tc.fatalf("%v after %s", ev, tc.over[id])
	case tc.ended[id] && ev.Kind != conn.Sendable && ev.Kind != conn.SendStopped && ev.Kind != conn.StreamError &&
		ev.Kind != conn.AltSvc:
		tc.fatalf("%v after the end of the response", ev)
	}
	switch {
	case ev.Kind == conn.Closed:
		tc.closing = true
	case ev.Kind == conn.StreamError, ev.Kind == conn.SendStopped:
		tc.over[id] = ev.String()
	case ev.End:
		tc.ended[id] = true
	}
}

// check applies what must hold after every step.
func (tc *testConn) check() {
	tc.t.Helper()
	for i := range tc.sides {
		c := tc.sides[i].c
		if err := c.CheckInvariants(); err != nil {
			tc.fatalf("side %d: %v", i, err)
		}
		if d := c.Deadline(); !d.IsZero() && d.Before(tc.now) {
			tc.fatalf("side %d: the deadline is %v ago", i, tc.now.Sub(d))
		}
		if tc.stuck {
			continue
		}
		if c.HasOutput() {
			tc.fatalf("side %d: HasOutput after everything was drained", i)
		}
		if out := c.AppendOutput(tc.now, nil, 1<<30); len(out) > 0 {
			tc.fatalf("side %d: more output though HasOutput said no: %q", i, frameLines(out))
		}
	}
	if err := tc.peer.Check(); err != nil {
		tc.fatalf("the server complains: %v", err)
	}
	if tc.c.Done() || tc.stuck {
		return
	}
	if err := tc.peer.Settled(); err != nil {
		tc.fatalf("the server waits: %v", err)
	}
	if got, want := tc.c.RecvWindow().Window(), tc.peer.RecvWindow(0); tc.exact && got != want {
		tc.fatalf("the client takes its connection window for %d octets, the server for %d", got, want)
	}
}

// readAll consumes what the last step brought.
func (tc *testConn) readAll() {
	tc.t.Helper()
	for _, ev := range tc.sides[0].events {
		if ev.Kind == conn.Data && len(ev.Data) > 0 {
			tc.consume(ev.Stream, len(ev.Data))
		}
	}
}

// want fails unless the client has sent exactly these since the last want. The sentence says what is promised.
func (tc *testConn) want(sentence string, frames ...fmt.Stringer) {
	tc.t.Helper()
	got := tc.sent
	tc.sent = nil
	if diff := cmp.Diff(frames, got, cmpopts.EquateEmpty()); diff != "" {
		tc.fatalf("%s: sent (-want +got)\n%s", sentence, diff)
	}
}

// wantEvents fails unless exactly these events, as lines, have come since the last wantEvents.
func (tc *testConn) wantEvents(sentence string, lines ...string) {
	tc.t.Helper()
	got := eventLines(tc.events)
	tc.events = nil
	if diff := cmp.Diff(lines, got, cmpopts.EquateEmpty()); diff != "" {
		tc.fatalf("%s: events (-want +got)\n%s", sentence, diff)
	}
}

// wantIdle fails if anything was sent, or happened, that was not expected.
func (tc *testConn) wantIdle(sentence string) {
	tc.t.Helper()
	tc.want(sentence)
	tc.wantEvents(sentence)
}

// wantClosed fails unless the connection has just failed with code, on the wire and for the application.
func (tc *testConn) wantClosed(sentence string, code frame.ErrCode) {
	tc.t.Helper()
	if len(tc.sent) == 0 {
		tc.fatalf("%s: want GOAWAY %v, sent nothing", sentence, code)
	}
	last := tc.sent[len(tc.sent)-1]
	if diff := cmp.Diff(fmt.Stringer(frame.GoAway{Code: code}), last, cmpopts.EquateEmpty()); diff != "" {
		tc.fatalf("%s: sent last (-want +got)\n%s", sentence, diff)
	}
	if n := len(tc.events); n == 0 || tc.events[n-1].String() != "closed "+code.String() {
		tc.fatalf("%s: events end with %q", sentence, eventLines(tc.events))
	}
	if err := tc.c.Err(); !tc.c.Done() || err == nil || err.Code != code {
		tc.fatalf("%s: Done %v, Err %v", sentence, tc.c.Done(), err)
	}
	tc.forget()
}

// wantBody fails unless these octets were received on the stream.
func (tc *testConn) wantBody(sentence string, id frame.StreamID, want string) {
	tc.t.Helper()
	if got := string(tc.bodies[id]); got != want {
		tc.fatalf("%s: stream %d received %d octets %.40q, want %d octets %.40q", sentence, id, len(got), got, len(want), want)
	}
}

// advance moves the clock by d, with all timers on the way.
func (tc *testConn) advance(d time.Duration) {
	tc.t.Helper()
	end := tc.now.Add(d)
	for {
		next := tc.c.Deadline()
		if next.IsZero() || next.After(end) {
			break
		}
		tc.now = next
		tc.step(func(s *side) { s.c.Advance(tc.now) })
	}
	tc.now = end
	tc.step(func(s *side) { s.c.Advance(tc.now) })
}

// advanceToDeadline moves the clock to the next timer.
func (tc *testConn) advanceToDeadline() {
	tc.t.Helper()
	d := tc.c.Deadline()
	if d.IsZero() {
		tc.fatalf("there is no deadline")
	}
	tc.now = d
	tc.step(func(s *side) { s.c.Advance(tc.now) })
}

// wantDeadline fails unless the next timer is d from now; never is a negative d.
func (tc *testConn) wantDeadline(sentence string, d time.Duration) {
	tc.t.Helper()
	got := time.Duration(-1)
	if at := tc.c.Deadline(); !at.IsZero() {
		got = at.Sub(tc.now)
	}
	if d < 0 {
		d = -1
	}
	if got != d {
		tc.fatalf("%s: deadline in %v, want %v", sentence, got, d)
	}
}

func (tc *testConn) note(direction string, v any) {
	text := fmt.Sprint(v)
	if len(text) > 300 {
		text = text[:300] + "..."
	}
	tc.lines = append(tc.lines, fmt.Sprintf("+%.3fs  %s  %s", tc.now.Sub(epoch).Seconds(), direction, text))
}

// fatalf ends the test and prints the last lines of the transcript.
func (tc *testConn) fatalf(format string, args ...any) {
	tc.t.Helper()
	lines := tc.lines
	if n := len(lines) - 60; n > 0 {
		lines = append([]string{fmt.Sprintf("(%d lines)", n)}, lines[n:]...)
	}
	tc.t.Fatalf("%s\ntranscript:\n%s", fmt.Sprintf(format, args...), strings.Join(lines, "\n"))
}

func eventLines(events []conn.Event) []string {
	var lines []string
	for _, ev := range events {
		lines = append(lines, ev.String())
	}
	return lines
}

// frameLines is for output that may be wrong: one line for each frame.
func frameLines(out []byte) []string {
	var lines []string
	if rest, ok := strings.CutPrefix(string(out), frame.ClientPreface); ok {
		lines, out = append(lines, "preface"), []byte(rest)
	}
	for h, payload := range frame.All(out) {
		if f, err := frame.Parse(h, payload); err == nil {
			lines = append(lines, f.String())
		} else {
			lines = append(lines, h.String()+": "+err.Error())
		}
	}
	return lines
}
