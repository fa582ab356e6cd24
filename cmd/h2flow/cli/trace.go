package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
)

// A trace writes what happens on connections as lines of JSON. Its methods are called under the lock of the connection
// and from any of its goroutines. Errors of writing are kept until close.
type trace struct {
	start time.Time

	mu      sync.Mutex
	file    io.Closer
	buffer  *bufio.Writer
	encoder *json.Encoder
	err     error
}

// A traceLine is one line. T is the time in seconds since the start, Kind says which of the other fields count.
type traceLine struct {
	T    float64 `json:"t"`
	Kind string  `json:"kind"` // open, frame, event, action

	*traceFrame
	*traceEvent
}

// A traceFrame is a frame that was sent or received. Fields are those of the field block that it ends.
type traceFrame struct {
	Direction string      `json:"direction"` // sent, received
	Type      string      `json:"type"`
	Stream    uint32      `json:"stream"`
	Length    uint32      `json:"length"`
	Flags     uint8       `json:"flags"`
	Text      string      `json:"text"`
	Fields    [][2]string `json:"fields,omitempty"`
}

// A traceEvent is what a strategy was told, or one decision of it. Windows are the offsets after the event; for an
// open, they are those that the strategy begins with.
type traceEvent struct {
	Name          string        `json:"name"`
	Stream        uint32        `json:"stream"`
	N             int64         `json:"n"`
	End           bool          `json:"end,omitempty"`
	RTTSeconds    float64       `json:"rtt_seconds,omitempty"`
	RTTSource     string        `json:"rtt_source,omitempty"`
	Refused       string        `json:"refused,omitempty"` // the action
	Refusal       string        `json:"refusal,omitempty"` // why
	StreamWindow  *traceOffsets `json:"stream_window,omitempty"`
	ConnWindow    *traceOffsets `json:"conn_window,omitempty"`
	InitialWindow int64         `json:"initial_window,omitempty"`
	OpenStreams   int           `json:"open_streams,omitempty"`
}

type traceOffsets struct {
	Consumed int64 `json:"consumed"`
	Received int64 `json:"received"`
	Charged  int64 `json:"charged"`
	Granted  int64 `json:"granted"`
}

func createTrace(path string, start time.Time) (*trace, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	t := &trace{start: start, file: f, buffer: bufio.NewWriterSize(f, 64<<10)}
	t.encoder = json.NewEncoder(t.buffer)
	t.encoder.SetEscapeHTML(false)
	return t, nil
}

// close writes what is left and returns the first error of all writing. Later lines are dropped.
func (t *trace) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.buffer.Flush(); t.err == nil {
		t.err = err
	}
	if err := t.file.Close(); t.err == nil {
		t.err = err
	}
	err := t.err
	t.err = os.ErrClosed
	return err
}

func (t *trace) write(now time.Time, line traceLine) {
	line.T = now.Sub(t.start).Seconds()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = t.encoder.Encode(line)
	}
}

func (t *trace) frame(f h2flow.FrameTrace) {
	line := &traceFrame{
		Direction: "received", Type: f.Header.Type.String(), Stream: uint32(f.Header.Stream), Length: f.Header.Length,
		Flags: uint8(f.Header.Flags), Text: frameText(f),
	}
	if f.Sent {
		line.Direction = "sent"
	}
	for _, field := range f.Fields {
		line.Fields = append(line.Fields, [2]string{field.Name, shownValue(field)})
	}
	t.write(f.Now, traceLine{Kind: "frame", traceFrame: line})
}

// Opened implements flow.Observer.
func (t *trace) Opened(now time.Time, w flow.Windows) {
	t.write(now, traceLine{Kind: "open", traceEvent: &traceEvent{
		Name: "Open", ConnWindow: offsets(flow.Offsets{Granted: max(w.Conn, flow.DefaultWindow)}), InitialWindow: w.Stream,
	}})
}

// Decided implements flow.Observer.
func (t *trace) Decided(now time.Time, ev flow.Event, actions []flow.Action) {
	line := &traceEvent{
		Name: ev.Kind.String(), Stream: ev.Stream, N: ev.N, End: ev.End, ConnWindow: offsets(ev.ConnWindow),
		InitialWindow: ev.InitialWindow, OpenStreams: ev.OpenStreams,
	}
	if ev.Stream != 0 {
		line.StreamWindow = offsets(ev.StreamWindow)
	}
	switch ev.Kind {
	case flow.RTTSample:
		line.RTTSeconds, line.RTTSource = ev.RTT.Seconds(), ev.Source.String()
	case flow.ActionRefused:
		line.Refused, line.Refusal = ev.Action.String(), ev.Refusal.String()
	}
	t.write(now, traceLine{Kind: "event", traceEvent: line})
	for _, a := range actions {
		t.write(now, traceLine{Kind: "action", traceEvent: &traceEvent{Name: a.Kind.String(), Stream: a.Stream, N: a.N}})
	}
}

func offsets(o flow.Offsets) *traceOffsets {
	return &traceOffsets{Consumed: o.Consumed, Received: o.Received, Charged: o.Charged, Granted: o.Granted}
}

// watchers tells a meter and, if there is one, a trace.
type watchers struct {
	meter *runMeter
	trace *trace
}

var _ flow.Observer = watchers{}

// Opened implements flow.Observer.
func (w watchers) Opened(now time.Time, windows flow.Windows) {
	w.meter.Opened(now, windows)
	if w.trace != nil {
		w.trace.Opened(now, windows)
	}
}

// Decided implements flow.Observer.
func (w watchers) Decided(now time.Time, ev flow.Event, actions []flow.Action) {
	w.meter.Decided(now, ev, actions)
	if w.trace != nil {
		w.trace.Decided(now, ev, actions)
	}
}

// transcriptLine is f as one line: the time since start, the direction (> sent, < received), the frame, and the field
// lines if it ends a field block.
func transcriptLine(start time.Time, f h2flow.FrameTrace) string {
	var b strings.Builder
	direction := '<'
	if f.Sent {
		direction = '>'
	}
	fmt.Fprintf(&b, "%+.6fs %c %s", f.Now.Sub(start).Seconds(), direction, frameText(f))
	for _, field := range f.Fields {
		fmt.Fprintf(&b, " %q", field.Name+": "+shownValue(field))
	}
	return b.String()
}

// frameText describes the frame by its content where that is known, else by its header.
func frameText(f h2flow.FrameTrace) string {
	if f.Payload != nil {
		if parsed, err := frame.Parse(f.Header, f.Payload); err == nil {
			return parsed.String()
		}
	}
	return f.Header.String()
}

// shownValue hides the values that must not get into logs.
func shownValue(f frame.Field) string {
	switch f.Name {
	case "authorization", "proxy-authorization", "cookie", "set-cookie":
		return "(hidden)"
	}
	if f.Sensitive {
		return "(hidden)"
	}
	return f.Value
}
