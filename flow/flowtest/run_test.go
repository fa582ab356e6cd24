package flowtest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/flow/flowtest"
)

type actions = []flow.Action

// simple is a strategy that counts what it owes, so that it can be broken in the ways of real ones.
type simple struct {
	stream, conn, hold int64
	// rule, if not nil, is asked first; when it says handled, its actions are all.
	rule func(s *simple, ev flow.Event, dst actions) (out actions, handled bool)

	open map[uint32]bool
	owed int64
}

func (s simple) New() flow.Strategy           { s.open = make(map[uint32]bool); return &s }
func (s simple) String() string               { return "simple" }
func (s *simple) Open(time.Time) flow.Windows { return flow.Windows{Stream: s.stream, Conn: s.conn} }
func (s *simple) Deadline() time.Time         { return time.Time{} }

func (s *simple) Decide(_ time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	switch {
	case ev.Kind == flow.StreamOpened:
		s.open[ev.Stream] = true
	case ev.Kind == flow.StreamClosed, ev.End:
		delete(s.open, ev.Stream)
	}
	if s.rule != nil {
		if out, handled := s.rule(s, ev, dst); handled {
			return out
		}
	}
	if ev.Kind == flow.ActionRefused {
		return dst
	}
	if n := ev.StreamWindow.Due(s.stream); s.open[ev.Stream] && n >= s.hold {
		dst = append(dst, flow.GrantStream(ev.Stream, n))
	}
	if n := ev.ConnWindow.Due(s.conn); n >= s.hold {
		dst = append(dst, flow.GrantConn(n))
	}
	return dst
}

// sound is simple without a fault.
func sound() simple { return simple{stream: 1 << 20, conn: 4 << 20, hold: 64 << 10} }

func with(rule func(s *simple, ev flow.Event, dst actions) (actions, bool)) simple {
	s := sound()
	s.rule = rule
	return s
}

// promising adds promises to a Config.
type promising struct {
	flow.Config
	bound   int64
	readers int
}

func (p promising) MemoryBound() int64 { return p.bound }
func (p promising) SlowReaders() int   { return p.readers }

// recorder is a TB that keeps what is reported.
type recorder struct{ reports []string }

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.reports = append(r.reports, fmt.Sprintf(format, args...))
}

func TestRunPassesSoundStrategies(t *testing.T) {
	flowtest.Run(t, Quarters{Stream: 1 << 20, Conn: 2 << 20})
	flowtest.Run(t, sound())
	flowtest.Run(t, promising{sound(), 4 << 20, 3})
}

