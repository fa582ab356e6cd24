package peer

import (
	"fmt"
	"strings"
	"time"

	"example.com/h2flow/frame"
)

// A Peer encodes what the server says and decodes what the client says. Create it with New.
// It must not be used by two goroutines at once.
type Peer struct {
	// Shadow checks the octets of both directions.
	*Shadow

	// Elapsed, if not nil, tells the time since the start for the transcript.
	Elapsed func() time.Duration

	enc    fieldEncoder
	values []fmt.Stringer // decoded and not yet taken by Next
	lines  []string
}

// New returns a Peer at the start of a connection.
func New(c Codec) *Peer { return &Peer{Shadow: NewShadow(c), enc: newEncoder(c)} }

// Encode appends the octets of items to dst, notes them as sent, and returns the extended slice. An item is a
// Headers, a PushPromise, a Raw, a Labelled, or a frame.Frame; anything else panics.
//
// A SETTINGS acknowledgement applies the client's oldest SETTINGS_HEADER_TABLE_SIZE to the field encoder.
func (p *Peer) Encode(dst []byte, items ...any) []byte {
	for _, item := range items {
		start := len(dst)
		switch v := item.(type) {
		case Headers:
			dst = appendHeaders(dst, v, p.block(v.Fields))
		case PushPromise:
			dst = appendPromise(dst, v, p.block(v.Fields))
		case Raw:
			dst = append(dst, v...)
		case Labelled:
			dst = append(dst, v.Octets...)
		case frame.Frame:
			if s, ok := v.(frame.Settings); ok && s.Ack {
				p.applyTableSize()
			}
			dst = v.AppendTo(dst)
		default:
			panic(fmt.Sprintf("peer: cannot encode a %T", item))
		}
		p.note("<", item.(fmt.Stringer))
		p.FromServer(dst[start:])
	}
	return dst
}

// Feed takes octets from the client, in any chunks; they are copied.
func (p *Peer) Feed(octets []byte) {
	for _, v := range p.FromClient(octets) {
		p.note(">", v)
		p.values = append(p.values, v)
	}
}

// Next returns the next thing that the client said: a Headers, or a frame of package frame by value. Its slices
// belong to the caller. ok is false if nothing complete is left.
func (p *Peer) Next() (v fmt.Stringer, ok bool) {
	if len(p.values) == 0 {
		return nil, false
	}
	v = p.values[0]
	p.values = p.values[1:]
	return v, true
}

// SetTableSize makes the field encoder use a table of n octets, at most 4,096, from the next field section on.
func (p *Peer) SetTableSize(n uint32) { p.enc.SetMaxTableSize(n) }

// Transcript is everything that was said so far, one line each: time, direction as the client sees it ("<" is
// received, ">" sent), and the frame.
func (p *Peer) Transcript() string { return strings.Join(p.lines, "\n") }

func (p *Peer) block(fields []frame.Field) []byte {
	var b []byte
	for _, f := range fields {
		b = p.enc.AppendField(b, f)
	}
	return b
}

func (p *Peer) applyTableSize() {
	if len(p.unackedByServer) == 0 {
		return
	}
	for _, s := range p.unackedByServer[0] {
		if s.ID == frame.SettingHeaderTableSize {
			p.enc.SetMaxTableSize(s.Value)
		}
	}
}

func (p *Peer) note(direction string, v fmt.Stringer) {
	var d time.Duration
	if p.Elapsed != nil {
		d = p.Elapsed()
	}
	p.lines = append(p.lines, fmt.Sprintf("+%.3fs  %s  %v", d.Seconds(), direction, v))
}
