package conn

import (
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
)

// A Config says how one connection behaves. Strategy, Encoder and Decoder are required; every other zero value works,
// and an option that is not set changes no octet on the wire.
type Config struct {
	// Strategy decides every WINDOW_UPDATE of this connection. It must serve no other connection.
	Strategy flow.Strategy

	// Encoder and Decoder are the field block codecs of this connection, in their initial state.
	Encoder FieldEncoder
	Decoder FieldDecoder

	// MaxReadFrameSize is the largest frame payload to receive, in octets, sent as SETTINGS_MAX_FRAME_SIZE.
	// Zero means 16,384 and sends nothing. Values are brought into the range 16,384 to 16,777,215.
	MaxReadFrameSize uint32

	// MaxHeaderListSize limits a received field section, as name + value + 32 octets for each field line, sent as
	// SETTINGS_MAX_HEADER_LIST_SIZE. Zero means a limit of DefaultMaxHeaderListSize that is not sent.
	MaxHeaderListSize uint32

	// HeaderTableSize is the size of the table that the peer's encoder may use, in octets, sent as
	// SETTINGS_HEADER_TABLE_SIZE. Zero means 4,096 and sends nothing; negative means no table at all.
	HeaderTableSize int64

	// MaxEncoderTableSize caps the table that our encoder uses however large a one the peer allows. Zero means 4,096;
	// negative means no table at all.
	MaxEncoderTableSize int64

	// MaxConcurrentStreams is our own cap of streams open at once. The lower of it and the peer's
	// SETTINGS_MAX_CONCURRENT_STREAMS counts; streams above it wait in order. Zero means the peer's alone.
	MaxConcurrentStreams uint32

	// AdvertiseMaxConcurrentStreams is sent as SETTINGS_MAX_CONCURRENT_STREAMS, which limits the streams that the
	// peer may open; since push is off it limits nothing, but some peers look at it. Zero sends nothing.
	AdvertiseMaxConcurrentStreams uint32

	// MaxQueuedStreams limits the streams that wait for a slot; Open fails above it. Zero means 10,000.
	MaxQueuedStreams int

	// StallTimeout is how long a body may make no progress, by the peer or by a grant, before the stall is reported.
	// Zero means 10 seconds, negative never.
	StallTimeout time.Duration

	// PrefaceTimeout is how long to wait for the peer's first SETTINGS. Zero means 10 seconds, negative for ever.
	PrefaceTimeout time.Duration

	// SettingsTimeout is how long to wait for the acknowledgement of our SETTINGS. Zero means 60 seconds, negative
	// for ever. See RFC 9113, Section 6.5.3.
	SettingsTimeout time.Duration

	// PingInterval is how long nothing may arrive, while streams are open, before a PING asks whether the peer is
	// alive. Zero means 30 seconds, negative never.
	PingInterval time.Duration

	// PingTimeout is how long to wait for the answer to that PING before the connection is given up. Zero means
	// 15 seconds.
	PingTimeout time.Duration

	// FirstStreamID is the identifier of the first stream, odd. Zero means 1.
	FirstStreamID frame.StreamID

	// OnFrame, if not nil, is told of every frame as it is packed or parsed. It must not call the connection.
	OnFrame func(FrameTrace)
}

// A FrameTrace is one frame that was sent or received.
type FrameTrace struct {
	Now    time.Time
	Sent   bool
	Header frame.Header
	// Payload is the whole payload, borrowed for the call; nil for DATA, for frames that are skipped, and for field
	// block frames, whose content Fields tells.
	Payload []byte
	// Fields are the decoded field lines, borrowed for the call, on the frame that ends the field block.
	Fields []frame.Field
}

// A FieldEncoder turns field lines into field blocks for one connection. Blocks must reach the peer in the order in
// which they were encoded. See RFC 7541.
type FieldEncoder interface {
	// AppendField appends the representation of f to dst. The first field after a change of the table size is
	// preceded by the size updates that are due.
	AppendField(dst []byte, f frame.Field) []byte
	// SetMaxTableSize tells the size that the peer allows for the table, in octets; the encoder may use less.
	SetMaxTableSize(n uint32)
}

// A FieldDecoder turns field blocks into field lines for one connection.
type FieldDecoder interface {
	// Decode consumes the next fragment of a field block, in any chunking, and calls emit for each complete field
	// line. Once emit has returned false it is not called again in this block, but decoding goes on, so that the
	// table stays in step with the peer's. An error is final for the connection: COMPRESSION_ERROR.
	Decode(fragment []byte, emit func(frame.Field) bool) error
	// EndBlock says that the block is complete; it fails if the block ends within a representation.
	EndBlock() error
	// SetMaxTableSize tells that the peer acknowledged our SETTINGS_HEADER_TABLE_SIZE of n octets. If that is below
	// the size in use, the next block must begin with a size update. See RFC 9113, Section 4.3.1.
	SetMaxTableSize(n uint32)
}
