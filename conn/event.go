package conn

import (
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
)

// EventKind says what happened.
type EventKind uint8

// The events of a connection. Stream events are followed by none for the same stream once one of them carried End
// for the receiving side and the sending side is over too, or once StreamError was reported.
const (
	// None: everything fed was processed.
	None EventKind = iota
	// Opened: the request HEADERS of Stream were packed for sending; it has left the queue.
	Opened
	// Interim: a 1xx response head (Status, Fields) arrived on Stream.
	Interim
	// Response: the final response head (Status, Fields, ContentLength) arrived. End: no body and no trailers follow.
	Response
	// Data: octets of the body arrived. Data borrows from the slice given to Feed. End: this was the last. Data may be
	// empty when End is set.
	Data
	// Trailers: the trailer section (Fields) arrived and ended the stream.
	Trailers
	// Sendable: Stream, for which SendQuota said 0, may send again.
	Sendable
	// SendStopped: the peer gave a complete response and then asked, by RST_STREAM(NO_ERROR), to stop the upload.
	// What was received stays valid.
	SendStopped
	// StreamError: Stream failed with Err. It is the stream's last event.
	StreamError
	// Settings: the peer's SETTINGS were applied.
	Settings
	// SettingsAcked: the peer acknowledged our SETTINGS; RTT is the time it took.
	SettingsAcked
	// Pong: the PING whose payload is PingData was answered after RTT.
	Pong
	// GoAway: the peer sent GOAWAY; Err describes it. No new stream can be opened.
	GoAway
	// Stalled: a body makes no progress; Stall describes it. It is only a report: when the stream cannot go on, a
	// StreamError with the same description follows.
	Stalled
	// AltSvc: the peer sent ALTSVC on Stream; Data is its payload, borrowed.
	AltSvc
	// Origins: the peer sent ORIGIN; Data is its payload, borrowed.
	Origins
	// Closed: the connection is over, with Err, or nil after a graceful end. It is the last event.
	Closed
)

// An Event is one thing that happened. Data and Fields are borrowed: they are valid until the next call of NextEvent;
// the strings in Fields may be kept.
type Event struct {
	Kind          EventKind
	End           bool
	Stream        frame.StreamID
	Status        int   // Interim, Response
	ContentLength int64 // Response: the declared length of the body, or -1
	Data          []byte
	Fields        []frame.Field
	Err           *Error
	RTT           time.Duration
	PingData      [8]byte
	Stall         *flow.Stall
}
