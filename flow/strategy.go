package flow

import "time"

// A Strategy decides every WINDOW_UPDATE of one connection.
//
// One value serves one connection and is never shared; the calls for it never overlap. A Strategy is pure: it reads no
// clock (now is the first argument), starts no goroutine and does no I/O, so the same events give the same actions.
//
// What it may ask for is checked by the connection; see Action.
type Strategy interface {
	// Open returns the windows to advertise in the connection preface.
	Open(now time.Time) Windows

	// Decide is told one thing that happened and appends to dst what should be granted because of it. The event is
	// passed by value and holds no references; dst belongs to the caller and must not be kept.
	Decide(now time.Time, ev Event, dst []Action) []Action

	// Deadline is when Decide wants a Tick event if nothing else happens; the zero time means never. One that a Tick
	// leaves in the past means a millisecond after that Tick.
	Deadline() time.Time
}

// A Config makes Strategies. It is what users hold and share: each connection gets a fresh Strategy from New.
// String describes the Config so that strategy.Parse reads it back.
type Config interface {
	New() Strategy
	String() string
}

// DefaultWindow is the window that both levels start from in every HTTP/2 connection, in octets.
// See RFC 9113, Section 6.9.2.
const DefaultWindow = 65535

// MaxWindow is the largest window the protocol can express, in octets. See RFC 9113, Section 6.9.1.
const MaxWindow = 1<<31 - 1

// Windows are the receive windows advertised in the preface, in octets.
type Windows struct {
	// Stream becomes SETTINGS_INITIAL_WINDOW_SIZE. DefaultWindow sends no setting. Range 0 to MaxWindow.
	Stream int64

	// Conn is the connection window. What exceeds DefaultWindow goes out as one WINDOW_UPDATE on stream 0; a value
	// below DefaultWindow cannot be expressed and means DefaultWindow. Range up to MaxWindow.
	Conn int64
}

// Offsets describe one receive window by four absolute octet counts since the window was opened:
//
//	Consumed <= Received <= Charged <= Granted
//
// Only a lowered initial window may leave Granted below Charged. See RFC 9113, Section 6.9.2.
type Offsets struct {
	// Consumed counts octets that the application took, and octets it will never see: padding, discarded DATA.
	Consumed int64
	// Received counts octets of DATA payload that arrived.
	Received int64
	// Charged counts what the peer's window lost: a whole frame's payload from the moment its header is read.
	Charged int64
	// Granted counts the octets that the peer was ever allowed to send.
	Granted int64
}

// Window is what the peer may still send, in octets; negative after a lowered initial window.
func (o Offsets) Window() int64 { return o.Granted - o.Charged }

// Unread is how many octets sit in memory, received and not consumed.
func (o Offsets) Unread() int64 { return o.Received - o.Consumed }

// Due is how many octets were consumed but are not yet granted again, for a constant window of size octets:
// granting Due restores the window to size.
func (o Offsets) Due(size int64) int64 { return o.Consumed + size - o.Granted }

// EventKind says what happened.
type EventKind uint8

// The events a Strategy is told. Fields of Event that a kind does not mention are zero, but for the state fields
// (StreamWindow, ConnWindow, InitialWindow, OpenStreams, Pings), which every event carries.
const (
	// StreamOpened: HEADERS of Stream were packed for sending. Grants on Stream are allowed from now on.
	StreamOpened EventKind = iota + 1
	// ResponseHead: the final response head of Stream arrived. N is its content length or -1; End says that no body follows.
	ResponseHead
	// FrameStart: the header of a DATA frame of N octets (padding included) was read and charged on both levels.
	FrameStart
	// Received: N octets of DATA arrived. End says that the peer ended the stream with them.
	Received
	// Padding: N octets of padding, its length octet included, arrived; they count as consumed at once.
	Padding
	// Consumed: the application took N octets of Stream in one read.
	Consumed
	// Discarded: N octets arrived, or were buffered, that nobody will read (the stream was reset or closed). They
	// count as consumed. Stream is 0 when the stream is no longer known; only the connection window is affected then.
	Discarded
	// ReaderWaiting: the application waits for data of Stream, with room for N octets, and nothing is unread.
	ReaderWaiting
	// ReaderAway: the application that was waiting for data of Stream waits no more.
	ReaderAway
	// StreamClosed: Stream ended. N octets were unread; they count as consumed on the connection.
	StreamClosed
	// SettingsAcked: the peer acknowledged our SETTINGS.
	SettingsAcked
	// PingSent: a PING that the strategy asked for was packed for sending.
	PingSent
	// RTTSample: RTT was measured by Source.
	RTTSample
	// ActionRefused: Action was not carried out, because of Refusal.
	ActionRefused
	// GoAway: the peer sent GOAWAY; no new stream will open on this connection.
	GoAway
	// Tick: the Deadline that the strategy gave has passed.
	Tick
)

