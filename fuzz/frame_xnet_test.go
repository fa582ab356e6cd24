package fuzz

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/net/http2"

	"example.com/h2flow/frame"
)

// FuzzFrameVsXNet gives each frame of the input to this codec and to the Framer of x/net: both accept it, with the same
// fields, or both refuse it, with the same code. The differences that are known, and why ours is right:
//
//   - PUSH_PROMISE of stream 0 or of an odd stream: we refuse it, since no server can open that stream
//     (RFC 9113, Section 6.6); the Framer leaves that to its caller.
//   - SETTINGS: the Framer judges the first INITIAL_WINDOW_SIZE in a frame, while Setting.Check is asked about every
//     one, since values are applied in order (RFC 9113, Section 6.5.3). A second illegal one is refused by us alone.
//   - ALTSVC and ORIGIN: unknown to the Framer, which keeps them whole; only our errors differ.
//   - The scope of two errors: padding that does not fit HEADERS is of the connection (RFC 9113, Section 6.2), and a
//     PRIORITY frame of the wrong length is of the stream (Section 6.3). The Framer says the opposite of both. So the
//     codes are compared and the scopes are not.
//   - A frame that breaks two rules may be refused for either.
//   - For a frame too short for its fields the Framer returns io.ErrUnexpectedEOF; the RFC wants FRAME_SIZE_ERROR.
func FuzzFrameVsXNet(f *testing.F) {
	for _, s := range streamSeeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		for h, payload := range frame.All(input) {
			wire := input[:frame.HeaderLen+len(payload)]
			input = input[len(wire):]
			ours, ourErr := oursOf(h, payload)
			theirs, theirErr := theirsOf(wire)
			if knownDifference(h, payload, ourErr) {
				continue
			}
			if (ourErr == nil) != (theirErr == nil) {
				t.Fatalf("%x: ours %v, %v; x/net %v, %v", wire, ours, ourErr, theirs, theirErr)
			}
			if ourErr != nil {
				compareCodes(t, h, payload, ourErr, theirErr)
				continue
			}
			if diff := cmp.Diff(translate(theirs, payload), ours, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%x (-x/net +ours):\n%s", wire, diff)
			}
		}
	})
}

// oursOf parses a frame and judges those of its settings that the Framer judges.
func oursOf(h frame.Header, payload []byte) (frame.Frame, error) {
	if err := frame.CheckHeader(h, frame.MinMaxFrameSize); err != nil {
		return nil, err
	}
	f, err := frame.Parse(h, payload)
	if s, ok := f.(frame.Settings); ok {
		for x := range s.All() {
			if x.ID == frame.SettingInitialWindowSize && err == nil {
				err = x.Check()
			}
		}
	}
	return f, err
}

func theirsOf(wire []byte) (http2.Frame, error) {
	fr := http2.NewFramer(io.Discard, bytes.NewReader(wire))
	fr.SetMaxReadFrameSize(frame.MinMaxFrameSize)
	fr.AllowIllegalReads = true // which frame may follow which is not the codec's business
	return fr.ReadFrame()
}

func knownDifference(h frame.Header, payload []byte, ourErr error) bool {
	switch h.Type {
	case frame.TypeAltSvc, frame.TypeOrigin:
		return ourErr != nil
	case frame.TypePushPromise:
		var err *frame.Error
		if !errors.As(ourErr, &err) || err.Code != frame.ProtocolError || h.Stream == 0 {
			return false
		}
		at := 0
		if h.Flags.Has(frame.FlagPadded) {
			at = 1
			if int(payload[0])+5 > len(payload) {
				return false // refused for its padding
			}
		}
		last := payload[at+3]
		return last&1 == 1 || payload[at]&0x7f|payload[at+1]|payload[at+2]|last == 0
	case frame.TypeSettings:
		if h.Flags.Has(frame.FlagAck) || h.Stream != 0 || len(payload)%6 != 0 || len(payload) > frame.MinMaxFrameSize {
			return false
		}
		// Only the first of several is judged by the Framer.
		for s := range (frame.Settings{Raw: payload}).All() {
			if s.ID == frame.SettingInitialWindowSize {
				return ourErr != nil && s.Check() == nil
			}
		}
	}
	return false
}

