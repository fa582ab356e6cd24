package h2flow

import (
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"example.com/h2flow/conn"
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
)

// EventKind says what an Event tells of.
type EventKind uint8

// The kinds of events. Every event has Kind, Time and Conn; the fields of Event that a kind fills beside them are named
// with it.
const (
	// ConnOpened: the connection begins; its preface is about to be sent. Local, Remote.
	ConnOpened EventKind = iota + 1
	// ConnSettings: the peer's SETTINGS were applied.
	ConnSettings
	// ConnGoAway: the peer sent GOAWAY; no stream can be opened any more. Err.
	ConnGoAway
	// ConnClosed: the connection is over. Err is nil after a graceful end.
	ConnClosed
	// StreamOpened: the head of a request was packed. Stream.
	StreamOpened
	// StreamHead: a response head arrived, interim or final. Stream, Status, N (content length or -1), End, Fields.
	StreamHead
	// StreamClosed: a stream is over, both sides, and what came was read. Stream, Err (nil after a complete exchange).
	StreamClosed
	// StreamStalled: a body makes no progress. Stream, Stall.
	StreamStalled
	// FrameSent and FrameReceived: a frame was packed or parsed. Stream, Frame.
	FrameSent
	FrameReceived
	// FlowOpened: the flow-control strategy chose the windows of the preface. Windows.
	FlowOpened
	// FlowDecided: the strategy was told something and asks for actions, if any. Stream, Flow, Actions.
	FlowDecided
	// AltSvcReceived: an ALTSVC frame arrived (RFC 7838, Section 4). Stream, AltSvc.
	AltSvcReceived
	// OriginReceived: an ORIGIN frame arrived (RFC 8336). Origins.
	OriginReceived
)

var eventKindNames = [...]string{
	ConnOpened: "ConnOpened", ConnSettings: "ConnSettings", ConnGoAway: "ConnGoAway", ConnClosed: "ConnClosed",
	StreamOpened: "StreamOpened", StreamHead: "StreamHead", StreamClosed: "StreamClosed",
	StreamStalled: "StreamStalled", FrameSent: "FrameSent", FrameReceived: "FrameReceived",
	FlowOpened: "FlowOpened", FlowDecided: "FlowDecided", AltSvcReceived: "AltSvcReceived",
	OriginReceived: "OriginReceived",
}

// String is the name of the constant.
func (k EventKind) String() string {
	if int(k) < len(eventKindNames) && eventKindNames[k] != "" {
		return eventKindNames[k]
	}
	return fmt.Sprintf("EventKind(%d)", uint8(k))
}

// An Event is one thing that happened on a connection; see Config.OnEvent. What it points to is borrowed for the call.
// The zero value of a field means that the kind does not fill it.
type Event struct {
	Kind EventKind
	// Time never goes back on one connection.
	Time time.Time
	// Conn numbers the connections of the process, from 1.
	Conn   uint64
	Stream frame.StreamID

	Local, Remote string // addresses of the transport
	Status        int
	N             int64
	End           bool
	Err           error
	Fields        []Field // of a response head, in order
	Stall         *flow.Stall
	Frame         *FrameTrace
	Windows       flow.Windows
	Flow          *flow.Event
	Actions       []flow.Action
	AltSvc        *frame.AltSvc
	Origins       *frame.Origin
}

// connNumber is the number of the last connection.
var connNumber atomic.Uint64

// events is the hook of one connection. Everything of it is called with the connection locked, or before anybody else
// knows the connection.
type events struct {
	told func(Event)
	conn uint64
	last time.Time // of the last event
}

// hook tells one event. Times never go back: what was read a moment ago may be looked at after something else happened.
func (e *events) hook(ev Event) {
	ev.Conn = e.conn
	if ev.Time.Before(e.last) {
		ev.Time = e.last
	}
	e.last = ev.Time
	e.told(ev)
}

