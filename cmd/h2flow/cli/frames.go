package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"example.com/h2flow"
	"example.com/h2flow/frame"
)

var framesCommand = command{
	name:    "frames",
	args:    "[FILE...]",
	summary: "decode HTTP/2 frames from hex, octets or a capture, one line each",
	text: `
Decodes frames and, with the table that they build up, the field blocks in them. FILE is what a connection carried in one
direction, as octets or as hexadecimal digits (white space, colons and lines of "#" are passed over), or a capture of
cleartext TCP as pcap or pcapng, of which every connection that begins with the preface of HTTP/2 is shown. Without FILE,
or for "-", standard input is read.

A line has where the frame begins, in octets, the frame as its type, stream and content, and the field lines of a block
that it ends. What breaks a rule that the frame's header alone can break is marked with "!". In captures the line begins
with the time since the first packet, the number of the connection, and > for the client or < for the server.

With --json, each line is an object: offset, type, stream, length, flags, text, error (if a rule is broken), fields
(pairs of name and value), and for captures time, connection and direction. Values of fields that are secret read
"(hidden)" unless --secrets is given.`,
	example: `
h2flow frames trace.bin
echo "00 00 08 06 00 00 00 00 00  01 02 03 04 05 06 07 08" | h2flow frames
h2flow frames --json capture.pcap`,
	prepare: prepareFrames,
}

func prepareFrames(fs *flags) runner {
	var d frameDumper
	fs.BoolVar(&d.json, "json", false, "one JSON object a line")
	fs.BoolVar(&d.secrets, "secrets", false, "show the values of fields that are secret")
	return func(ctx context.Context, e *env, args []string) error {
		d.w = e.stdout
		if len(args) == 0 {
			args = []string{"-"}
		}
		for _, name := range args {
			if err := d.file(e, name); err != nil {
				return err
			}
		}
		return nil
	}
}

// A frameDumper prints frames.
type frameDumper struct {
	w             io.Writer
	json, secrets bool
}

func (d *frameDumper) file(e *env, name string) error {
	in, err := readInput(e, name)
	if err != nil {
		return err
	}
	if isCapture(in) {
		return d.capture(in)
	}
	if octets, ok := fromHex(in); ok {
		in = octets
	}
	s := &frameStream{dumper: d, fields: h2flow.NewFieldDecoder()}
	rest, err := s.feed(in, 0)
	if name == "-" {
		name = "standard input"
	}
	if err == nil && rest > 0 {
		err = fmt.Errorf("%s ends within a frame: %d octets are left", name, rest)
	}
	return err
}

func readInput(e *env, name string) ([]byte, error) {
	if name == "-" {
		if e.stdin == nil {
			return io.ReadAll(os.Stdin)
		}
		return io.ReadAll(e.stdin)
	}
	return os.ReadFile(name)
}

// fromHex reads octets written as hexadecimal digits; ok is false if the input is something else.
func fromHex(in []byte) (octets []byte, ok bool) {
	var digits []byte
	for line := range bytes.Lines(in) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		for _, c := range line {
			switch {
			case '0' <= c && c <= '9', 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
				digits = append(digits, c)
			case strings.IndexByte(" \t\r\n:", c) < 0:
				return nil, false
			}
		}
	}
	octets, err := hex.DecodeString(string(digits))
	return octets, err == nil && len(digits) > 0
}

// A frameStream is one direction of a connection.
//
// Model: rest is the begin of a frame that is not whole, offset where it begins; block says that a field block is open,
// whose field lines so far are in lines.
type frameStream struct {
	dumper *frameDumper
	place  *framePlace // nil: not from a capture
	fields *h2flow.FieldDecoder
	broken bool // the fields cannot be decoded any more
	rest   []byte
	offset int64
	lines  [][2]string
}

// A framePlace is where in a capture a frame comes from.
type framePlace struct {
	connection int
	direction  string
}

