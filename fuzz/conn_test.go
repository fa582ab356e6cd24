package fuzz

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"time"

	h2flow "example.com/h2flow"
	"example.com/h2flow/conn"
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/plainfields"
)

// epoch is when every connection begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// returning keeps both windows constant and gives back every octet at once, so that what it grants does not depend on
// how the octets come.
type returning struct{}

const streamWindow, connWindow = 30000, 70000

func (returning) Open(time.Time) flow.Windows {
	return flow.Windows{Stream: streamWindow, Conn: connWindow}
}
func (returning) Deadline() time.Time { return time.Time{} }

func (returning) Decide(_ time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	switch ev.Kind {
	case flow.Consumed, flow.Padding, flow.Discarded, flow.StreamClosed:
		if n := ev.StreamWindow.Due(streamWindow); n > 0 && ev.Stream != 0 && ev.Kind != flow.StreamClosed {
			dst = append(dst, flow.GrantStream(ev.Stream, n))
		}
		if n := ev.ConnWindow.Due(connWindow); n > 0 {
			dst = append(dst, flow.GrantConn(n))
		}
	}
	return dst
}

// A machine is a connection in the middle of its life, with an application that reads all it gets: three requests, of
// which one is an upload that waits for credit, are open, and one was given up.
type machine struct {
	t      *testing.T
	c      *conn.Conn
	shadow *peer.Shadow
	lines  []string // events
	bodyOf frame.StreamID
	body   []byte // octets of bodyOf that are no line yet
	out    []byte
	closed bool
	over   map[frame.StreamID]bool
}

// newMachine uses plain field codecs, or HPACK.
func newMachine(t *testing.T, hpack bool) *machine {
	cfg := conn.Config{
		Strategy: returning{}, MaxHeaderListSize: 4096,
		Encoder: &plainfields.Encoder{}, Decoder: &plainfields.Decoder{},
	}
	codec := peer.Plain
	if hpack {
		cfg.Encoder, cfg.Decoder, codec = h2flow.NewFieldEncoder(4096), h2flow.NewFieldDecoder(), peer.HPACK
	}
	m := &machine{t: t, c: conn.New(epoch, cfg), shadow: peer.NewShadow(codec), over: map[frame.StreamID]bool{}}
	m.shadow.Prompt = true
	request := []frame.Field{
		{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: "a"}, {Name: ":path", Value: "/"},
	}
	m.feed(frame.AppendSettingsAck(frame.AppendSettings(nil)), 0)
	for range 4 {
		if _, err := m.c.Open(epoch, request, false); err != nil {
			t.Fatal(err)
		}
	}
	m.drain()
	m.c.EndStream(epoch, 1)
	m.c.EndStream(epoch, 3)
	m.c.Reset(epoch, 7, frame.Cancel)
	m.over[7] = true
	m.drain()
	return m
}

// feed takes octets in chunks: of n octets, or whole for 0.
func (m *machine) feed(octets []byte, n int) {
	m.shadow.FromServer(octets)
	for len(octets) > 0 {
		k := len(octets)
		if n > 0 {
			k = min(n, k)
		}
		m.c.Feed(epoch, octets[:k])
		octets = octets[k:]
		m.events()
	}
}

// events takes the events that there are and checks their order.
func (m *machine) events() {
	for ev := m.c.NextEvent(); ev.Kind != conn.None; ev = m.c.NextEvent() {
		switch {
		case m.closed:
			m.t.Fatalf("%v after the last event", ev)
		case m.over[ev.Stream] && ev.Kind != conn.AltSvc:
			m.t.Fatalf("%v after the last event of its stream", ev)
		}
		m.closed = ev.Kind == conn.Closed
		if ev.Kind == conn.StreamError {
			m.over[ev.Stream] = true
		}
		m.note(ev)
		if ev.Kind == conn.Data {
			m.c.Consumed(epoch, ev.Stream, len(ev.Data))
		}
	}
}

// note keeps an event as a line. The octets of a body that come one after the other are one line, however they were
// cut.
func (m *machine) note(ev conn.Event) {
	if ev.Kind == conn.Data {
		if len(ev.Data) == 0 && !ev.End {
			m.t.Fatalf("an empty event: %v", ev)
		}
		if m.bodyOf != ev.Stream {
			m.flush()
		}
		m.bodyOf, m.body = ev.Stream, append(m.body, ev.Data...)
		if !ev.End {
			return
		}
		ev.Data = nil
	}
	m.flush()
	line := ev.String()
	if ev.Err != nil {
		line += " " + ev.Err.Error()
	}
	m.lines = append(m.lines, line)
}

// flush turns the octets of a body into a line.
func (m *machine) flush() {
	if len(m.body) > 0 {
		m.lines = append(m.lines, fmt.Sprintf("data stream=%d %x", m.bodyOf, m.body))
	}
	m.body, m.bodyOf = m.body[:0], 0
}

