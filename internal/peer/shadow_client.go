package peer

import (
	"encoding/binary"

	"example.com/h2flow/frame"
)

// definedFlags are the flags that have a meaning for each type. See RFC 9113, Section 6.
var definedFlags = map[frame.Type]frame.Flags{
	frame.TypeData:           frame.FlagEndStream | frame.FlagPadded,
	frame.TypeHeaders:        frame.FlagEndStream | frame.FlagEndHeaders | frame.FlagPadded | frame.FlagPriority,
	frame.TypePriority:       0,
	frame.TypeRSTStream:      0,
	frame.TypeSettings:       frame.FlagAck,
	frame.TypePing:           frame.FlagAck,
	frame.TypeGoAway:         0,
	frame.TypeWindowUpdate:   0,
	frame.TypeContinuation:   frame.FlagEndHeaders,
	frame.TypePriorityUpdate: 0,
}

// clientFrame checks one frame of the client and returns what it says; nil for a part of a field block.
func (s *Shadow) clientFrame(h frame.Header, payload []byte) value {
	s.checkForm(h)
	f, err := frame.Parse(h, payload)
	if err != nil {
		s.violate("%v: %v", h, err)
		return frame.Unknown{Header: h, Payload: payload}
	}
	// Field blocks are contiguous. RFC 9113, Section 4.3 (9113-4.3-1).
	c, isContinuation := f.(frame.Continuation)
	if s.block != nil && (!isContinuation || c.Stream != s.block.headers.Stream) {
		s.violate("%v within the field block on stream %d", f, s.block.headers.Stream)
	}
	switch f := f.(type) {
	case frame.Headers:
		return s.beginBlock(f)
	case frame.Continuation:
		return s.continueBlock(f)
	case frame.Data:
		s.clientData(f, h.Length)
	case frame.RSTStream:
		s.clientReset(f)
	case frame.WindowUpdate:
		s.clientWindowUpdate(f, payload)
	case frame.Settings:
		s.clientSettings(f)
	case frame.Ping:
		s.clientPing(f)
	case frame.GoAway:
		s.clientGoAway(f, payload)
	case frame.Priority:
		if f.DependsOn == f.Stream {
			s.violate("%v: a stream cannot depend on itself", f)
		}
	case frame.PriorityUpdate:
	default:
		s.violate("%v: a client does not send this type", f)
	}
	return withoutEmpty(f)
}

// withoutEmpty makes empty slices nil, so that the literal of a frame without content compares to it; SETTINGS become
// what MakeSettings makes.
func withoutEmpty(f frame.Frame) value {
	trim := func(p *[]byte) {
		if len(*p) == 0 {
			*p = nil
		}
	}
	switch f := f.(type) {
	case frame.Data:
		trim(&f.Data)
		return f
	case frame.Settings:
		if !f.Ack && len(f.Raw) == 0 {
			return frame.MakeSettings()
		}
		trim(&f.Raw)
		return f
	case frame.GoAway:
		trim(&f.Debug)
		return f
	case frame.PriorityUpdate:
		trim(&f.Value)
		return f
	case frame.Unknown:
		trim(&f.Payload)
		return f
	}
	return f
}

// checkForm checks what the header alone decides.
func (s *Shadow) checkForm(h frame.Header) {
	// Flags without a meaning are sent as 0. RFC 9113, Section 4.1 (9113-4.1-4).
	if flags, known := definedFlags[h.Type]; known && h.Flags&^flags != 0 {
		s.violate("%v: undefined flags %#x", h, h.Flags&^flags)
	}
	// RFC 9113, Section 4.2 (9113-4.1-1): the limit is the server's. A raised one may be used before it is
	// acknowledged.
	limit := s.limits.maxFrame
	for _, p := range s.unackedByClient {
		for _, x := range p.settings {
			if x.ID == frame.SettingMaxFrameSize {
				limit = max(limit, x.Value)
			}
		}
	}
	if h.Length > limit {
		s.violate("%v: above the limit of %d octets", h, limit)
	}
	// The first frame is SETTINGS. RFC 9113, Section 3.4 (9113-3.4-2).
	if !s.greeted && (h.Type != frame.TypeSettings || h.Flags.Has(frame.FlagAck)) {
		s.violate("%v: the first frame is not SETTINGS", h)
	}
	s.greeted = true
	// Nothing follows a GOAWAY that reports an error. RFC 9113, Section 5.4.1 (9113-5.4.1-2).
	if s.over && !s.Lenient {
		s.violate("%v after GOAWAY with an error", h)
	}
}

