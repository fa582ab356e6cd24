package conn

import "time"

// Every resource that a peer can make this side spend has its limit here, with the abuse that it stops. Exceeding one
// ends the stream or the connection with ENHANCE_YOUR_CALM unless said otherwise. See RFC 9113, Section 10.5.
const (
	// DefaultMaxHeaderListSize is the limit of a received field section when the Config sets none, in octets counted
	// as name + value + 32 for each field line. Stops a section that fills the memory. The stream fails with CANCEL,
	// the connection goes on. See RFC 9113, Section 10.5.1.
	DefaultMaxHeaderListSize = 256 << 10

	// maxFields is the number of field lines in a section, each crumb and repetition counted: a line costs bookkeeping
	// that its octets on the wire (one, for an indexed field) do not show.
	maxFields = 1000

	// blockFactor times the limit of a section, plus blockSlack, is what a field block may be long, encoded. A section
	// that is merely too large ends below that: it fails its own stream, and not all others with the connection.
	blockFactor = 4
	blockSlack  = 4 << 10

	// maxBlockFramesBase, plus one for each 16 KiB of the section limit, is the number of frames that one field block
	// may be split into; maxEmptyBlockFrames of them may be empty. Stops endless CONTINUATION.
	maxBlockFramesBase  = 8
	maxEmptyBlockFrames = 4

	// maxInterim is the number of 1xx heads of one stream; their fields share the section limit. Stops a server that
	// announces for ever and never answers.
	maxInterim = 20

	// maxSettings is the number of settings in one SETTINGS frame.
	maxSettings = 32

	// maxControlReplies is the number of acknowledgements waiting to be sent. Stops a peer that floods
	// PING or SETTINGS and does not read.
	maxControlReplies = 1000

	// maxGoAwayFrames and maxDebugData bound GOAWAY: how many may come, and what is kept of the debug data, in octets.
	maxGoAwayFrames = 10
	maxDebugData    = 1 << 10

	// maxExtensionPayload is what is kept of an ALTSVC or ORIGIN frame, in octets; longer ones are skipped.
	maxExtensionPayload = 4 << 10

	// maxPromises is the number of streams that the peer may promise before it knows that push is off; each is refused.
	maxPromises = 100

	// maxFaults in faultPeriod is the number of streams that may end by an error of the peer's. Stops a peer that makes
	// this side reset stream after stream.
	maxFaults   = 100
	faultPeriod = 30 * time.Second

	// glitchBurst and glitchesPerSecond are the budget for what is legal but useless: empty DATA, frames on closed
	// streams, unknown frames, PRIORITY, repeated SETTINGS, unasked-for acknowledgements, needless WINDOW_UPDATE. A
	// bucket that refills, not a count for life, so that a connection may live for weeks.
	glitchBurst       = 10000
	glitchesPerSecond = 330

	// minCrossingData is the payload, in octets, from which a DATA frame that crossed our reset is no glitch, as long as
	// the stream's window allowed it. A peer could cut a window of 16 MiB into as many frames of one octet.
	minCrossingData = 256

	// maxClosedMemory is the number of closed streams whose way of closing is remembered, to judge late frames.
	maxClosedMemory = 128

	// initialMaxConcurrentStreams holds until the peer's SETTINGS have come. RFC 9113, Section 6.5.2 recommends that
	// no peer sets less than 100.
	initialMaxConcurrentStreams = 100

	// defaultMaxQueuedStreams is the number of streams that may wait for a slot.
	defaultMaxQueuedStreams = 10000
)

// The default times; see Config.
const (
	defaultStallTimeout    = 10 * time.Second
	defaultPrefaceTimeout  = 10 * time.Second
	defaultSettingsTimeout = 60 * time.Second
	defaultPingInterval    = 30 * time.Second
	defaultPingTimeout     = 15 * time.Second
)

// glitches is a token bucket: spend takes from it, time refills it.
type glitches struct {
	spent float64
	last  time.Time
}

// spend charges cost and reports whether the budget still holds.
func (g *glitches) spend(now time.Time, cost float64) bool {
	if !g.last.IsZero() {
		g.spent = max(0, g.spent-now.Sub(g.last).Seconds()*glitchesPerSecond)
	}
	g.last = now
	g.spent += cost
	return g.spent <= glitchBurst
}
