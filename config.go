package h2flow

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"example.com/h2flow/conn"
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/strategy"
)

// A Field is one field line: a name, in lower case, and a value.
type Field = frame.Field

// An ErrCode is the reason of a RST_STREAM or GOAWAY frame. See RFC 9113, Section 7.
type ErrCode = frame.ErrCode

// A FrameTrace is one frame that was sent or received; see Config.OnFrame.
type FrameTrace = conn.FrameTrace

// A Config says how connections behave. The zero value and a nil *Config work. One Config may serve any number of
// connections and must not be changed while it does.
type Config struct {
	// Flow is the flow-control strategy: it decides the windows that are advertised and every WINDOW_UPDATE. Nil means
	// strategy.Auto{}.
	//
	// Both levels matter. A stream gets at most its own window and at most the connection's in a round trip, so a
	// large stream window above a connection window of 65,535 octets changes nothing on a path with latency: 10 MiB
	// then take about 160 round trips. One client that could raise the stream's alone was measured 21 times slower
	// than HTTP/1.1. And windows that are large from the beginning are memory that a peer may fill: with a fixed window
	// of 32 MiB, 100 responses that nobody reads hold 32 MiB of one connection, or 3.2 GiB if the connection window
	// allows it. A strategy that grows both windows ahead of need is the answer.
	Flow flow.Config

	// Budget, if not nil, bounds the memory that all connections which share it may promise to their peers together,
	// whatever their strategies want. A strategy's own bound is one for each connection.
	Budget *Budget

	// ReadBufferSize is the size of the buffer for reading from the transport, in octets. Zero means 64 KiB. Larger
	// ones save system calls on fast paths.
	ReadBufferSize int

	// WriteBufferSize is how much may be packed for one write to the transport, in octets, DATA included. Zero means
	// 64 KiB. Larger ones make fast uploads cheaper.
	WriteBufferSize int

	// MaxReadFrameSize is the largest frame to receive, in octets, sent as SETTINGS_MAX_FRAME_SIZE. Zero means 16,384
	// and sends nothing. A server that honours a larger one spends less on each octet.
	MaxReadFrameSize uint32

	// MaxHeaderListSize limits a received header section, in octets counted as name + value + 32 for each field, sent
	// as SETTINGS_MAX_HEADER_LIST_SIZE. Zero means 256 KiB, which is not sent.
	MaxHeaderListSize uint32

	// HeaderTableSize is the size of the table that the peer's encoder may use, in octets, sent as
	// SETTINGS_HEADER_TABLE_SIZE. Zero means 4,096 and sends nothing; negative means none.
	HeaderTableSize int64

	// MaxEncoderTableSize caps the table that our encoder uses, in octets. Zero means 4,096; negative means none.
	MaxEncoderTableSize int64

	// MaxConcurrentStreams is our own cap of streams open at once on one connection. The lower of it and the peer's
	// limit counts; further ones wait for their turn. Zero means the peer's limit alone. It sends nothing.
	MaxConcurrentStreams uint32

	// AdvertiseMaxConcurrentStreams is sent as SETTINGS_MAX_CONCURRENT_STREAMS. That setting limits the streams that
	// the peer may open by pushing, which is off, and not ours; some servers look at it all the same. Zero sends nothing.
	AdvertiseMaxConcurrentStreams uint32

	// StallTimeout is how long a body may make no progress, with no window left and nothing granted, before reading it
	// fails with a description of the windows. Zero means 10 seconds, negative never.
	StallTimeout time.Duration

	// PrefaceTimeout is how long to wait for the peer's first SETTINGS. Zero means 10 seconds, negative for ever.
	PrefaceTimeout time.Duration

	// SettingsTimeout is how long to wait for the acknowledgement of our SETTINGS. Zero means 60 seconds, negative for
	// ever.
	SettingsTimeout time.Duration

	// PingInterval is how long nothing may arrive, while streams are open, before a PING asks whether the peer is
	// alive. Zero means 30 seconds, negative never. PingTimeout is how long its answer may take; zero means 15 seconds.
	PingInterval time.Duration
	PingTimeout  time.Duration

	// WriteTimeout is how long the transport may take nothing of a write before the connection is given up; of TLS, how
	// long it may take for one record, 16 KiB at most, since a record that was cut ends the connection. Zero means 30
	// seconds, negative for ever.
	WriteTimeout time.Duration

	// Reader says who reads the transport. Zero, ReaderAuto, is right unless you know better.
	Reader ReaderMode

	// OnFrame, if not nil, is told of every frame as it is packed or parsed. It is called with the connection locked:
	// it must be quick and must not call the connection. What it is given is borrowed for the call.
	OnFrame func(FrameTrace)

	// OnEvent, if not nil, is told what happens on the connection: its life, its streams, every frame, and every decision
	// of the flow control. It is called as OnFrame is, and what events point to is borrowed for the call.
	OnEvent func(Event)

	// OnStateChange, if not nil, is called when State may have got better, or worse for good: a stream has ended, the
	// peer's limits have changed, the connection takes no new streams or is over. It is called with the connection locked
	// and must not call the connection; State tells what changed to whoever asks later.
	OnStateChange func()

	// TLSConfig, DialContext and TLSHandshakeTimeout serve Dial and DialCleartext. A nil TLSConfig means the zero one;
	// its NextProtos are replaced by "h2". A nil DialContext means a zero net.Dialer. A handshake may take 10 seconds
	// if TLSHandshakeTimeout is zero, for ever if it is negative.
	TLSConfig           *tls.Config
	DialContext         func(ctx context.Context, network, addr string) (net.Conn, error)
	TLSHandshakeTimeout time.Duration
}

