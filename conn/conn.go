package conn

import (
	"math"
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
)

// A Conn is the client's side of one HTTP/2 connection, without I/O, clock or locks: octets and time go in, octets,
// events and a deadline come out. It is not safe for concurrent use.
//
// Model: what is to be sent is state (counts, lists, pending grants), collected by AppendOutput alone in one order;
// what arrived is parsed only when NextEvent asks. After a connection error every input is a no-op.
type Conn struct {
	cfg Config
	now time.Time

	input  input
	block  fieldBlock
	events eventQueue
	out    output
	timers timers

	streams    map[frame.StreamID]*streamRecord
	last       *streamRecord // the one looked up last
	free       []*streamRecord
	closed     closedMemory
	nextID     frame.StreamID // of the next Open
	maxOpened  frame.StreamID // the highest whose HEADERS were packed
	queue      streamQueue    // opened here, HEADERS not packed yet
	openCount  int            // streams that count against the limit on concurrent streams
	maxPromise frame.StreamID
	promises   int

	// The receive side of flow control. recvBase is the initial stream window that holds for what arrives, recvTarget
	// the one that was asked for last; they differ while a lowered one is not acknowledged.
	recv        flow.Receive
	recvBase    flow.Base
	recvTarget  int64
	connGrant   int64 // accepted, not packed
	pings       flow.PingBudget
	live        liveness
	actions     []flow.Action
	refused     []flow.Event
	connChanged time.Time // when the connection window last saw an octet or a grant

	// The send side of flow control.
	send     flow.SendWindow
	sendBase flow.Base
	blocked  []*streamRecord // SendQuota said 0

	peer        peerSettings
	ownSettings []sentSettings // not acknowledged yet
	outstanding []sentPing     // not answered yet

	life     life
	err      *Error // why it failed
	goAway   peerGoAway
	wroteBye bool // a GOAWAY of ours was packed
	glitches glitches
	faults   faultWindow
	lastRecv time.Time // when something last arrived
	crossing int64     // octets that the peer may have sent on streams of which it did not know yet that we reset them
	updates  int       // WINDOW_UPDATEs that may still come without being a glitch
}

// life is where a connection stands. It only moves forward.
type life uint8

const (
	alive    life = iota
	draining      // no new streams: GOAWAY was sent or received
	closing       // over, GOAWAY still has to leave
	dead          // nothing more to send
)

// peerSettings are the peer's SETTINGS in force.
type peerSettings struct {
	seen            bool
	maxStreams      uint32
	maxFrame        uint32
	maxHeaderList   uint32
	extendedConnect bool
	noOldPriorities bool // it looks at the priorities of RFC 9218
}

// New returns a connection whose preface is ready to be sent. It panics if the Config lacks a Strategy, an Encoder or
// a Decoder.
func New(now time.Time, cfg Config) *Conn {
	if cfg.Strategy == nil || cfg.Encoder == nil || cfg.Decoder == nil {
		panic("h2flow: bug: conn.Config needs a Strategy, an Encoder and a Decoder")
	}
	cfg.normalise()
	c := &Conn{
		cfg:     cfg,
		now:     now,
		streams: make(map[frame.StreamID]*streamRecord),
		nextID:  cfg.FirstStreamID,
		peer: peerSettings{
			maxStreams: initialMaxConcurrentStreams, maxFrame: frame.MinMaxFrameSize, maxHeaderList: math.MaxUint32,
		},
		lastRecv: now,
		updates:  5,
	}
	if flow.LiftsPingBudget(cfg.Strategy) {
		c.pings.Lift()
	}
	c.recv.Init(flow.DefaultWindow)
	c.sendBase = flow.MakeBase(flow.DefaultWindow)
	c.maxOpened = cfg.FirstStreamID - 1
	c.block.emit = c.emitField
	c.queuePreface()
	c.setTimer(timerPreface, cfg.PrefaceTimeout)
	c.timers.at[timerStrategy] = cfg.Strategy.Deadline()
	return c
}

// normalise replaces zero values by what they mean.
func (cfg *Config) normalise() {
	cfg.MaxReadFrameSize = min(max(cfg.MaxReadFrameSize, frame.MinMaxFrameSize), frame.MaxMaxFrameSize)
	setDefault(&cfg.MaxQueuedStreams, defaultMaxQueuedStreams)
	setDefault(&cfg.StallTimeout, defaultStallTimeout)
	setDefault(&cfg.PrefaceTimeout, defaultPrefaceTimeout)
	setDefault(&cfg.SettingsTimeout, defaultSettingsTimeout)
	setDefault(&cfg.PingInterval, defaultPingInterval)
	setDefault(&cfg.PingTimeout, defaultPingTimeout)
	setDefault(&cfg.FirstStreamID, 1)
	setDefault(&cfg.MaxEncoderTableSize, defaultTableSize)
	cfg.MaxEncoderTableSize = min(max(cfg.MaxEncoderTableSize, 0), math.MaxUint32)
}

func setDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// headerListLimit is the limit of a received field section in octets.
func (c *Conn) headerListLimit() int {
	if c.cfg.MaxHeaderListSize == 0 {
		return DefaultMaxHeaderListSize
	}
	return int(min(c.cfg.MaxHeaderListSize, math.MaxInt32))
}

// Done reports whether everything that could be sent was packed and nothing will follow: the transport may be closed.
func (c *Conn) Done() bool { return c.life == dead }

// Available reports whether Open may succeed: the connection is alive and stream identifiers are left.
func (c *Conn) Available() bool { return c.life == alive && c.nextID <= frame.MaxStreamID }

// Err is why the connection failed; nil while it works and after a graceful end.
func (c *Conn) Err() *Error { return c.err }

// OpenStreams is the number of streams that are open or half-closed.
func (c *Conn) OpenStreams() int { return c.openCount }

// QueuedStreams is the number of streams that wait for a slot.
func (c *Conn) QueuedStreams() int { return c.queue.len() }

// MaxConcurrentStreams is the limit in force: the lower of the Config's and the peer's; 2^32-1 means none.
func (c *Conn) MaxConcurrentStreams() uint32 {
	if own := c.cfg.MaxConcurrentStreams; own != 0 {
		return min(own, c.peer.maxStreams)
	}
	return c.peer.maxStreams
}

// LastReceived is when octets last arrived. Until some have since the first of the open streams was opened, it is when
// that was.
func (c *Conn) LastReceived() time.Time { return c.lastRecv }

// SettingsReceived reports whether the peer's first SETTINGS have come.
func (c *Conn) SettingsReceived() bool { return c.peer.seen }

// ExtendedConnect reports whether the peer allows the :protocol pseudo-header field. See RFC 8441, Section 3.
func (c *Conn) ExtendedConnect() bool { return c.peer.extendedConnect }

// RecvWindow returns the connection's receive window.
func (c *Conn) RecvWindow() flow.Offsets { return c.recv.Offsets() }

// touch moves the clock forward; a caller whose time goes backwards is treated as standing still.
func (c *Conn) touch(now time.Time) {
	if now.After(c.now) {
		c.now = now
	}
}
