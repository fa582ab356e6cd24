package fuzz

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/frame"
)

// FuzzFrameParse gives the codec any octets. It never panics and never touches its input; header and payload are judged
// alike whichever way they are read; every error is one that may be sent; and every line of a transcript is printable
// and bounded.
func FuzzFrameParse(f *testing.F) {
	for _, s := range streamSeeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		before := bytes.Clone(input)
		used := 0
		for h, payload := range frame.All(input) {
			checkOne(t, h, payload)
			used += frame.HeaderLen + len(payload)
		}
		if h, ok := frame.ParseHeader(input[used:]); ok && len(input)-used >= frame.HeaderLen+int(h.Length) {
			t.Errorf("All leaves a whole frame behind: %v", h)
		}
		checkReader(t, input)
		if !bytes.Equal(before, input) {
			t.Error("the input was written to")
		}
	})
}

func checkOne(t *testing.T, h frame.Header, payload []byte) {
	t.Helper()
	if int(h.Length) != len(payload) || h.Stream > frame.MaxStreamID {
		t.Fatalf("%+v with a payload of %d octets", h, len(payload))
	}
	headerErr := frame.CheckHeader(h, frame.MaxMaxFrameSize)
	got, err := frame.Parse(h, payload)
	if headerErr != nil {
		if diff := cmp.Diff(headerErr, err); diff != "" {
			t.Errorf("CheckHeader and Parse differ (-CheckHeader +Parse):\n%s", diff)
		}
	}
	if err != nil {
		checkError(t, h, err)
		return
	}
	if gh := got.FrameHeader(); gh.Type != h.Type || gh.Length != h.Length || gh.Stream != h.Stream {
		t.Errorf("header %v became %v", h, gh)
	}
	text := got.String()
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' {
			t.Errorf("transcript line holds octet %#x: %q", c, text)
		}
	}
	if len(text) > 2048 {
		t.Errorf("transcript line of %d octets", len(text))
	}
}

// checkError: the codec says PROTOCOL_ERROR and FRAME_SIZE_ERROR only, of the frame's stream or of the connection, and
// of the connection for frames that may change its state. RFC 9113, Section 4.2.
func checkError(t *testing.T, h frame.Header, err error) {
	t.Helper()
	e, ok := errors.AsType[*frame.Error](err)
	if !ok || e == nil {
		t.Fatalf("%v: error of type %T", h, err)
	}
	if e.Code != frame.ProtocolError && e.Code != frame.FrameSizeError || e.Reason == "" {
		t.Errorf("%v: %+v", h, e)
	}
	switch h.Type {
	case frame.TypeHeaders, frame.TypePushPromise, frame.TypeContinuation, frame.TypeSettings, frame.TypePing,
		frame.TypeGoAway, frame.TypeRSTStream:
		if e.Stream != 0 {
			t.Errorf("%v: a stream error: %v", h, e)
		}
	default:
		if e.Stream != 0 && e.Stream != h.Stream {
			t.Errorf("%v: an error of another stream: %v", h, e)
		}
	}
}

// chunked gives n octets with each read.
type chunked struct {
	rest []byte
	n    int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.rest[:min(c.n, len(c.rest))])
	c.rest = c.rest[n:]
	return n, nil
}

// checkReader: a Reader gives what All gives, however the octets come, and then says how the input ended.
func checkReader(t *testing.T, input []byte) {
	t.Helper()
	n := 1 // chunks of a size that depends on the input
	if len(input) > 2 {
		n += int(input[2])
	}
	r := frame.NewReader(&chunked{input, n}, frame.MinMaxFrameSize)
	used := 0
	for h, payload := range frame.All(input) {
		gh, gp, err := r.Next()
		if h.Length > frame.MinMaxFrameSize {
			if _, ok := errors.AsType[*frame.Error](err); !ok || gh != h {
				t.Errorf("%v is above the limit; Reader returns %v, %v", h, gh, err)
			}
			return
		}
		if err != nil || gh != h || !bytes.Equal(gp, payload) {
			t.Fatalf("Reader returns %v, %x, %v; All yields %v, %x", gh, gp, err, h, payload)
		}
		used += frame.HeaderLen + len(payload)
	}
	h, _, err := r.Next()
	switch whole, ok := frame.ParseHeader(input[used:]); {
	case ok && whole.Length > frame.MinMaxFrameSize:
		if _, ok := errors.AsType[*frame.Error](err); !ok || h != whole {
			t.Errorf("%v is above the limit; Reader returns %v, %v", whole, h, err)
		}
	case used == len(input):
		if err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
	default:
		if err != io.ErrUnexpectedEOF {
			t.Errorf("at the end within a frame: %v", err)
		}
	}
}