// ReaderMode says who reads the transport of a connection.
type ReaderMode uint8

const (
	// ReaderAuto shares the reading where that is known to be safe, on TCP and Unix sockets and TLS over them, and
	// reads in the background elsewhere.
	ReaderAuto ReaderMode = iota
	// ReaderBackground has one goroutine read for all.
	ReaderBackground
	// ReaderShared lets the goroutine that waits for data read it, which spares a hand-over for each piece. The
	// transport's SetReadDeadline must wake a blocked Read and lose nothing.
	ReaderShared
)

const (
	defaultBufferSize       = 64 << 10
	minBufferSize           = 4 << 10
	defaultWriteTimeout     = 30 * time.Second
	defaultHandshakeTimeout = 10 * time.Second
)

// flowConfig is the strategy to use.
func (cfg *Config) flowConfig() flow.Config {
	if cfg.Flow == nil {
		return strategy.Auto{}
	}
	return cfg.Flow
}

func bufferSize(n int) int {
	if n <= 0 {
		return defaultBufferSize
	}
	return max(n, minBufferSize)
}

func timeoutOr(d, def time.Duration) time.Duration {
	switch {
	case d == 0:
		return def
	case d < 0:
		return 0
	}
	return d
}

// newStrategy makes the strategy of one connection. The function is to be called when the connection is over.
func (cfg *Config) newStrategy(e *events) (s flow.Strategy, over func()) {
	s = cfg.flowConfig().New()
	if cfg.Budget == nil {
		return e.watch(s), func() {}
	}
	b := &budgeted{Strategy: s, budget: cfg.Budget}
	return e.watch(b), b.close
}

// coreConfig is what package conn needs of cfg, for one connection.
func (cfg *Config) coreConfig(s flow.Strategy, e *events) conn.Config {
	tableCap := uint32(initialHeaderTableSize)
	if cfg.MaxEncoderTableSize != 0 {
		tableCap = uint32(min(max(cfg.MaxEncoderTableSize, 0), 1<<31-1))
	}
	return conn.Config{
		Strategy:                      s,
		Encoder:                       NewFieldEncoder(tableCap),
		Decoder:                       NewFieldDecoder(),
		MaxReadFrameSize:              cfg.MaxReadFrameSize,
		MaxHeaderListSize:             cfg.MaxHeaderListSize,
		HeaderTableSize:               cfg.HeaderTableSize,
		MaxEncoderTableSize:           cfg.MaxEncoderTableSize,
		MaxConcurrentStreams:          cfg.MaxConcurrentStreams,
		AdvertiseMaxConcurrentStreams: cfg.AdvertiseMaxConcurrentStreams,
		StallTimeout:                  cfg.StallTimeout,
		PrefaceTimeout:                cfg.PrefaceTimeout,
		SettingsTimeout:               cfg.SettingsTimeout,
		PingInterval:                  cfg.PingInterval,
		PingTimeout:                   cfg.PingTimeout,
		OnFrame:                       e.frames(cfg.OnFrame),
	}
}