// drain takes the output and checks it, with all that must hold.
func (m *machine) drain() {
	start := len(m.out)
	m.out = m.c.AppendOutput(epoch, m.out, 1<<30)
	m.c.Written(m.c.Packed())
	m.events()
	m.shadow.FromClient(m.out[start:])
	if err := m.shadow.Check(); err != nil {
		m.t.Fatal(err)
	}
	if err := m.c.CheckInvariants(); err != nil {
		m.t.Fatal(err)
	}
	if m.c.HasOutput() {
		m.t.Fatal("output is left over")
	}
}

// connSeeds adds what a server may say to the machine, right and wrong.
func connSeeds(f *testing.F, add func(octets []byte)) {
	p := peer.New(peer.Plain)
	status := []frame.Field{{Name: ":status", Value: "200"}, {Name: "content-length", Value: "5"}}
	add(p.Encode(nil, peer.Headers{Stream: 1, Fields: status}, frame.Data{Stream: 1, Data: []byte("hello"), EndStream: true},
		peer.Headers{Stream: 3, Fields: status[:1]}, frame.Data{Stream: 3, Data: make([]byte, 3000), Padded: true, PadLength: 200},
		peer.Headers{Stream: 3, Fields: []frame.Field{{Name: "t", Value: "v"}}, EndStream: true, Continuations: 3},
		peer.Headers{Stream: 5, Fields: status[:1], EndStream: true}, frame.RSTStream{Stream: 5}))
	add(p.Encode(nil, frame.MakeSettings(frame.Setting{ID: frame.SettingInitialWindowSize, Value: 10}), frame.Ping{},
		frame.WindowUpdate{Increment: 100}, frame.WindowUpdate{Stream: 5, Increment: 100}, frame.GoAway{LastStream: 3},
		peer.Headers{Stream: 7, Fields: status}, frame.Data{Stream: 7, Data: make([]byte, 100)}))
	add(p.Encode(nil, peer.Headers{Stream: 1, Fields: status, Open: true}, frame.Continuation{Stream: 1}))
	for _, octets := range streamSeeds(f) {
		add(octets)
	}
}

// FuzzConnServerBytes: whatever a server says, in whatever pieces, the laws of the connection hold after each, nothing
// wrong is sent, the memory stays within bounds, and once it is over it stays over.
func FuzzConnServerBytes(f *testing.F) {
	connSeeds(f, func(octets []byte) {
		f.Add(octets, uint16(0), false)
		f.Add(octets, uint16(7), true)
	})
	f.Fuzz(func(t *testing.T, octets []byte, chunk uint16, hpack bool) {
		m := newMachine(t, hpack)
		var before runtime.MemStats
		big := len(octets) > 1<<16
		if big {
			runtime.ReadMemStats(&before)
		}
		n := max(int(chunk), len(octets)/200) // what is checked after each piece walks everything
		if chunk == 0 {
			n = len(octets)
		}
		for rest := octets; len(rest) > 0; {
			k := min(n, len(rest))
			m.feed(rest[:k], 0)
			rest = rest[k:]
			m.drain()
		}
		if big {
			var after runtime.MemStats
			runtime.ReadMemStats(&after)
			// The notes of the test itself are about eight times the input.
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > int64(16*len(octets))+4<<20 {
				t.Errorf("%d octets of input took %d of memory", len(octets), grown)
			}
		}
		wasOver := m.closed
		for range 8 { // time passes, whatever is due happens
			at := m.c.Deadline()
			if at.IsZero() {
				break
			}
			m.c.Advance(at)
			m.events()
			m.out = m.c.AppendOutput(at, m.out, 1<<30)
			if err := m.c.CheckInvariants(); err != nil {
				t.Fatal(err)
			}
		}
		if wasOver && (!m.c.Done() || !m.c.Deadline().IsZero()) {
			t.Errorf("the last event came, and Done is %v, the deadline %v", m.c.Done(), m.c.Deadline())
		}
		m.c.Close(epoch)
		m.events()
		m.c.AppendOutput(epoch, nil, 1<<30)
		if !m.closed || !m.c.Done() {
			t.Errorf("after Close: last event told %v, Done %v", m.closed, m.c.Done())
		}
	})
}

// FuzzConnChunking: the same octets in one piece, octet by octet, and in pieces of another size bring the same events
// and the same output.
func FuzzConnChunking(f *testing.F) {
	connSeeds(f, func(octets []byte) {
		f.Add(octets, uint8(3), false)
		f.Add(octets, uint8(10), true)
	})
	f.Fuzz(func(t *testing.T, octets []byte, chunk uint8, hpack bool) {
		var want *machine
		for _, n := range []int{0, 1, int(chunk)} {
			m := newMachine(t, hpack)
			m.feed(octets, n)
			m.drain()
			m.flush()
			if want == nil {
				want = m
				continue
			}
			if fmt.Sprint(want.lines) != fmt.Sprint(m.lines) {
				t.Errorf("events in one piece:\n%q\nin pieces of %d:\n%q", want.lines, n, m.lines)
			}
			if !bytes.Equal(want.out, m.out) {
				t.Errorf("output in one piece:\n%x\nin pieces of %d:\n%x", want.out, n, m.out)
			}
		}
	})
}
