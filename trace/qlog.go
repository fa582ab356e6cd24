package trace

import (
	"encoding/json"
	"io"
	"os"
	"sync"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
)

// Schema identifies the events of the http2 name space, as docs/qlog.md describes them.
const Schema = "https://example.com/h2flow/docs/qlog.md#http2-1"

// recordSeparator begins each record of a JSON text sequence. See RFC 7464, Section 2.2.
const recordSeparator = 0x1e

// A QLog writes events as qlog: a JSON text sequence (RFC 7464) whose first record describes the trace and whose others
// are one event each. Its methods may be called from any number of goroutines.
type QLog struct {
	mu    sync.Mutex
	w     io.Writer
	start time.Time // the first event's
	title string
	buf   []byte
	err   error
}

// NewQLog returns a QLog that writes to w, one Write for each record. The title says what the trace is of.
func NewQLog(w io.Writer, title string) *QLog { return &QLog{w: w, title: title} }

// Close returns the first error of writing. It does not close the writer. Later events are dropped.
func (q *QLog) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	err := q.err
	q.err = os.ErrClosed
	return err
}

// The records, in the words of qlog.
type (
	fileRecord struct {
		Schema        string      `json:"file_schema"`
		Serialization string      `json:"serialization_format"`
		Title         string      `json:"title,omitempty"`
		Trace         traceRecord `json:"trace"`
	}
	traceRecord struct {
		Common       commonRecord  `json:"common_fields"`
		VantagePoint vantageRecord `json:"vantage_point"`
		EventSchemas []string      `json:"event_schemas"`
	}
	commonRecord struct {
		TimeFormat string          `json:"time_format"`
		Reference  referenceRecord `json:"reference_time"`
	}
	referenceRecord struct {
		Clock string `json:"clock_type"`
		Epoch string `json:"epoch"`
	}
	vantageRecord struct {
		Type string `json:"type"`
	}
	eventRecord struct {
		Time  float64 `json:"time"` // milliseconds since the reference time
		Name  string  `json:"name"`
		Group uint64  `json:"group_id"`
		Data  any     `json:"data"`
	}
)

// Event writes one event. It is a hook for h2flow.Config.OnEvent.
func (q *QLog) Event(ev h2flow.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return
	}
	if q.start.IsZero() {
		q.start = ev.Time
		q.write(fileRecord{
			Schema: "urn:ietf:params:qlog:file:sequential", Serialization: "application/qlog+json-seq", Title: q.title,
			Trace: traceRecord{
				Common: commonRecord{TimeFormat: "relative_to_epoch", Reference: referenceRecord{
					Clock: "system", Epoch: ev.Time.UTC().Format(time.RFC3339Nano),
				}},
				VantagePoint: vantageRecord{Type: "client"},
				EventSchemas: []string{Schema},
			},
		})
	}
	name, data := describe(ev)
	ms := float64(ev.Time.Sub(q.start).Nanoseconds()) / 1e6
	q.write(eventRecord{Time: ms, Name: "http2:" + name, Group: ev.Conn, Data: data})
}

func (q *QLog) write(record any) {
	if q.err != nil {
		return
	}
	text, err := json.Marshal(record)
	if err == nil {
		q.buf = append(append(append(q.buf[:0], recordSeparator), text...), '\n')
		_, err = q.w.Write(q.buf)
	}
	q.err = err
}

