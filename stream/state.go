package stream

import "example.com/h2flow/frame"

// A State is a stream's place in its life cycle. See RFC 9113, Section 5.1.
type State uint8

// The states.
const (
	// Idle: not used yet.
	Idle State = iota
	// ReservedRemote: promised by the peer's PUSH_PROMISE.
	ReservedRemote
	// Open: both sides may send.
	Open
	// HalfClosedLocal: this side has sent END_STREAM.
	HalfClosedLocal
	// HalfClosedRemote: the peer has sent END_STREAM.
	HalfClosedRemote
	// ClosedEnded: both sides have sent END_STREAM.
	ClosedEnded
	// ClosedSentReset: this side has sent RST_STREAM; the peer may not know yet.
	ClosedSentReset
	// ClosedRecvReset: the peer has sent RST_STREAM.
	ClosedRecvReset
	// ClosedForgotten: closed so long ago that the way is no longer known, or skipped.
	ClosedForgotten

	numStates
)

var stateNames = [numStates]string{
	"idle", "reserved(remote)", "open", "half-closed(local)", "half-closed(remote)",
	"closed(ended)", "closed(reset sent)", "closed(reset received)", "closed(forgotten)",
}

// String is the RFC's name for the state.
func (s State) String() string {
	if s < numStates {
		return stateNames[s]
	}
	return "State(?)"
}

// Closed reports whether the stream is over.
func (s State) Closed() bool { return s >= ClosedEnded && s < numStates }

// Counts reports whether the stream counts against SETTINGS_MAX_CONCURRENT_STREAMS: open and both half-closed states
// do, reserved ones do not. RFC 9113, Section 5.1.2 (9113-5.1.2-3).
func (s State) Counts() bool { return s == Open || s == HalfClosedLocal || s == HalfClosedRemote }

// CanSend reports whether HEADERS and DATA may be sent.
func (s State) CanSend() bool { return s == Open || s == HalfClosedRemote }

// CanReceive reports whether the peer may still send HEADERS and DATA.
func (s State) CanReceive() bool { return s == Open || s == HalfClosedLocal }

// An Input is what can happen to a stream. A frame with END_STREAM is two inputs: the frame, then the end.
type Input uint8

// The inputs.
const (
	SendHeaders Input = iota
	SendData
	SendEndStream
	SendReset
	SendWindowUpdate
	RecvHeaders
	RecvData
	RecvEndStream
	RecvReset
	RecvWindowUpdate
	RecvPriority
	// RecvPushPromise: a PUSH_PROMISE frame on this stream, which promises another.
	RecvPushPromise
	// RecvPromised: this stream is the one promised.
	RecvPromised

	numInputs
)

var inputNames = [numInputs]string{
	"send HEADERS", "send DATA", "send END_STREAM", "send RST_STREAM", "send WINDOW_UPDATE",
	"recv HEADERS", "recv DATA", "recv END_STREAM", "recv RST_STREAM", "recv WINDOW_UPDATE", "recv PRIORITY",
	"recv PUSH_PROMISE", "recv promised",
}

// String names the direction and the frame or flag.
func (i Input) String() string {
	if i < numInputs {
		return inputNames[i]
	}
	return "Input(?)"
}

// A Verdict says what an input means in a state.
type Verdict struct {
	Kind VerdictKind
	Code frame.ErrCode // of StreamFault and ConnFault
}

// VerdictKind is what to do with an input.
type VerdictKind uint8

// The verdicts. The zero value is Illegal: what the table does not list is a bug of this side for a Send input.
const (
	Illegal VerdictKind = iota
	// Accept: go on, in the new state.
	Accept
	// Ignore: drop the frame after the minimal processing that keeps the connection's state right: field blocks are
	// still decoded, DATA still counts. RFC 9113, Section 5.1 (9113-5.1-14 to 16).
	Ignore
	// StreamFault: a stream error of type Code.
	StreamFault
	// ConnFault: a connection error of type Code.
	ConnFault
)

// String reads like "connection error PROTOCOL_ERROR".
func (v Verdict) String() string {
	switch v.Kind {
	case Accept:
		return "ok"
	case Ignore:
		return "ignore"
	case StreamFault:
		return "stream error " + v.Code.String()
	case ConnFault:
		return "connection error " + v.Code.String()
	}
	return "bug"
}

// Next returns the state after input in s, and what to make of it. Unless the verdict is Accept, the state is s.
func Next(s State, in Input) (State, Verdict) {
	t := transitions[s][in]
	if t.verdict.Kind != Accept {
		return s, t.verdict
	}
	return t.next, t.verdict
}
