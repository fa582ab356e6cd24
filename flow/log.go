package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// A Log is what a Recorder wrote.
type Log struct {
	// Strategy is the Config that was recorded, as its String method wrote it.
	Strategy string
	// Windows are what its strategy opened with.
	Windows Windows
	// Entries are all events, in their order.
	Entries []LogEntry
}

// A LogEntry is one event and what the recorded strategy asked for because of it.
type LogEntry struct {
	// At is the time since Open.
	At      time.Duration
	Event   Event
	Actions []Action
}

// ReadLog reads what a Recorder wrote. The error names the line that is wrong; the entries before it are returned too,
// so that a log that was cut off can be used.
func ReadLog(r io.Reader) (*Log, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	l := &Log{}
	for number := 1; len(text) > 0; number++ {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		if number == 1 {
			err = l.readHead(line)
		} else {
			err = l.readLine(line)
		}
		if err != nil {
			return l, fmt.Errorf("flow log, line %d: %w", number, err)
		}
	}
	if l.Strategy == "" && l.Windows == (Windows{}) {
		return l, fmt.Errorf("flow log: no first line")
	}
	return l, nil
}

func (l *Log) readHead(line []byte) error {
	var h logHead
	if err := json.Unmarshal(line, &h); err != nil {
		return err
	}
	if h.Log != logVersion {
		return fmt.Errorf("format %q: want %q", h.Log, logVersion)
	}
	l.Strategy, l.Windows = h.Strategy, Windows{Stream: h.Stream, Conn: h.Conn}
	return nil
}

func (l *Log) readLine(line []byte) error {
	var in logLine
	if err := json.Unmarshal(line, &in); err != nil {
		return err
	}
	e := LogEntry{At: time.Duration(in.T), Event: Event{
		Stream: in.Stream, N: in.N, End: in.End, RTT: time.Duration(in.RTT), StreamWindow: offsetsOf(in.SW),
		ConnWindow: offsetsOf(in.CW), InitialWindow: in.IW, OpenStreams: in.Open, Pings: in.Pings,
	}}
	var err error
	if e.Event.Kind, err = valueOf[EventKind](eventKindNames[:], in.Event, "event"); err != nil {
		return err
	}
	if in.Source != "" {
		if e.Event.Source, err = valueOf[RTTSource](rttSourceNames[:], in.Source, "source"); err != nil {
			return err
		}
	}
	if in.Refusal != "" {
		if e.Event.Refusal, err = valueOf[Refusal](refusalNames[:], in.Refusal, "refusal"); err != nil {
			return err
		}
	}
	if in.Action != nil {
		if e.Event.Action, err = in.Action.action(); err != nil {
			return err
		}
	}
	for _, a := range in.Do {
		action, err := a.action()
		if err != nil {
			return err
		}
		e.Actions = append(e.Actions, action)
	}
	if n := len(l.Entries); n > 0 && e.At < l.Entries[n-1].At {
		return fmt.Errorf("time goes back from %s to %s", l.Entries[n-1].At, e.At)
	}
	l.Entries = append(l.Entries, e)
	return nil
}

func (a logAction) action() (Action, error) {
	kind, err := valueOf[ActionKind](actionKindNames[:], a.Kind, "action")
	return Action{Kind: kind, Stream: a.Stream, N: a.N}, err
}

func offsetsOf(list [4]int64) Offsets {
	return Offsets{Consumed: list[0], Received: list[1], Charged: list[2], Granted: list[3]}
}

// valueOf is the constant whose name is name.
func valueOf[T ~uint8](names []string, name, what string) (T, error) {
	for i, n := range names {
		if n == name && n != "" {
			return T(i), nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q", what, name)
}
