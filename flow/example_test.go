package flow_test

import (
	"fmt"
	"time"

	"example.com/h2flow/flow"
)

// Halves is a whole strategy: constant windows, given back by halves.
type Halves struct{ Stream, Conn int64 }

func (h Halves) String() string     { return fmt.Sprintf("halves:stream=%d:conn=%d", h.Stream, h.Conn) }
func (h Halves) New() flow.Strategy { return &halves{Halves: h, open: make(map[uint32]bool)} }

type halves struct {
	Halves
	open map[uint32]bool // the streams that may still receive
}

func (h *halves) Open(time.Time) flow.Windows {
	return flow.Windows{Stream: h.Stream, Conn: h.Conn}
}

func (h *halves) Decide(_ time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	switch {
	case ev.Kind == flow.ActionRefused:
		return dst // asking for the same again would be refused again
	case ev.Kind == flow.StreamOpened:
		h.open[ev.Stream] = true
	case ev.Kind == flow.StreamClosed, ev.End:
		delete(h.open, ev.Stream)
	}
	if n := ev.StreamWindow.Due(h.Stream); h.open[ev.Stream] && n >= h.Stream/2 {
		dst = append(dst, flow.GrantStream(ev.Stream, n))
	}
	if n := ev.ConnWindow.Due(h.Conn); n >= h.Conn/2 {
		dst = append(dst, flow.GrantConn(n))
	}
	return dst
}

func (h *halves) Deadline() time.Time { return time.Time{} }

// A strategy is told what happens with the state of both windows, and answers with grants. This one is a Config too,
// so it can be given to a connection as it is.
func Example_customStrategy() {
	s := Halves{Stream: 1 << 20, Conn: 1 << 20}.New()
	fmt.Println(s.Open(time.Time{}))

	// What a connection would tell it about a stream of which 600,000 octets arrive and are read.
	window := flow.Offsets{Granted: 1 << 20}
	s.Decide(time.Time{}, flow.Event{Kind: flow.StreamOpened, Stream: 1, StreamWindow: window, ConnWindow: window}, nil)
	window.Charged, window.Received, window.Consumed = 600_000, 600_000, 600_000
	ev := flow.Event{Kind: flow.Consumed, Stream: 1, N: 600_000, StreamWindow: window, ConnWindow: window}
	for _, a := range s.Decide(time.Time{}, ev, nil) {
		fmt.Println(a)
	}
	// Output:
	// {1048576 1048576}
	// GrantStream stream=1 n=600000
	// GrantConn n=600000
}
