package flow

import (
	"fmt"
	"strconv"
	"strings"
)

var eventKindNames = [...]string{
	StreamOpened: "StreamOpened", ResponseHead: "ResponseHead", FrameStart: "FrameStart", Received: "Received",
	Padding: "Padding", Consumed: "Consumed", Discarded: "Discarded", ReaderWaiting: "ReaderWaiting",
	ReaderAway: "ReaderAway", StreamClosed: "StreamClosed", SettingsAcked: "SettingsAcked", PingSent: "PingSent",
	RTTSample: "RTTSample", ActionRefused: "ActionRefused", GoAway: "GoAway", Tick: "Tick",
}

var actionKindNames = [...]string{
	ActGrantStream: "GrantStream", ActGrantConn: "GrantConn", ActSetInitialWindow: "SetInitialWindow", ActPing: "Ping",
}

var refusalNames = [...]string{
	RefusedIncrement:       "increment below 1",
	RefusedOverflow:        "window above 2^31-1",
	RefusedPingOutstanding: "another PING is unanswered",
	RefusedPingBudget:      "too many PINGs lately",
	RefusedStream:          "no such stream yet",
	RefusedInitialWindow:   "initial window out of range or not yet acknowledged",
	RefusedClosed:          "the connection is closing",
}

var rttSourceNames = [...]string{
	SourcePing: "ping", SourceSettings: "settings", SourcePassive: "passive", SourceKernel: "kernel",
}

// String is the name of the constant.
func (k EventKind) String() string { return nameOf(eventKindNames[:], uint8(k), "EventKind") }

// String is the name of the constant without its prefix.
func (k ActionKind) String() string { return nameOf(actionKindNames[:], uint8(k), "ActionKind") }

// String says why in words.
func (r Refusal) String() string { return nameOf(refusalNames[:], uint8(r), "Refusal") }

// String is the source in one word.
func (s RTTSource) String() string { return nameOf(rttSourceNames[:], uint8(s), "RTTSource") }

func nameOf(names []string, i uint8, kind string) string {
	if int(i) < len(names) && names[i] != "" {
		return names[i]
	}
	return kind + "(" + strconv.Itoa(int(i)) + ")"
}

// String reads like a line of a transcript: GrantStream stream=1 n=4096.
func (a Action) String() string {
	switch a.Kind {
	case ActPing:
		return a.Kind.String()
	case ActGrantStream:
		return fmt.Sprintf("%s stream=%d n=%d", a.Kind, a.Stream, a.N)
	}
	return fmt.Sprintf("%s n=%d", a.Kind, a.N)
}

// String reads like a line of a transcript, with the windows that are left after the event:
// Consumed stream=1 n=4096 window=61439 conn=61439.
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(e.Kind.String())
	if e.Stream != 0 {
		fmt.Fprintf(&b, " stream=%d", e.Stream)
	}
	switch e.Kind {
	case ResponseHead, FrameStart, Received, Padding, Consumed, Discarded, ReaderWaiting, StreamClosed:
		fmt.Fprintf(&b, " n=%d", e.N)
	case RTTSample:
		fmt.Fprintf(&b, " source=%s rtt=%s", e.Source, e.RTT)
	case ActionRefused:
		fmt.Fprintf(&b, " action=%q refusal=%q", e.Action.String(), e.Refusal.String())
	}
	if e.End {
		b.WriteString(" end")
	}
	if e.Stream != 0 {
		fmt.Fprintf(&b, " window=%d", e.StreamWindow.Window())
	}
	fmt.Fprintf(&b, " conn=%d", e.ConnWindow.Window())
	return b.String()
}
