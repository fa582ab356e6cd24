package conn

import (
	"strconv"

	"example.com/h2flow/frame"
)

var eventNames = [...]string{
	None: "none", Opened: "opened", Interim: "interim", Response: "response", Data: "data", Trailers: "trailers",
	Sendable: "sendable", SendStopped: "send-stopped", StreamError: "stream-error", Settings: "settings",
	SettingsAcked: "settings-acked", Pong: "pong", GoAway: "goaway", Stalled: "stalled", AltSvc: "altsvc",
	Origins: "origins", Closed: "closed",
}

// String names the kind in lower case.
func (k EventKind) String() string {
	if int(k) < len(eventNames) {
		return eventNames[k]
	}
	return "EventKind(" + strconv.Itoa(int(k)) + ")"
}

// String is the event as one transcript line, such as "data stream=1 len=17 END_STREAM". What is measured (round-trip
// times, stalls) and the octets of data are left out.
func (ev Event) String() string {
	b := []byte(ev.Kind.String())
	if ev.Stream != 0 {
		b = strconv.AppendUint(append(b, " stream="...), uint64(ev.Stream), 10)
	}
	switch ev.Kind {
	case Interim, Response:
		b = strconv.AppendInt(append(b, " status="...), int64(ev.Status), 10)
		if ev.Kind == Response && ev.ContentLength >= 0 {
			b = strconv.AppendInt(append(b, " length="...), ev.ContentLength, 10)
		}
		b = appendFields(b, ev.Fields)
	case Trailers:
		b = appendFields(b, ev.Fields)
	case Data, AltSvc, Origins:
		b = strconv.AppendInt(append(b, " len="...), int64(len(ev.Data)), 10)
	}
	if ev.Err != nil {
		b = ev.Err.appendText(b)
	}
	if ev.End {
		b = append(b, " END_STREAM"...)
	}
	return string(b)
}

func appendFields(b []byte, fields []frame.Field) []byte {
	for _, f := range fields {
		b = strconv.AppendQuoteToASCII(append(append(append(b, ' '), f.Name...), '='), f.Value)
	}
	return b
}

// appendText appends what an error says, but for the words.
func (e *Error) appendText(b []byte) []byte {
	b = append(append(b, ' '), e.Code.String()...)
	if e.GoAway {
		b = strconv.AppendUint(append(b, " last="...), uint64(e.LastStream), 10)
	}
	for _, x := range []struct {
		is   bool
		text string
	}{
		{e.Origin == Peer, " by-peer"},
		{e.Scope == ScopeConnection && e.Stream != 0, " with-connection"},
		{e.NotProcessed, " not-processed"},
		{e.Answered, " answered"},
	} {
		if x.is {
			b = append(b, x.text...)
		}
	}
	return b
}