// newEvents returns the hook of a new connection, or nil, which costs a comparison where something happens.
func newEvents(cfg *Config) *events {
	if cfg.OnEvent == nil {
		return nil
	}
	return &events{told: cfg.OnEvent, conn: connNumber.Add(1)}
}

// opened tells that the connection begins.
func (e *events) opened(nc net.Conn) {
	if e == nil {
		return
	}
	ev := Event{Kind: ConnOpened, Time: time.Now()}
	if a := nc.LocalAddr(); a != nil {
		ev.Local = a.String()
	}
	if a := nc.RemoteAddr(); a != nil {
		ev.Remote = a.String()
	}
	e.hook(ev)
}

// frames is the hook of the core: what Config has, and this one.
func (e *events) frames(own func(FrameTrace)) func(FrameTrace) {
	if e == nil {
		return own
	}
	return func(f FrameTrace) {
		if own != nil {
			own(f)
		}
		kind := FrameReceived
		if f.Sent {
			kind = FrameSent
		}
		e.hook(Event{Kind: kind, Time: f.Now, Stream: f.Header.Stream, Frame: &f})
	}
}

// watch puts the hook beside a strategy.
func (e *events) watch(s flow.Strategy) flow.Strategy {
	if e == nil {
		return s
	}
	return &watched{Strategy: s, events: e}
}

// A watched strategy tells its decisions.
type watched struct {
	flow.Strategy
	events *events
}

func (w *watched) Open(now time.Time) flow.Windows {
	windows := w.Strategy.Open(now)
	w.events.hook(Event{Kind: FlowOpened, Time: now, Windows: windows})
	return windows
}

func (w *watched) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	before := len(dst)
	dst = w.Strategy.Decide(now, ev, dst)
	shown := ev
	w.events.hook(Event{
		Kind: FlowDecided, Time: now, Stream: frame.StreamID(ev.Stream), Flow: &shown,
		Actions: dst[before:],
	})
	return dst
}

// LiftsPingBudget is true if it is for the strategy watched.
func (w *watched) LiftsPingBudget() bool { return flow.LiftsPingBudget(w.Strategy) }

// core tells what the core reports.
func (e *events) core(ev conn.Event) {
	out := Event{Time: time.Now(), Stream: ev.Stream}
	switch ev.Kind {
	case conn.Settings:
		out.Kind = ConnSettings
	case conn.GoAway:
		out.Kind, out.Err = ConnGoAway, connError(ev.Err)
	case conn.Closed:
		out.Kind, out.Err = ConnClosed, connError(ev.Err)
	case conn.Opened:
		out.Kind = StreamOpened
	case conn.Interim, conn.Response:
		out.Kind, out.Status, out.N, out.End, out.Fields = StreamHead, ev.Status, ev.ContentLength, ev.End, ev.Fields
	case conn.Stalled:
		out.Kind, out.Stall = StreamStalled, ev.Stall
	case conn.AltSvc:
		e.altSvc(out, ev)
		return
	case conn.Origins:
		e.origins(out, ev)
		return
	default:
		return
	}
	e.hook(out)
}

func (e *events) altSvc(out Event, ev conn.Event) {
	h := frame.Header{Type: frame.TypeAltSvc, Stream: ev.Stream, Length: uint32(len(ev.Data))}
	if f, err := frame.ParseAltSvc(h, ev.Data); err == nil {
		out.Kind, out.AltSvc = AltSvcReceived, &f
		e.hook(out)
	}
}

func (e *events) origins(out Event, ev conn.Event) {
	h := frame.Header{Type: frame.TypeOrigin, Length: uint32(len(ev.Data))}
	if f, err := frame.ParseOrigin(h, ev.Data); err == nil {
		out.Kind, out.Origins = OriginReceived, &f
		e.hook(out)
	}
}

// streamClosed tells that s is over, once.
func (e *events) streamClosed(s *ClientStream) {
	if e != nil && s.c.streams[s.id] == s {
		e.hook(Event{Kind: StreamClosed, Time: time.Now(), Stream: s.id, Err: s.err})
	}
}
