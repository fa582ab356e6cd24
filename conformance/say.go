package conformance

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
)

// A sayer makes what the server says, when its turn comes: items that peer.Peer.Encode takes.
type sayer struct {
	closes bool // the server closes the transport
	count  int  // how often it is said
	text   string
	make   func(w world) (any, error)
	flags  uint8 // to set in addition
	bit    bool  // set the reserved bit of the header
}

// A world is what a frame can depend on when it is made.
type world struct {
	stream   func(frame.StreamID) frame.StreamID // the actual stream for that of the script
	maxFrame uint32                              // octets, what the client advertised
	window   func(frame.StreamID) int64          // octets that the server may send
	debt     func(frame.StreamID) int64          // octets by which the client's window is negative
}

// nowhere is a world for finding mistakes in scripts.
var nowhere = world{
	stream:   func(id frame.StreamID) frame.StreamID { return id },
	maxFrame: frame.MinMaxFrameSize, window: func(frame.StreamID) int64 { return 65535 },
	debt: func(frame.StreamID) int64 { return 0 },
}

// parseSay parses what follows the sign "<".
func parseSay(words []string) (sayer, error) {
	s := sayer{count: 1, text: strings.Join(words, " ")}
	if s.text == "close" {
		s.closes = true
		return s, nil
	}
	if len(words) > 2 && words[1] == "times" {
		n, err := strconv.Atoi(words[0])
		if err != nil {
			return s, err
		}
		s.count, words = n, words[2:]
	}
	rest := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return s.modifier(w) })
	s.make = func(w world) (any, error) { return parseFrame(rest, w) }
	_, err := s.make(nowhere)
	return s, err
}

// modifier takes a word that changes the octets of whatever frame it stands in.
func (s *sayer) modifier(word string) bool {
	if word == "reserved" {
		s.bit = true
		return true
	}
	text, ok := strings.CutPrefix(word, "set=")
	n, err := strconv.ParseUint(text, 0, 8)
	if ok && err == nil {
		s.flags = uint8(n)
		return true
	}
	return false
}

// plain says whether what is said goes out as it is made.
func (s *sayer) plain() bool { return s.count == 1 && s.flags == 0 && !s.bit }

// octets are the octets of all repetitions of item.
func (s *sayer) octets(item frame.Frame) []byte {
	one := item.AppendTo(nil)
	one[4] |= s.flags
	if s.bit {
		one[5] |= 0x80
	}
	return bytes.Repeat(one, s.count)
}

// parameters are the words of a frame after its type: key=value, flags, and fields in brackets.
type parameters struct {
	world
	values map[string]string
	flags  map[string]bool
	fields []frame.Field
	err    error
}

// parseFrame makes what the server says from its words, much as package frame would print it.
func parseFrame(words []string, w world) (any, error) {
	p := parameters{world: w, values: map[string]string{}, flags: map[string]bool{}}
	switch {
	case words[0] == "octets":
		raw, err := hex.DecodeString(strings.Join(words[1:], ""))
		return peer.Raw(raw), err
	case words[0] == "SETTINGS" && !slices.Contains(words, "ACK"):
		list, err := parseSettings(words[1:])
		return frame.MakeSettings(list...), err
	}
	for _, w := range words[1:] {
		if f, ok := strings.CutPrefix(w, "["); ok {
			name, value, _ := strings.Cut(strings.TrimSuffix(f, "]"), "=")
			p.fields = append(p.fields, frame.Field{Name: p.unescape(name), Value: p.unescape(value)})
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

// unescape puts the octet 0xhh in the place of each %hh, and n copies of x in the place of {n*x}.
func (p *parameters) unescape(s string) string {
	for {
		before, rest, ok := strings.Cut(s, "{")
		count, after, _ := strings.Cut(rest, "*")
		what, after, closed := strings.Cut(after, "}")
		n, err := strconv.Atoi(count)
		if !ok || !closed || err != nil {
			break
		}
		s = before + strings.Repeat(what, n) + after
	}
	for at := 0; ; at++ {
		i := strings.IndexByte(s[at:], '%')
		if i < 0 {
			return s
		}
		at += i
		c, err := hex.DecodeString(s[at+1 : min(at+3, len(s))])
		if err != nil || len(c) != 1 {
			p.fail("no escape at the end of %q", s)
			return s
		}
		s = s[:at] + string(c) + s[at+3:]
	}
}

func (p *parameters) number(key string, def uint64) uint64 {
	text, ok := p.values[key]
	if !ok {
		return def
	}
	delete(p.values, key)
	n, err := strconv.ParseUint(text, 0, 32)
	if err != nil {
		p.fail("%s: %w", key, err)
	}
	return n
}

// length is a number of octets: "max" is the client's MAX_FRAME_SIZE, "window" what the server may send on stream,
// "debt" what the client's window there is below zero.
func (p *parameters) length(key string, stream frame.StreamID) int {
	text := p.values[key]
	base := int64(0)
	if rest, ok := strings.CutPrefix(text, "max"); ok {
		base, text = int64(p.maxFrame), rest
	} else if rest, ok := strings.CutPrefix(text, "window"); ok {
		base, text = p.window(stream), rest
	} else if rest, ok := strings.CutPrefix(text, "debt"); ok {
		base, text = p.debt(stream), rest
	}
	if text = strings.TrimPrefix(text, "+"); text == "" {
		text = "0"
	}
	p.values[key] = text
	return int(base) + int(p.number(key, 0))
}

// stream is the identifier under key, which a script gives as if the client's streams were 1, 3, 5.
func (p *parameters) streamID(key string) frame.StreamID {
	return p.world.stream(frame.StreamID(p.number(key, 0)))
}

// octets are those that key gives in hexadecimal.
func (p *parameters) octets(key string) ([]byte, bool) {
	text, ok := p.values[key]
	delete(p.values, key)
	raw, err := hex.DecodeString(p.unescape(text))
	if err != nil {
		p.fail("%s: %w", key, err)
	}
	return raw, ok
}

func (p *parameters) flag(name string) bool {
	set := p.flags[name]
	delete(p.flags, name)
	return set
}

// code is an error code by its name or number.
func (p *parameters) code() frame.ErrCode {
	name, ok := p.values["code"]
	delete(p.values, "code")
	for code := frame.NoError; code <= frame.HTTP11Required; code++ {
		if !ok || code.String() == name {
			return code
		}
	}
	n, err := strconv.ParseUint(name, 0, 32)
	if err != nil {
		p.fail("no error code %s", name)
	}
	return frame.ErrCode(n)
}

func (p *parameters) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}
