package h2http

import (
	"cmp"
	"log/slog"

	"example.com/h2flow"
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/strategy"
	"example.com/h2flow/trace"
)

// engineConfig is the configuration of one connection.
func (t *Transport) engineConfig() *h2flow.Config {
	cfg := &h2flow.Config{
		Flow:                          t.Flow,
		ReadBufferSize:                t.ReadBufferSize,
		WriteBufferSize:               t.WriteBufferSize,
		MaxReadFrameSize:              setting(t.MaxReadFrameSize, DefaultMaxReadFrameSize),
		MaxHeaderListSize:             setting(t.headerListSize(), DefaultMaxHeaderListSize),
		MaxConcurrentStreams:          t.MaxConcurrentStreams,
		AdvertiseMaxConcurrentStreams: t.AdvertiseMaxConcurrentStreams,
		StallTimeout:                  t.StallTimeout,
		PingInterval:                  t.PingInterval,
		PingTimeout:                   t.PingTimeout,
		WriteTimeout:                  t.WriteTimeout,
		Budget:                        t.Budget,
		OnFrame:                       t.OnFrame,
		OnEvent:                       t.eventHook(),
	}
	h := t.HTTP2
	if h == nil {
		return cfg
	}
	cfg.PingInterval = cmp.Or(cfg.PingInterval, h.SendPingTimeout)
	cfg.PingTimeout = cmp.Or(cfg.PingTimeout, h.PingTimeout)
	cfg.WriteTimeout = cmp.Or(cfg.WriteTimeout, h.WriteByteTimeout)
	if t.MaxReadFrameSize == 0 && frame.MinMaxFrameSize <= h.MaxReadFrameSize && h.MaxReadFrameSize <= 1<<24 {
		cfg.MaxReadFrameSize = uint32(min(h.MaxReadFrameSize, frame.MaxMaxFrameSize))
	}
	if 0 < h.MaxDecoderHeaderTableSize && h.MaxDecoderHeaderTableSize < 4<<20 {
		cfg.HeaderTableSize = int64(h.MaxDecoderHeaderTableSize)
	}
	if 0 < h.MaxEncoderHeaderTableSize && h.MaxEncoderHeaderTableSize < 4<<20 {
		cfg.MaxEncoderTableSize = int64(h.MaxEncoderHeaderTableSize)
	}
	if cfg.Flow == nil {
		cfg.Flow = receiveBuffers(int64(h.MaxReceiveBufferPerStream), int64(h.MaxReceiveBufferPerConnection))
	}
	return cfg
}

// receiveBuffers is the strategy with the windows that an http.HTTP2Config names; nil if it names none that are valid
// by its own rules.
func receiveBuffers(stream, conn int64) flow.Config {
	if stream < 0 || stream >= 4<<20 {
		stream = 0
	}
	if conn < 64<<10 || conn >= 4<<20 {
		conn = 0
	}
	switch {
	case stream == 0 && conn == 0:
		return nil
	case stream == 0:
		stream = conn
	case conn == 0:
		// A connection window as low as one stream's would let one reader that pauses stop all others.
		conn = max(4*stream, flow.DefaultWindow)
	}
	return strategy.Fixed{Stream: stream, Conn: conn}
}

func (t *Transport) headerListSize() int64 {
	return cmp.Or(t.MaxHeaderListSize, t.MaxResponseHeaderBytes)
}

// setting reads a field whose zero means def and whose negative values mean that nothing is sent, which is 0 in the
// engine's configuration.
func setting(field, def int64) uint32 {
	switch {
	case field < 0:
		return 0
	case field == 0:
		field = def
	}
	return uint32(min(field, 1<<32-1))
}

func (t *Transport) strictConcurrency() bool {
	return t.StrictMaxConcurrentRequests || t.HTTP2 != nil && t.HTTP2.StrictMaxConcurrentRequests
}

func (t *Transport) permitProhibitedCipherSuites() bool {
	return t.HTTP2 != nil && t.HTTP2.PermitProhibitedCipherSuites
}

// eventHook is what the connections tell their events: OnEvent and the Logger.
func (t *Transport) eventHook() func(h2flow.Event) {
	if t.Logger == nil {
		return t.OnEvent
	}
	log := trace.Slog(t.Logger, slog.LevelDebug)
	if t.OnEvent == nil {
		return log
	}
	return func(ev h2flow.Event) {
		log(ev)
		t.OnEvent(ev)
	}
}
