package conformance

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
)

// A step is one line of a script.
type step struct {
	line  string
	kind  byte     // the sign at its beginning; 'u' for "ungreeted"
	words []string // after the sign
	say   any      // '<': what the server says
	total int      // '>': octets of DATA to come; 0: the step is about one frame
}

func parseStep(line string) (step, error) {
	if line == "ungreeted" {
		return step{line: line, kind: 'u'}, nil
	}
	s := step{line: line, kind: line[0], words: strings.Fields(line[1:])}
	if len(s.words) == 0 || !strings.ContainsRune("=<>!", rune(s.kind)) {
		return step{}, fmt.Errorf("no step: %q", line)
	}
	var err error
	switch s.kind {
	case '<':
		s.say, err = parseFrame(s.words)
	case '>':
		if text, ok := strings.CutPrefix(s.words[len(s.words)-1], "total="); ok {
			if s.total, err = strconv.Atoi(text); err == nil && (s.total < 1 || len(s.words) != 3) {
				err = fmt.Errorf("a total is asked for by \"> DATA stream=1 total=5\": %q", line)
			}
		}
	case '=':
		if len(s.words) != 2 {
			err = fmt.Errorf("a request is a method and a path: %q", line)
		}
	}
	return s, err
}

// parameters are the words of a server's frame after its type: key=value, flags, and fields in brackets.
type parameters struct {
	values map[string]string
	flags  map[string]bool
	fields []frame.Field
	err    error
}

// parseFrame makes what the server says from its line, much as package frame would print it. Octets that no line can
// say are given in hexadecimal: "octets 000000...".
func parseFrame(words []string) (any, error) {
	p := parameters{values: map[string]string{}, flags: map[string]bool{}}
	if words[0] == "octets" {
		raw, err := hex.DecodeString(strings.Join(words[1:], ""))
		return peer.Raw(raw), err
	}
	for _, w := range words[1:] {
		if f, ok := strings.CutPrefix(w, "["); ok {
			name, value, _ := cutField(strings.TrimSuffix(f, "]"))
			p.fields = append(p.fields, frame.Field{Name: name, Value: value})
		} else if key, value, ok := strings.Cut(w, "="); ok {
			p.values[key] = value
		} else {
			p.flags[w] = true
		}
	}
	item := p.frame(words[0])
	for key := range p.values {
		p.fail("%s does not know %s", words[0], key)
	}
	for flag := range p.flags {
		p.fail("%s does not know %s", words[0], flag)
	}
	return item, p.err
}

// cutField cuts a field at the first "=" after its name, which may begin with a colon.
func cutField(s string) (name, value string, ok bool) { return strings.Cut(s, "=") }

func (p *parameters) frame(typ string) any {
	id := frame.StreamID(p.number("stream", 0))
	switch typ {
	case "DATA":
		f := frame.Data{Stream: id, Data: make([]byte, p.number("len", 0)), EndStream: p.flag("END_STREAM")}
		if _, ok := p.values["pad"]; ok {
			f.Padded, f.PadLength = true, uint8(p.number("pad", 0))
		}
		return f
	case "HEADERS":
		if block, ok := p.values["block"]; ok {
			delete(p.values, "block")
			raw, err := hex.DecodeString(block)
			if err != nil {
				p.fail("%v", err)
			}
			return frame.Headers{Stream: id, EndStream: p.flag("END_STREAM"), EndHeaders: !p.flag("open"), Fragment: raw}
		}
		return peer.Headers{Stream: id, Fields: p.fields, EndStream: p.flag("END_STREAM"), Open: p.flag("open"),
			Continuations: int(p.number("continuations", 0))}
	case "CONTINUATION":
		return frame.Continuation{Stream: id, EndHeaders: p.flag("END_HEADERS")}
	case "RST_STREAM":
		return frame.RSTStream{Stream: id, Code: p.code()}
	case "GOAWAY":
		return frame.GoAway{LastStream: frame.StreamID(p.number("last", 0)), Code: p.code()}
	case "PING":
		var f frame.Ping
		f.Ack = p.flag("ACK")
		if text, ok := p.values["data"]; ok {
			delete(p.values, "data")
			if n, err := hex.Decode(f.Data[:], []byte(text)[:min(len(text), 16)]); err != nil || n != 8 {
				p.fail("the data of PING is not 8 octets in hexadecimal")
			}
		}
		return f
	case "WINDOW_UPDATE":
		return frame.WindowUpdate{Stream: id, Increment: uint32(p.number("increment", 0))}
	case "PRIORITY":
		return frame.Priority{Stream: id}
	case "SETTINGS":
		if p.flag("ACK") {
			return frame.Settings{Ack: true}
		}
		return p.settings()
	}
	p.fail("no frame of type %s", typ)
	return nil
}

// settings reads the settings, of which each may come once.
func (p *parameters) settings() frame.Settings {
	var list []frame.Setting
	for id := frame.SettingHeaderTableSize; id <= frame.SettingNoRFC7540Priorities; id++ {
		if _, ok := p.values[id.String()]; ok {
			list = append(list, frame.Setting{ID: id, Value: uint32(p.number(id.String(), 0))})
		}
	}
	return frame.MakeSettings(list...)
}

func (p *parameters) number(key string, def uint64) uint64 {
	text, ok := p.values[key]
	if !ok {
		return def
	}
	delete(p.values, key)
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		p.fail("%s: %w", key, err)
	}
	return n
}

func (p *parameters) flag(name string) bool {
	set := p.flags[name]
	delete(p.flags, name)
	return set
}

func (p *parameters) code() frame.ErrCode {
	name, ok := p.values["code"]
	delete(p.values, "code")
	for code := frame.NoError; code <= frame.HTTP11Required; code++ {
		if !ok || code.String() == name {
			return code
		}
	}
	p.fail("no error code %s", name)
	return 0
}

func (p *parameters) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}
