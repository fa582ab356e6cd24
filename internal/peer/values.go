package peer

import (
	"strconv"
	"strings"

	"example.com/h2flow/frame"
)

// Headers is a whole field section: a HEADERS frame and the CONTINUATION frames that follow it. As the client's it is
// the value that Next returns, so that a literal of this type compares to it.
type Headers struct {
	Stream    frame.StreamID
	EndStream bool
	Fields    []frame.Field

	// Continuations is how many CONTINUATION frames the field block is spread over, besides the HEADERS frame.
	Continuations int

	// Open leaves END_HEADERS off the last frame. Never set on what the client sent.
	Open bool

	Padded      bool
	PadLength   uint8 // in octets
	HasPriority bool
	Priority    frame.PriorityParam
}

// String is h as one transcript line, fields included.
func (h Headers) String() string {
	b := []byte("HEADERS stream=")
	b = strconv.AppendUint(b, uint64(h.Stream), 10)
	b = appendBlock(b, h.Fields, h.Continuations, h.Open)
	if h.Padded {
		b = strconv.AppendUint(append(b, " pad="...), uint64(h.PadLength), 10)
	}
	if h.HasPriority {
		b = append(b, " PRIORITY"...)
	}
	if h.EndStream {
		b = append(b, " END_STREAM"...)
	}
	return string(b)
}

// PushPromise is a whole promised request: a PUSH_PROMISE frame and the CONTINUATION frames that follow it.
type PushPromise struct {
	Stream   frame.StreamID
	Promised frame.StreamID
	Fields   []frame.Field

	Continuations int  // see Headers
	Open          bool // see Headers
	Padded        bool
	PadLength     uint8 // in octets
}

// String is p as one transcript line, fields included.
func (p PushPromise) String() string {
	b := []byte("PUSH_PROMISE stream=")
	b = strconv.AppendUint(b, uint64(p.Stream), 10)
	b = strconv.AppendUint(append(b, " promised="...), uint64(p.Promised), 10)
	return string(appendBlock(b, p.Fields, p.Continuations, p.Open))
}

func appendBlock(b []byte, fields []frame.Field, continuations int, open bool) []byte {
	var s strings.Builder
	for i, f := range fields {
		if i > 0 {
			s.WriteString(" ")
		}
		name := f.Name
		if quoted := strconv.QuoteToASCII(name); quoted != `"`+name+`"` {
			name = quoted
		}
		s.WriteString(name + "=" + strconv.QuoteToASCII(f.Value))
		if f.Sensitive {
			s.WriteString("!")
		}
	}
	b = append(append(b, " ["...), s.String()...)
	b = append(b, ']')
	if continuations > 0 {
		b = strconv.AppendInt(append(b, " continuations="...), int64(continuations), 10)
	}
	if open {
		b = append(b, " without END_HEADERS"...)
	}
	return b
}

// Raw is octets to send as they are.
type Raw []byte

// String is r as one transcript line.
func (r Raw) String() string {
	return "octets " + strconv.QuoteToASCII(string(r[:min(len(r), 64)])) + " len=" + strconv.Itoa(len(r))
}

// Labelled is octets to send as they are, with a line of their own for the transcript: a thousand copies of a frame, or
// a frame with bits that no field of its type can say.
type Labelled struct {
	Text   string
	Octets []byte
}

// String is the text.
func (l Labelled) String() string { return l.Text }

// appendHeaders appends the frames of h, whose field block is block.
func appendHeaders(dst []byte, h Headers, block []byte) []byte {
	first, rest := splitBlock(block, h.Continuations)
	dst = frame.Headers{
		Stream: h.Stream, EndStream: h.EndStream, EndHeaders: len(rest) == 0 && !h.Open,
		Padded: h.Padded, PadLength: h.PadLength, HasPriority: h.HasPriority, Priority: h.Priority, Fragment: first,
	}.AppendTo(dst)
	return appendContinuations(dst, h.Stream, rest, h.Open)
}

// appendPromise appends the frames of p, whose field block is block.
func appendPromise(dst []byte, p PushPromise, block []byte) []byte {
	first, rest := splitBlock(block, p.Continuations)
	dst = frame.PushPromise{
		Stream: p.Stream, Promised: p.Promised, EndHeaders: len(rest) == 0 && !p.Open,
		Padded: p.Padded, PadLength: p.PadLength, Fragment: first,
	}.AppendTo(dst)
	return appendContinuations(dst, p.Stream, rest, p.Open)
}

func appendContinuations(dst []byte, stream frame.StreamID, fragments [][]byte, open bool) []byte {
	for i, f := range fragments {
		last := i == len(fragments)-1
		dst = frame.Continuation{Stream: stream, EndHeaders: last && !open, Fragment: f}.AppendTo(dst)
	}
	return dst
}

// splitBlock cuts block into n+1 fragments of about the same size; some are empty if block is short.
func splitBlock(block []byte, n int) (first []byte, rest [][]byte) {
	at := func(i int) int { return len(block) * i / (n + 1) }
	for i := 1; i <= n; i++ {
		rest = append(rest, block[at(i):at(i+1)])
	}
	return block[:at(1)], rest
}