// The data of the events.
type (
	connData struct {
		Local  string `json:"local,omitempty"`
		Remote string `json:"remote,omitempty"`
		Error  string `json:"error,omitempty"`
	}
	streamData struct {
		Stream uint32      `json:"stream_id"`
		Status int         `json:"status,omitempty"`
		Length *int64      `json:"length,omitempty"`
		End    bool        `json:"end,omitempty"`
		Fields [][2]string `json:"fields,omitempty"`
		Error  string      `json:"error,omitempty"`
		Stall  string      `json:"stall,omitempty"`
	}
	frameData struct {
		Frame frameRecord `json:"frame"`
	}
	frameRecord struct {
		Type   string      `json:"frame_type"`
		Stream uint32      `json:"stream_id"`
		Length uint32      `json:"length"`
		Flags  uint8       `json:"flags"`
		Text   string      `json:"text"`
		Fields [][2]string `json:"fields,omitempty"`
	}
	windowsData struct {
		Stream int64 `json:"stream_window"`
		Conn   int64 `json:"connection_window"`
	}
	flowData struct {
		Event         string         `json:"event"`
		Stream        uint32         `json:"stream_id,omitempty"`
		N             int64          `json:"n"`
		End           bool           `json:"end,omitempty"`
		RTT           float64        `json:"rtt,omitempty"` // milliseconds
		RTTSource     string         `json:"rtt_source,omitempty"`
		Refused       string         `json:"refused,omitempty"`
		Refusal       string         `json:"refusal,omitempty"`
		StreamOffsets *offsetsRecord `json:"stream_offsets,omitempty"`
		ConnOffsets   offsetsRecord  `json:"connection_offsets"`
		InitialWindow int64          `json:"initial_window"`
		OpenStreams   int            `json:"open_streams"`
		Actions       []actionRecord `json:"actions,omitempty"`
	}
	offsetsRecord struct {
		Consumed int64 `json:"consumed"`
		Received int64 `json:"received"`
		Charged  int64 `json:"charged"`
		Granted  int64 `json:"granted"`
	}
	actionRecord struct {
		Action string `json:"action"`
		Stream uint32 `json:"stream_id,omitempty"`
		N      int64  `json:"n,omitempty"`
	}
	altSvcData struct {
		Stream uint32 `json:"stream_id,omitempty"`
		Origin string `json:"origin,omitempty"`
		Value  string `json:"value"`
	}
	originsData struct {
		Origins []string `json:"origins"`
	}
)

// describe is the name and the data of one event.
func describe(ev h2flow.Event) (string, any) {
	stream := streamData{Stream: uint32(ev.Stream), Error: errorText(ev.Err)}
	switch ev.Kind {
	case h2flow.ConnOpened:
		return "connection_opened", connData{Local: ev.Local, Remote: ev.Remote}
	case h2flow.ConnSettings:
		return "settings_applied", connData{}
	case h2flow.ConnGoAway:
		return "goaway_received", connData{Error: errorText(ev.Err)}
	case h2flow.ConnClosed:
		return "connection_closed", connData{Error: errorText(ev.Err)}
	case h2flow.StreamOpened:
		return "stream_opened", stream
	case h2flow.StreamHead:
		stream.Status, stream.Length, stream.End, stream.Fields = ev.Status, &ev.N, ev.End, shownFields(ev.Fields)
		return "response_head", stream
	case h2flow.StreamClosed:
		return "stream_closed", stream
	case h2flow.StreamStalled:
		stream.Stall = ev.Stall.Error()
		return "stream_stalled", stream
	case h2flow.FrameSent:
		return "frame_created", describeFrame(ev.Frame)
	case h2flow.FrameReceived:
		return "frame_parsed", describeFrame(ev.Frame)
	case h2flow.FlowOpened:
		return "windows_opened", windowsData{Stream: ev.Windows.Stream, Conn: ev.Windows.Conn}
	case h2flow.FlowDecided:
		return "flow_decided", describeFlow(ev)
	case h2flow.AltSvcReceived:
		return "alternative_service", altSvcData{uint32(ev.Stream), string(ev.AltSvc.Origin), string(ev.AltSvc.Value)}
	case h2flow.OriginReceived:
		return "origins", originsData{originsOf(ev.Origins)}
	}
	return "unknown", struct{}{}
}

func describeFrame(f *h2flow.FrameTrace) frameData {
	return frameData{frameRecord{
		Type: f.Header.Type.String(), Stream: uint32(f.Header.Stream), Length: f.Header.Length,
		Flags: uint8(f.Header.Flags), Text: frameText(f), Fields: shownFields(f.Fields),
	}}
}

func describeFlow(ev h2flow.Event) flowData {
	e := ev.Flow
	d := flowData{
		Event: e.Kind.String(), Stream: e.Stream, N: e.N, End: e.End, ConnOffsets: offsetsRecord(e.ConnWindow),
		InitialWindow: e.InitialWindow, OpenStreams: e.OpenStreams,
	}
	if e.Stream != 0 {
		o := offsetsRecord(e.StreamWindow)
		d.StreamOffsets = &o
	}
	switch e.Kind {
	case flow.RTTSample:
		d.RTT, d.RTTSource = float64(e.RTT.Nanoseconds())/1e6, e.Source.String()
	case flow.ActionRefused:
		d.Refused, d.Refusal = e.Action.String(), e.Refusal.String()
	}
	for _, a := range ev.Actions {
		d.Actions = append(d.Actions, actionRecord{a.Kind.String(), a.Stream, a.N})
	}
	return d
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func originsOf(f *frame.Origin) []string {
	list := []string{}
	for o := range f.All() {
		list = append(list, string(o))
	}
	return list
}