// RTTSource says where a round-trip time comes from.
type RTTSource uint8

// The sources of RTT samples.
const (
	// SourcePing: from a PING to its acknowledgement.
	SourcePing RTTSource = iota + 1
	// SourceSettings: from our SETTINGS to their acknowledgement.
	SourceSettings
	// SourcePassive: from a request's HEADERS to the first octet of its response, or the like; an upper bound.
	SourcePassive
	// SourceKernel: the operating system's own estimate for the transport; a lower bound behind a proxy.
	SourceKernel
)

// An Event is one thing that happened on a connection, with the state of both windows after it.
type Event struct {
	Kind    EventKind
	Source  RTTSource // RTTSample
	Refusal Refusal   // ActionRefused
	End     bool      // ResponseHead, Received
	Stream  uint32    // 0 for events of the connection

	N      int64         // octets, or the content length; see the kinds
	RTT    time.Duration // RTTSample
	Action Action        // ActionRefused

	StreamWindow  Offsets // of Stream; zero if Stream is 0 or no longer known
	ConnWindow    Offsets
	InitialWindow int64 // the initial stream window in force, in octets
	OpenStreams   int   // streams that are open or half-closed
	Pings         int   // PINGs sent since our last HEADERS, DATA or WINDOW_UPDATE
}

// ActionKind says what a strategy asks for.
type ActionKind uint8

// The actions.
const (
	// ActGrantStream asks for WINDOW_UPDATE of N octets on Stream.
	ActGrantStream ActionKind = iota + 1
	// ActGrantConn asks for WINDOW_UPDATE of N octets on the connection.
	ActGrantConn
	// ActSetInitialWindow asks for a SETTINGS frame that sets the initial stream window to N octets. The windows of
	// all open streams move with it.
	ActSetInitialWindow
	// ActPing asks for a PING, to measure the round-trip time.
	ActPing
)

// An Action is one thing that a strategy asks for. The connection checks it: a grant is at least 1 and never takes a
// window past MaxWindow, PINGs stay within PingBudget. An action that fails the check is dropped and told back as
// ActionRefused; a grant on a stream that has just closed is dropped silently.
type Action struct {
	Kind   ActionKind
	Stream uint32
	N      int64
}

// GrantStream asks for WINDOW_UPDATE of n octets on stream id.
func GrantStream(id uint32, n int64) Action { return Action{Kind: ActGrantStream, Stream: id, N: n} }

// GrantConn asks for WINDOW_UPDATE of n octets on the connection.
func GrantConn(n int64) Action { return Action{Kind: ActGrantConn, N: n} }

// SetInitialWindow asks to change the initial stream window to n octets by SETTINGS.
func SetInitialWindow(n int64) Action { return Action{Kind: ActSetInitialWindow, N: n} }

// Ping asks for a PING.
func Ping() Action { return Action{Kind: ActPing} }

// Refusal says why an action was not carried out.
type Refusal uint8

// The reasons for refusing an action.
const (
	// RefusedIncrement: a grant below 1 octet.
	RefusedIncrement Refusal = iota + 1
	// RefusedOverflow: the window would exceed MaxWindow.
	RefusedOverflow
	// RefusedPingOutstanding: another PING is unanswered.
	RefusedPingOutstanding
	// RefusedPingBudget: too many PINGs lately.
	RefusedPingBudget
	// RefusedStream: the stream never existed, or its HEADERS have not left yet.
	RefusedStream
	// RefusedInitialWindow: an initial window outside 0 to MaxWindow, or an earlier change still unacknowledged.
	RefusedInitialWindow
	// RefusedClosed: the connection is closing.
	RefusedClosed
)