func (s *Shadow) clientSettings(f frame.Settings) {
	if !f.Ack {
		var list []frame.Setting
		for x := range f.All() {
			if err := x.Check(); err != nil {
				s.violate("%v: %v", f, err)
			}
			list = append(list, x)
		}
		s.unackedByServer = append(s.unackedByServer, list)
		return
	}
	// Each SETTINGS gets one acknowledgement. RFC 9113, Section 6.5.3 (9113-6.5.3-4).
	if len(s.unackedByClient) == 0 {
		s.violate("%v acknowledges nothing", f)
		return
	}
	p := s.unackedByClient[0]
	s.unackedByClient = s.unackedByClient[1:]
	s.seen = max(s.seen, p.number)
	for _, x := range p.settings {
		s.applyServerSetting(x)
	}
}

// applyServerSetting puts a setting of the server in force, now that the client acknowledged it.
func (s *Shadow) applyServerSetting(x frame.Setting) {
	switch x.ID {
	case frame.SettingHeaderTableSize:
		s.dec.setMax(x.Value)
	case frame.SettingMaxConcurrentStreams:
		s.limits.maxStreams = x.Value
	case frame.SettingMaxFrameSize:
		s.limits.maxFrame = x.Value
	case frame.SettingInitialWindowSize:
		// The difference moves the window of every stream, below zero if need be. RFC 9113, Section 6.9.2.
		delta := int64(x.Value) - s.limits.initialWindow
		s.limits.initialWindow += delta
		for _, st := range s.streams {
			st.send += delta
		}
	}
}

func (s *Shadow) clientPing(f frame.Ping) {
	if !f.Ack {
		return
	}
	// Each PING gets one answer with the same octets, in order. RFC 9113, Section 6.7 (9113-6.7-2, 9113-6.7-4).
	if len(s.pings) == 0 {
		s.violate("%v answers nothing", f)
		return
	}
	want := s.pings[0]
	s.pings = s.pings[1:]
	if f.Data != want.data {
		s.violate("%v answers a PING with the octets %x", f, want.data)
	}
	s.seen = max(s.seen, want.number)
}

func (s *Shadow) clientGoAway(f frame.GoAway, payload []byte) {
	if payload[0]&0x80 != 0 {
		s.violate("%v: the reserved bit is set (9113-4.1-5)", f)
	}
	// RFC 9113, Section 6.8 (9113-6.8-8): the last stream never rises.
	if s.clientGoAwayKnown && f.LastStream > s.clientGoAwayLast {
		s.violate("%v after one for stream %d", f, s.clientGoAwayLast)
	}
	s.clientGoAwayKnown, s.clientGoAwayLast = true, f.LastStream
	s.over = s.over || f.Code != frame.NoError
}

func (s *Shadow) clientWindowUpdate(f frame.WindowUpdate, payload []byte) {
	if binary.BigEndian.Uint32(payload)>>31 != 0 {
		s.violate("%v: the reserved bit is set (9113-4.1-5)", f)
	}
	window := &s.recv
	if f.Stream != 0 {
		st := s.known(f, f.Stream)
		if st == nil {
			return
		}
		// Nothing but PRIORITY goes out on a closed stream. RFC 9113, Section 5.1 (9113-5.1-11).
		if s.overFor(st) {
			s.violate("%v on a closed stream", f)
		}
		window = &st.recv
	}
	*window += int64(f.Increment)
	// No window above 2^31-1. RFC 9113, Section 6.9.1 (9113-6.9.1-5).
	if *window > frame.MaxWindow {
		s.violate("%v lifts the window to %d", f, *window)
	}
}