// FuzzFrameRoundTrip makes one frame of any type, flags, stream and payload. If it parses, appending the value gives
// the same octets once everything that carries no meaning is zero, and parsing those gives the same value.
func FuzzFrameRoundTrip(f *testing.F) {
	for _, s := range streamSeeds(f) {
		for h, payload := range frame.All(s) {
			f.Add(uint8(h.Type), uint8(h.Flags), uint32(h.Stream), payload)
		}
	}
	f.Fuzz(func(t *testing.T, typ, flags uint8, stream uint32, payload []byte) {
		if len(payload) > frame.MaxMaxFrameSize {
			t.Skip("no frame can hold it")
		}
		n := len(payload)
		wire := []byte{byte(n >> 16), byte(n >> 8), byte(n), typ, flags,
			byte(stream >> 24), byte(stream >> 16), byte(stream >> 8), byte(stream)}
		wire = append(wire, payload...)
		h, p, rest, ok := frame.Cut(wire)
		if !ok || len(rest) != 0 {
			t.Fatalf("Cut: ok %v, %d octets left", ok, len(rest))
		}
		value, err := frame.Parse(h, p)
		if err != nil {
			return
		}
		text := value.String()
		want := canonical(wire)
		got := value.AppendTo(nil)
		if !bytes.Equal(want, got) {
			t.Fatalf("%v\nwant %x\ngot  %x", value, want, got)
		}
		h, p, _, _ = frame.Cut(got)
		again, err := frame.Parse(h, p)
		if err != nil {
			t.Fatalf("%v, appended, no longer parses: %v", value, err)
		}
		if diff := cmp.Diff(value, again); diff != "" || again.String() != text {
			t.Errorf("parsed again (-first +second):\n%s", diff)
		}
	})
}

// definedFlags are the flags that RFC 9113, Section 6 gives a meaning, for the types that this package parses.
var definedFlags = map[frame.Type]byte{
	frame.TypeData: 0x09, frame.TypeHeaders: 0x2d, frame.TypePriority: 0, frame.TypeRSTStream: 0,
	frame.TypeSettings: 0x01, frame.TypePushPromise: 0x0c, frame.TypePing: 0x01, frame.TypeGoAway: 0,
	frame.TypeWindowUpdate: 0, frame.TypeContinuation: 0x04, frame.TypeAltSvc: 0, frame.TypeOrigin: 0,
	frame.TypePriorityUpdate: 0,
}

// canonical is a valid frame with its reserved bits, undefined flags and padding set to zero. It goes by the layouts in
// the RFCs and does not use the codec.
func canonical(wire []byte) []byte {
	w := bytes.Clone(wire)
	w[5] &= 0x7f
	typ := frame.Type(w[3])
	defined, known := definedFlags[typ]
	if !known {
		return w
	}
	w[4] &= defined
	body := w[9:]
	if w[4]&0x08 != 0 && (typ == frame.TypeData || typ == frame.TypeHeaders || typ == frame.TypePushPromise) {
		clear(body[len(body)-int(body[0]):])
		body = body[1:]
	}
	switch typ {
	case frame.TypePushPromise, frame.TypeGoAway, frame.TypeWindowUpdate, frame.TypePriorityUpdate:
		body[0] &= 0x7f
	}
	return w
}
