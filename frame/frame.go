package frame

import "iter"

// A Frame is any of the types of this package that stand for one whole frame.
type Frame interface {
	// FrameHeader is the header that AppendTo writes; its Length is that of the payload as the fields make it.
	FrameHeader() Header
	// AppendTo appends the whole frame to dst. It writes what the fields say, legal or not, so that tests can make
	// frames that break a rule. Reserved bits and undefined flags are 0, padding is zeros. A payload above
	// MaxMaxFrameSize octets does not fit the length field, of which the low 24 bits are written.
	AppendTo(dst []byte) []byte
	// String is one line for a transcript, such as "DATA stream=1 len=17 END_STREAM".
	String() string
}

var (
	_ Frame = Data{}
	_ Frame = Headers{}
	_ Frame = Priority{}
	_ Frame = RSTStream{}
	_ Frame = Settings{}
	_ Frame = PushPromise{}
	_ Frame = Ping{}
	_ Frame = GoAway{}
	_ Frame = WindowUpdate{}
	_ Frame = Continuation{}
	_ Frame = AltSvc{}
	_ Frame = Origin{}
	_ Frame = PriorityUpdate{}
	_ Frame = Unknown{}
)

// Parse checks and reads any frame; the size of the payload is taken from payload, whatever h.Length says, and may be
// up to MaxMaxFrameSize. An error is always an *Error. The result is boxed, which allocates: it is for tests and logs,
// while a connection switches on h.Type and calls the parser of that type. The result borrows payload.
func Parse(h Header, payload []byte) (Frame, error) {
	h.Length = uint32(len(payload))
	if err := CheckHeader(h, MaxMaxFrameSize); err != nil {
		return nil, err
	}
	switch h.Type {
	case TypeData:
		return box(ParseData(h, payload))
	case TypeHeaders:
		return box(ParseHeaders(h, payload))
	case TypePriority:
		return box(ParsePriority(h, payload))
	case TypeRSTStream:
		return box(ParseRSTStream(h, payload))
	case TypeSettings:
		return box(ParseSettings(h, payload))
	case TypePushPromise:
		return box(ParsePushPromise(h, payload))
	case TypePing:
		return box(ParsePing(h, payload))
	case TypeGoAway:
		return box(ParseGoAway(h, payload))
	case TypeWindowUpdate:
		return box(ParseWindowUpdate(h, payload))
	case TypeContinuation:
		return box(ParseContinuation(h, payload))
	case TypeAltSvc:
		return box(ParseAltSvc(h, payload))
	case TypeOrigin:
		return box(ParseOrigin(h, payload))
	case TypePriorityUpdate:
		return box(ParsePriorityUpdate(h, payload))
	default:
		return Unknown{Header: h, Payload: payload}, nil
	}
}

func box[F Frame](f F, err error) (Frame, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Cut splits the first frame off buf: its header, its payload, and what follows it. If buf does not hold a whole
// frame, ok is false and rest is buf. Nothing is checked or copied.
func Cut(buf []byte) (h Header, payload, rest []byte, ok bool) {
	h, ok = ParseHeader(buf)
	if !ok || uint32(len(buf)-HeaderLen) < h.Length {
		return Header{}, nil, buf, false
	}
	end := HeaderLen + int(h.Length)
	return h, buf[HeaderLen:end:end], buf[end:], true
}

// All yields the header and the payload of each whole frame in buf, in order. A rest that is no whole frame is not
// yielded. The payloads borrow buf. Nothing is checked.
func All(buf []byte) iter.Seq2[Header, []byte] {
	return func(yield func(Header, []byte) bool) {
		for {
			h, payload, rest, ok := Cut(buf)
			if !ok || !yield(h, payload) {
				return
			}
			buf = rest
		}
	}
}

// An Unknown is a frame of a type that this package does not know, kept whole. With a type that it does know, it is a
// means to write a payload, or flags, that the type's own struct cannot express.
type Unknown struct {
	// Header is written as it is, undefined flags included, but for Length, which is taken from Payload.
	Header
	Payload []byte
}

// FrameHeader returns u.Header with the length of u.Payload.
func (u Unknown) FrameHeader() Header {
	h := u.Header
	h.Length = uint32(len(u.Payload))
	return h
}

// AppendTo appends the frame to dst.
func (u Unknown) AppendTo(dst []byte) []byte {
	return append(AppendHeader(dst, u.FrameHeader()), u.Payload...)
}

// String is the frame as one transcript line.
func (u Unknown) String() string { return u.FrameHeader().String() }