// compareCodes: a frame may break a rule about its stream and another one, so theirs may also be the code that ours
// would be on a legal stream.
func compareCodes(t *testing.T, h frame.Header, payload []byte, ourErr, theirErr error) {
	t.Helper()
	var code frame.ErrCode
	if ce, ok := errors.AsType[http2.ConnectionError](theirErr); ok {
		code = frame.ErrCode(ce)
	} else if se, ok := errors.AsType[http2.StreamError](theirErr); ok {
		code = frame.ErrCode(se.Code)
	} else if errors.Is(theirErr, http2.ErrFrameTooLarge) || errors.Is(theirErr, io.ErrUnexpectedEOF) {
		code = frame.FrameSizeError
	} else {
		t.Fatalf("%v: x/net's error is %v", h, theirErr)
	}
	other := h
	if other.Stream == 0 {
		other.Stream = 1
	} else {
		other.Stream = 0
	}
	_, otherErr := oursOf(other, payload)
	for _, err := range []error{ourErr, otherErr} {
		if e, ok := errors.AsType[*frame.Error](err); ok && e.Code == code {
			return
		}
	}
	t.Errorf("%v: ours %v, x/net %v", h, ourErr, theirErr)
}

// translate is x/net's frame as one of ours. The Framer does not keep the pad length, and its pad octet is all that is
// taken from the payload.
func translate(f http2.Frame, payload []byte) frame.Frame {
	fh := f.Header()
	stream := frame.StreamID(fh.StreamID)
	const padded, ack = http2.Flags(frame.FlagPadded), http2.Flags(frame.FlagAck)
	pad := func(has bool) uint8 {
		if has {
			return payload[0]
		}
		return 0
	}
	switch f := f.(type) {
	case *http2.DataFrame:
		has := fh.Flags.Has(padded)
		return frame.Data{Stream: stream, EndStream: f.StreamEnded(), Padded: has, PadLength: pad(has), Data: f.Data()}
	case *http2.HeadersFrame:
		has := fh.Flags.Has(padded)
		return frame.Headers{
			Stream: stream, EndStream: f.StreamEnded(), EndHeaders: f.HeadersEnded(), Padded: has, PadLength: pad(has),
			HasPriority: f.HasPriority(), Priority: translatePriority(f.Priority), Fragment: f.HeaderBlockFragment(),
		}
	case *http2.PriorityFrame:
		return frame.Priority{Stream: stream, PriorityParam: translatePriority(f.PriorityParam)}
	case *http2.RSTStreamFrame:
		return frame.RSTStream{Stream: stream, Code: frame.ErrCode(f.ErrCode)}
	case *http2.SettingsFrame:
		s := make([]frame.Setting, f.NumSettings())
		for i := range s {
			s[i] = frame.Setting{ID: frame.SettingID(f.Setting(i).ID), Value: f.Setting(i).Val}
		}
		made := frame.MakeSettings(s...)
		made.Ack = f.IsAck()
		return made
	case *http2.PushPromiseFrame:
		has := fh.Flags.Has(padded)
		return frame.PushPromise{Stream: stream, EndHeaders: f.HeadersEnded(), Padded: has, PadLength: pad(has),
			Promised: frame.StreamID(f.PromiseID), Fragment: f.HeaderBlockFragment()}
	case *http2.PingFrame:
		return frame.Ping{Ack: fh.Flags.Has(ack), Data: f.Data}
	case *http2.GoAwayFrame:
		return frame.GoAway{
			LastStream: frame.StreamID(f.LastStreamID), Code: frame.ErrCode(f.ErrCode), Debug: f.DebugData(),
		}
	case *http2.WindowUpdateFrame:
		return frame.WindowUpdate{Stream: stream, Increment: f.Increment}
	case *http2.ContinuationFrame:
		return frame.Continuation{Stream: stream, EndHeaders: f.HeadersEnded(), Fragment: f.HeaderBlockFragment()}
	case *http2.PriorityUpdateFrame:
		return frame.PriorityUpdate{Prioritized: frame.StreamID(f.PrioritizedStreamID), Value: []byte(f.Priority)}
	default:
		return translateUnknown(fh, payload)
	}
}

func translatePriority(p http2.PriorityParam) frame.PriorityParam {
	return frame.PriorityParam{Exclusive: p.Exclusive, DependsOn: frame.StreamID(p.StreamDep), Weight: p.Weight}
}

// translateUnknown reads the two types that the Framer does not know from the payload that it kept.
func translateUnknown(fh http2.FrameHeader, payload []byte) frame.Frame {
	stream := frame.StreamID(fh.StreamID)
	switch frame.Type(fh.Type) {
	case frame.TypeAltSvc:
		n := int(payload[0])<<8 | int(payload[1])
		return frame.AltSvc{Stream: stream, Origin: payload[2 : 2+n], Value: payload[2+n:]}
	case frame.TypeOrigin:
		return frame.Origin{Raw: payload}
	}
	h := frame.Header{Length: fh.Length, Type: frame.Type(fh.Type), Flags: frame.Flags(fh.Flags), Stream: stream}
	return frame.Unknown{Header: h, Payload: payload}
}