// A strategy that is broken in one way is found by the scenario that is about it.
func TestRunFindsBrokenStrategies(t *testing.T) {
	shared := 0
	tests := []struct {
		name string
		cfg  flow.Config
		// want is part of one of the reports: the scenario and the reason.
		want string
	}{
		{"forgets all grants", with(func(_ *simple, _ flow.Event, dst actions) (actions, bool) {
			return dst, true
		}), "a reader that keeps up gets everything: at 103.88608ms: stream 1 waits for ever"},
		{"forgets the connection", with(func(s *simple, ev flow.Event, dst actions) (actions, bool) {
			if ev.Kind == flow.Consumed && s.open[ev.Stream] {
				dst = append(dst, flow.GrantStream(ev.Stream, ev.N))
			}
			return dst, true
		}), "the connection's 0 (consumed 4194304"},
		{"forgets padding and cancelled streams", with(func(s *simple, ev flow.Event, dst actions) (actions, bool) {
			if ev.Kind == flow.Consumed {
				dst = append(dst, flow.GrantConn(ev.N))
				if s.open[ev.Stream] {
					dst = append(dst, flow.GrantStream(ev.Stream, ev.N))
				}
			}
			return dst, true
		}), "cancelled streams leak nothing and give nothing twice: credit leaked"},
		{"gives unread octets of cancelled streams twice", with(func(s *simple, ev flow.Event, dst actions) (actions, bool) {
			switch ev.Kind {
			case flow.Received, flow.Padding, flow.StreamClosed, flow.Discarded:
				s.owed += ev.N
			}
			if s.owed >= s.hold {
				dst = append(dst, flow.GrantConn(s.owed))
				s.owed = 0
			}
			if n := ev.StreamWindow.Due(s.stream); s.open[ev.Stream] && n >= s.hold {
				dst = append(dst, flow.GrantStream(ev.Stream, n))
			}
			return dst, true
		}), "cancelled streams leak nothing and give nothing twice: credit given twice"},
		{"waits for an empty window", simple{stream: 65535, conn: 65535, hold: 65535},
			"a server that sends only whole frames is never left waiting: frames of 16384 octets"},
		{"waits for almost an empty window", simple{stream: 65535, conn: 65535, hold: 65501},
			"a server that sends only whole frames is never left waiting"},
		{"grants after the end", with(func(s *simple, ev flow.Event, dst actions) (actions, bool) {
			if ev.Kind == flow.Consumed {
				return append(dst, flow.GrantStream(ev.Stream, ev.N), flow.GrantConn(ev.N)), true
			}
			return dst, false
		}), "the server has ended the stream"},
		{"grants on closed streams", with(func(_ *simple, ev flow.Event, dst actions) (actions, bool) {
			if ev.Kind == flow.StreamClosed {
				return append(dst, flow.GrantStream(ev.Stream, 1)), true
			}
			return dst, false
		}), "the stream is not open"},
		{"grants nothing by WINDOW_UPDATE", with(func(_ *simple, ev flow.Event, dst actions) (actions, bool) {
			return append(dst, flow.GrantConn(0)), ev.Kind != flow.ActionRefused
		}), "increment below 1"},
		{"overflows", with(func(_ *simple, ev flow.Event, dst actions) (actions, bool) {
			return append(dst, flow.GrantConn(flow.MaxWindow)), ev.Kind != flow.ActionRefused
		}), "window above 2^31-1"},
		{"credits on receipt without end", with(func(s *simple, ev flow.Event, dst actions) (actions, bool) {
			if n := ev.StreamWindow.Received + s.stream - ev.StreamWindow.Granted; s.open[ev.Stream] && n >= s.hold {
				dst = append(dst, flow.GrantStream(ev.Stream, n))
			}
			if n := ev.ConnWindow.Received + s.conn - ev.ConnWindow.Granted; n >= s.hold {
				dst = append(dst, flow.GrantConn(n))
			}
			return dst, true
		}), "streams that nobody reads stop growing"},
		{"takes a burst for a rate", with(func(s *simple, ev flow.Event, dst actions) (actions, bool) {
			if ev.Kind == flow.Consumed && ev.N >= s.stream/2 {
				s.stream *= 2
				s.conn *= 2
			}
			return dst, false
		}), "slow and bursty readers do not inflate the window"},
		{"pings with every frame", with(func(_ *simple, ev flow.Event, dst actions) (actions, bool) {
			if ev.Kind == flow.FrameStart {
				dst = append(dst, flow.Ping())
			}
			return dst, ev.Kind == flow.FrameStart
		}), "the strategy keeps asking for PINGs that are refused"},
		{"repeats what is refused", with(func(_ *simple, ev flow.Event, dst actions) (actions, bool) {
			return append(dst, ev.Action), ev.Kind == flow.ActionRefused
		}), "refused actions are not repeated for ever"},
		{"replaces dst", with(func(_ *simple, ev flow.Event, dst actions) (actions, bool) {
			return []flow.Action{flow.GrantConn(1)}, ev.Kind == flow.SettingsAcked
		}), "does not append to dst"},
		{"shares state between connections", with(func(_ *simple, ev flow.Event, dst actions) (actions, bool) {
			if shared++; shared%1000 == 0 {
				return append(dst, flow.SetInitialWindow(1<<20+int64(shared))), true
			}
			return dst, false
		}), "the same events give the same actions: seed 0: two runs differ in their actions"},
		{"opens impossible windows", simple{stream: flow.MaxWindow + 1, conn: 65535, hold: 1},
			"Open asks for windows that the protocol cannot express"},
		{"breaks its bound", promising{sound(), 4<<20 - 1, 0}, "exceed the promised bound of 4194303"},
		{"cannot bear what it promises", promising{sound(), 4 << 20, 4},
			"as many slow readers as promised stop nobody else: 4 streams that nobody reads stop another"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r recorder
			flowtest.Run(&r, tt.cfg)
			if all := strings.Join(r.reports, "\n"); !strings.Contains(all, tt.want) {
				t.Errorf("want a report with %q, got\n%s", tt.want, all)
			}
		})
	}
}
