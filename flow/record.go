package flow

import (
	"encoding/json"
	"time"
)

// Record returns a Config that is cfg with a Recorder beside each of its strategies; each is called with the Recorder of
// every connection that opens.
func Record(cfg Config, each func(*Recorder)) Config {
	return Observe(cfg, func() Observer {
		r := &Recorder{name: cfg.String()}
		each(r)
		return r
	})
}

// A Recorder is an Observer that writes down all that one strategy was told and all that it asked for, as JSON lines.
// ReadLog reads them.
//
// The first line is about the connection: "log" is the version of the format, "strategy" the Config, "stream" and "conn"
// the windows of Open. Every other line is one event: "t" is the time since Open in nanoseconds, "event" its kind, "sw"
// and "cw" the offsets of the stream's and the connection's window in the order of Offsets' fields, "iw" the initial
// window, "open" the open streams, "pings" the PINGs since our last frame, "do" the actions that it was answered with.
// "stream", "n", "end", "rtt" (nanoseconds), "source", "action" and "refusal" are as in Event, and what is zero is left
// out. Fields may be added to the format; those that are here stay.
type Recorder struct {
	name  string
	start time.Time
	lines []byte
}

var _ Observer = (*Recorder)(nil)

// logVersion is the version of the format.
const logVersion = "h2flow-flow-1"

type logHead struct {
	Log      string `json:"log"`
	Strategy string `json:"strategy"`
	Stream   int64  `json:"stream"`
	Conn     int64  `json:"conn"`
}

type logLine struct {
	T       int64       `json:"t"`
	Event   string      `json:"event"`
	Stream  uint32      `json:"stream,omitempty"`
	N       int64       `json:"n,omitempty"`
	End     bool        `json:"end,omitempty"`
	RTT     int64       `json:"rtt,omitempty"`
	Source  string      `json:"source,omitempty"`
	Action  *logAction  `json:"action,omitempty"`
	Refusal string      `json:"refusal,omitempty"`
	SW      [4]int64    `json:"sw,omitzero"`
	CW      [4]int64    `json:"cw,omitzero"`
	IW      int64       `json:"iw,omitempty"`
	Open    int         `json:"open,omitempty"`
	Pings   int         `json:"pings,omitempty"`
	Do      []logAction `json:"do,omitempty"`
}

type logAction struct {
	Kind   string `json:"kind"`
	Stream uint32 `json:"stream,omitempty"`
	N      int64  `json:"n,omitempty"`
}

// Opened writes the first line.
func (r *Recorder) Opened(now time.Time, w Windows) {
	r.start = now
	r.add(logHead{logVersion, r.name, w.Stream, w.Conn})
}

// Decided writes a line.
func (r *Recorder) Decided(now time.Time, ev Event, actions []Action) {
	line := logLine{
		T: int64(now.Sub(r.start)), Event: ev.Kind.String(), Stream: ev.Stream, N: ev.N, End: ev.End, RTT: int64(ev.RTT),
		SW: ev.StreamWindow.list(), CW: ev.ConnWindow.list(), IW: ev.InitialWindow, Open: ev.OpenStreams, Pings: ev.Pings,
	}
	if ev.Source != 0 {
		line.Source = ev.Source.String()
	}
	if ev.Refusal != 0 {
		line.Refusal = ev.Refusal.String()
	}
	if ev.Action != (Action{}) {
		a := ev.Action.logged()
		line.Action = &a
	}
	for _, a := range actions {
		line.Do = append(line.Do, a.logged())
	}
	r.add(line)
}

// Lines are the JSON lines so far, each with its newline. They are borrowed until the next event.
func (r *Recorder) Lines() []byte { return r.lines }

func (r *Recorder) add(v any) {
	line, err := json.Marshal(v)
	if err != nil {
		panic("h2flow: bug: " + err.Error()) // numbers and strings alone
	}
	r.lines = append(append(r.lines, line...), '\n')
}

func (a Action) logged() logAction { return logAction{a.Kind.String(), a.Stream, a.N} }

func (o Offsets) list() [4]int64 { return [4]int64{o.Consumed, o.Received, o.Charged, o.Granted} }
