package flowtest_test

import (
	"fmt"
	"strings"
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/flow/flowtest"
)

// Quarters is a whole strategy: constant windows, given back once a quarter of them is due. It is what its users hold,
// a flow.Config, and may be shared: each connection gets a strategy of its own from New.
type Quarters struct {
	// Stream and Conn are the windows in octets; Conn is 65,535 at least.
	Stream, Conn int64
	// forgetful leaves out the grants of the connection, a mistake that is easily made: downloads up to Conn octets work.
	forgetful bool
}

func (q Quarters) New() flow.Strategy { return &quarters{Quarters: q, open: make(map[uint32]bool)} }
func (q Quarters) String() string     { return fmt.Sprintf("quarters:stream=%d:conn=%d", q.Stream, q.Conn) }

// MemoryBound is a promise, to which the suite holds the strategy: see flowtest.Bounded.
func (q Quarters) MemoryBound() int64 { return q.Conn }

type quarters struct {
	Quarters
	open map[uint32]bool // the streams that may still receive
}

func (q *quarters) Open(time.Time) flow.Windows { return flow.Windows{Stream: q.Stream, Conn: q.Conn} }
func (q *quarters) Deadline() time.Time         { return time.Time{} } // nothing becomes due by the passing of time

func (q *quarters) Decide(_ time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	switch {
	case ev.Kind == flow.StreamOpened:
		q.open[ev.Stream] = true
	case ev.Kind == flow.StreamClosed, ev.End:
		delete(q.open, ev.Stream)
	case ev.Kind == flow.ActionRefused:
		return dst // what is due stays due, and comes with the next event
	}
	// Due counts what was consumed, by the application, as padding, or because nobody will ever read it.
	if n := ev.StreamWindow.Due(q.Stream); q.open[ev.Stream] && n >= q.Stream/4 {
		dst = append(dst, flow.GrantStream(ev.Stream, n))
	}
	if n := ev.ConnWindow.Due(q.Conn); n >= q.Conn/4 && !q.forgetful {
		dst = append(dst, flow.GrantConn(n))
	}
	return dst
}

// complaints is as much of a *testing.T as the suite needs: a test hands its own.
type complaints struct{ first string }

func (c *complaints) Helper() {}
func (c *complaints) Errorf(format string, args ...any) {
	if c.first == "" {
		c.first = fmt.Sprintf(format, args...)
	}
}

// A strategy in fifty lines, Quarters of this file, to which the suite has nothing to say, and the first of what it says
// when the strategy forgets to give the connection back what was read: the body ends where the connection's window does.
func ExampleRun() {
	var sound, forgetful complaints
	flowtest.Run(&sound, Quarters{Stream: 1 << 20, Conn: 2 << 20})
	flowtest.Run(&forgetful, Quarters{Stream: 1 << 20, Conn: 2 << 20, forgetful: true})

	fmt.Printf("sound: %q\n", sound.first)
	fmt.Println(strings.NewReplacer(": ", ":\n", ", the", ",\nthe").Replace(forgetful.first))
	// Output:
	// sound: ""
	// quarters:stream=1048576:conn=2097152:
	// a reader that keeps up gets everything:
	// at 197.77216ms:
	// stream 1 waits for ever:
	// its window is 1048576 (consumed 2097152, received 2097152, charged 2097152, granted 3145728),
	// the connection's 0 (consumed 2097152, received 2097152, charged 2097152, granted 2097152)
}