// feed prints the frames in p, which follows what was fed before, and returns how many octets are left for the next.
// seconds is the time of the last octet.
func (s *frameStream) feed(p []byte, seconds float64) (rest int, err error) {
	s.rest = append(s.rest, p...)
	if s.offset == 0 {
		preface := []byte(frame.ClientPreface)
		if len(s.rest) < len(preface) && bytes.HasPrefix(preface, s.rest) {
			return len(s.rest), nil
		}
		if bytes.HasPrefix(s.rest, preface) {
			s.offset = int64(len(preface))
			s.rest = s.rest[len(preface):]
		}
	}
	for h, payload := range frame.All(s.rest) {
		if err := s.print(h, payload, seconds); err != nil {
			return 0, err
		}
		n := frame.HeaderLen + len(payload)
		s.offset += int64(n)
		s.rest = s.rest[n:]
	}
	return len(s.rest), nil
}

// A frameLine is one frame as JSON.
type frameLine struct {
	Time       *float64    `json:"time,omitempty"` // seconds
	Connection int         `json:"connection,omitempty"`
	Direction  string      `json:"direction,omitempty"`
	Offset     int64       `json:"offset"`
	Type       string      `json:"type"`
	Stream     uint32      `json:"stream"`
	Length     uint32      `json:"length"`
	Flags      uint8       `json:"flags"`
	Text       string      `json:"text"`
	Error      string      `json:"error,omitempty"`
	Fields     [][2]string `json:"fields,omitempty"`
}

func (s *frameStream) print(h frame.Header, payload []byte, seconds float64) error {
	line := frameLine{
		Offset: s.offset, Type: h.Type.String(), Stream: uint32(h.Stream), Length: h.Length, Flags: uint8(h.Flags),
		Text: h.String(),
	}
	err := frame.CheckHeader(h, frame.MaxMaxFrameSize)
	var parsed frame.Frame
	if err == nil {
		if parsed, err = frame.Parse(h, payload); err == nil {
			line.Text = parsed.String()
		}
	}
	if err != nil {
		line.Error = err.Error()
	}
	line.Fields = s.decode(parsed)
	if s.place != nil {
		line.Time, line.Connection, line.Direction = &seconds, s.place.connection, s.place.direction
	}
	if s.dumper.json {
		return json.NewEncoder(s.dumper.w).Encode(line)
	}
	_, err = io.WriteString(s.dumper.w, line.String())
	return err
}

// String is the line for people.
func (l frameLine) String() string {
	var b strings.Builder
	if l.Time != nil {
		fmt.Fprintf(&b, "%+.6fs %d %s ", *l.Time, l.Connection, map[string]string{"client": ">", "server": "<"}[l.Direction])
	}
	fmt.Fprintf(&b, "%8d  %s", l.Offset, l.Text)
	for _, f := range l.Fields {
		fmt.Fprintf(&b, " %q", f[0]+": "+f[1])
	}
	if l.Error != "" {
		fmt.Fprintf(&b, "  ! %s", l.Error)
	}
	b.WriteByte('\n')
	return b.String()
}

// decode takes the fragment of a field block, if the frame has one, and returns the field lines of the block that it
// ends.
func (s *frameStream) decode(f frame.Frame) [][2]string {
	var fragment []byte
	var last bool
	switch f := f.(type) {
	case frame.Headers:
		fragment, last = f.Fragment, f.EndHeaders
	case frame.PushPromise:
		fragment, last = f.Fragment, f.EndHeaders
	case frame.Continuation:
		fragment, last = f.Fragment, f.EndHeaders
	default:
		return nil
	}
	if s.broken {
		return nil
	}
	err := s.fields.Decode(fragment, func(f frame.Field) bool {
		v := f.Value
		if !s.dumper.secrets {
			v = shownValue(f)
		}
		s.lines = append(s.lines, [2]string{f.Name, v})
		return true
	})
	if err == nil && last {
		err = s.fields.EndBlock()
	}
	if err != nil {
		// The table is lost: the stream was joined in its middle, or is wrong.
		s.broken = true
		return [][2]string{{"(the rest cannot be decoded)", err.Error()}}
	}
	if !last {
		return nil
	}
	lines := s.lines
	s.lines = nil
	return lines
}
