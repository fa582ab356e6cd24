package conn_test

import (
	"testing"
	"time"

	"example.com/h2flow/conn"
	"example.com/h2flow/flow"
	"example.com/h2flow/internal/plainfields"
)

// late is a strategy whose deadline has always passed.
type late struct{ ticks int }

func (*late) Open(time.Time) flow.Windows { return flow.Windows{Stream: 65535, Conn: 65535} }
func (*late) Deadline() time.Time         { return epoch }
func (s *late) Decide(_ time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	if ev.Kind == flow.Tick {
		s.ticks++
	}
	return dst
}

// TestADeadlineInThePastDoesNotSpin: a strategy that forgets to move its deadline is ticked a thousand times a second
// and not as often as the processor can.
func TestADeadlineInThePastDoesNotSpin(t *testing.T) {
	s := &late{}
	c := conn.New(epoch, conn.Config{Strategy: s, Encoder: &plainfields.Encoder{}, Decoder: &plainfields.Decoder{}})
	for now := epoch; now.Before(epoch.Add(100 * time.Millisecond)); {
		c.Advance(now)
		if s.ticks > 100 {
			break
		}
		if d := c.Deadline(); d.After(now) {
			now = d
		}
	}
	if s.ticks != 100 {
		t.Errorf("%d ticks in 100 ms, want 100", s.ticks)
	}
}
