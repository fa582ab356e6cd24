package conformance

import (
	"fmt"
	"strconv"
	"strings"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
)

// frame makes a frame of the type that words name.
func (p *parameters) frame(typ string) any {
	if typ == "FRAME" {
		return p.anyFrame()
	}
	id := p.streamID("stream")
	switch typ {
	case "DATA":
		return p.data(id)
	case "HEADERS":
		return p.headers(id)
	case "CONTINUATION":
		block, _ := p.octets("block")
		return frame.Continuation{Stream: id, EndHeaders: p.flag("END_HEADERS"), Fragment: block}
	case "PUSH_PROMISE":
		return p.promise(id)
	case "RST_STREAM":
		return frame.RSTStream{Stream: id, Code: p.code()}
	case "GOAWAY":
		return frame.GoAway{LastStream: p.streamID("last"), Code: p.code(), Debug: make([]byte, p.number("debug", 0))}
	case "PING":
		return p.ping()
	case "WINDOW_UPDATE":
		return frame.WindowUpdate{Stream: id, Increment: uint32(p.length("increment", id))}
	case "PRIORITY":
		return frame.Priority{Stream: id, PriorityParam: frame.PriorityParam{DependsOn: p.streamID("on"), Weight: 15}}
	case "SETTINGS":
		return frame.Settings{Ack: p.flag("ACK")}
	}
	p.fail("no frame of type %s", typ)
	return nil
}

// anyFrame is a frame of which the script gives each part, legal or not.
func (p *parameters) anyFrame() any {
	h := frame.Header{Stream: p.streamID("stream"), Flags: frame.Flags(p.number("flags", 0))}
	name := p.values["type"]
	delete(p.values, "type")
	n, err := strconv.ParseUint(name, 0, 8)
	h.Type = frame.Type(n)
	for t := frame.TypeData; err != nil && t <= frame.TypePriorityUpdate; t++ {
		if t.String() == name {
			h.Type, err = t, nil
		}
	}
	if err != nil {
		p.fail("no type of frame %q", name)
	}
	payload, given := p.octets("payload")
	if _, ok := p.values["len"]; ok || !given {
		payload = append(payload, make([]byte, max(0, p.length("len", h.Stream)-len(payload)))...)
	}
	h.Length = uint32(len(payload))
	return frame.Unknown{Header: h, Payload: payload}
}

// data is one DATA frame, or as many as it takes to carry a total.
func (p *parameters) data(id frame.StreamID) any {
	end := p.flag("END_STREAM")
	if _, ok := p.values["total"]; ok {
		left := p.length("total", id)
		var all frames
		for left > 0 {
			n := min(left, frame.MinMaxFrameSize)
			left -= n
			all = append(all, frame.Data{Stream: id, Data: make([]byte, n), EndStream: end && left == 0})
		}
		return all
	}
	f := frame.Data{Stream: id, Data: make([]byte, p.length("len", id)), EndStream: end}
	_, f.Padded = p.values["pad"]
	f.PadLength = uint8(p.number("pad", 0))
	return f
}

// frames are several frames that are said as one.
type frames []frame.Frame

func (p *parameters) headers(id frame.StreamID) any {
	h := peer.Headers{Stream: id, Fields: p.fields, EndStream: p.flag("END_STREAM"), Open: p.flag("open"),
		Continuations: int(p.number("continuations", 0)), HasPriority: p.flag("PRIORITY")}
	_, h.Padded = p.values["pad"]
	h.PadLength = uint8(p.number("pad", 0))
	block, ok := p.octets("block")
	if !ok {
		return h
	}
	return frame.Headers{Stream: id, EndStream: h.EndStream, EndHeaders: !h.Open, HasPriority: h.HasPriority,
		Padded: h.Padded, PadLength: h.PadLength, Fragment: block}
}

func (p *parameters) promise(id frame.StreamID) any {
	promised := frame.StreamID(p.number("promised", 0))
	f := peer.PushPromise{Stream: id, Promised: promised, Fields: p.fields, Open: p.flag("open")}
	if len(f.Fields) == 0 {
		f.Fields = []frame.Field{{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "http"},
			{Name: ":authority", Value: "127.0.0.1"}, {Name: ":path", Value: "/pushed"}}
	}
	return f
}

func (p *parameters) ping() frame.Ping {
	f := frame.Ping{Ack: p.flag("ACK")}
	if data, ok := p.octets("data"); ok && copy(f.Data[:], data) != 8 {
		p.fail("the data of PING is not 8 octets in hexadecimal")
	}
	return f
}

// parseSettings reads settings, by name or number, in the order in which they are to be sent.
func parseSettings(words []string) ([]frame.Setting, error) {
	var list []frame.Setting
	for _, w := range words {
		name, text, _ := strings.Cut(w, "=")
		value, err := strconv.ParseUint(text, 0, 32)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		n, err := strconv.ParseUint(name, 0, 16)
		id := frame.SettingID(n)
		for known := frame.SettingHeaderTableSize; err != nil && known <= frame.SettingNoRFC7540Priorities; known++ {
			if known.String() == name {
				id, err = known, nil
			}
		}
		if err != nil {
			return nil, fmt.Errorf("no setting %s", name)
		}
		list = append(list, frame.Setting{ID: id, Value: uint32(value)})
	}
	return list, nil
}
