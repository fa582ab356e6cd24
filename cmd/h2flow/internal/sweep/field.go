package sweep

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"example.com/h2flow/sim"
)

// A Kind says how people write the values of a field.
type Kind uint8

// The kinds of fields.
const (
	Number Kind = iota // 0.5, 20
	Count              // a whole number
	Octets             // 65535, 64KiB
	Text
	Truth // true or false
)

// A Field is one field of sim.Scenario that may take a list of values.
type Field struct {
	// Name is its name in JSON; a field of the server has "server." before it.
	Name  string
	Kind  Kind
	Usage string
}

// Fields are all those of sim.Scenario that hold a single value, but for the strategy and the name.
var Fields = []Field{
	{"rtt_ms", Number, "round-trip times in milliseconds"},
	{"rate_mbit", Number, "rates of the bottleneck in Mbit/s, 0 without limit"},
	{"loss", Number, "probabilities of losing a segment, 0 to below 1"},
	{"seed", Count, "seeds of the losses; 1..5 means 1 to 5"},
	{"reader", Text, "readers: instant, rate:mbit=8, burst:bytes=64KiB:every=100ms, pause:after=2s:for=3s, never"},
	{"bytes", Octets, "sizes of each response's body"},
	{"requests", Count, "requests one after the other on a connection; the second and later ones are warm"},
	{"streams", Count, "streams of each request, at once"},
	{"unread_streams", Count, "how many of the streams nobody reads"},
	{"connections", Count, "connections that share the bottleneck"},
	{"stagger_ms", Number, "time from one connection's start to the next one's"},
	{"gap_ms", Number, "pause before each later request"},
	{"small_bytes", Octets, "sizes of small responses beside the bulk"},
	{"small_every_ms", Number, "time from one small response to the next"},
	{"queue_bdp", Number, "room of the bottleneck's queue in bandwidth-delay products; 0 means 4"},
	{"queue_bytes", Octets, "room of the bottleneck's queue in octets"},
	{"up_rate_mbit", Number, "rates of the way to the server; 0 means as the other"},
	{"congestion_control", Text, "what the sender obeys: cubic, reno, bbr"},
	{"no_hystart", Truth, "slow start ends by loss alone: false, true"},
	{"initial_window_segments", Count, "what a new connection of TCP sends at once; 0 means 10"},
	{"receive_buffer_bytes", Octets, "bounds of the receive window of the client's TCP; 0 means 64 MiB"},
	{"handshake_rtts", Count, "round trips before the first request; 0 means 1"},
	{"kernel_rtt", Truth, "tell the strategy the round-trip time that TCP measured: false, true"},
	{"limit_seconds", Number, "end of the run, in simulated seconds; 0 means 3600"},
	{"check_invariants", Truth, "check all invariants after every step: false, true"},
	{"server.frame_bytes", Octets, "largest payload of the server's DATA frames; 0 means 16384"},
	{"server.write_bytes", Octets, "how much the server writes at a time; 0 means 64 KiB"},
	{"server.chunk_bytes", Octets, "how much of a body the server's handler hands over at a time; 0 means all"},
	{"server.think_ms", Number, "time from a request's arrival to its response"},
	{"server.send_buffer_bytes", Octets, "bounds of what the server has written and not got acknowledged"},
	{"server.ping_strikes", Count, "PINGs between two frames that the server tolerates; 0 means all"},
}

// Parse reads one element of a list: a value, or a range of numbers such as 5..80*2 or 10..50+10. size reads octets.
func (f Field) Parse(s string, size func(string) (int64, error)) ([]json.RawMessage, error) {
	switch f.Kind {
	case Text:
		return f.text(s)
	case Truth:
		v, err := strconv.ParseBool(s)
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", s)
		}
		return []json.RawMessage{json.RawMessage(strconv.FormatBool(v))}, nil
	}
	parse, unit := ParseNumber, 0.0
	switch f.Kind {
	case Octets:
		parse = func(s string) (float64, error) {
			n, err := size(s)
			return float64(n), err
		}
	case Count:
		unit = 1
	}
	values, ok, err := expandRange(s, unit, parse)
	if err != nil {
		return nil, err
	}
	if !ok {
		v, err := parse(s)
		if err != nil {
			return nil, err
		}
		values = []float64{v}
	}
	return f.numbers(values)
}

// numbers writes values as JSON.
func (f Field) numbers(values []float64) ([]json.RawMessage, error) {
	var list []json.RawMessage
	for _, v := range values {
		if f.Kind == Octets {
			v = math.Round(v)
		}
		if f.Kind == Count && v != math.Trunc(v) {
			return nil, fmt.Errorf("%v is no whole number", v)
		}
		if v < 0 || f.Kind != Number && v > 1<<53 {
			return nil, fmt.Errorf("%v is out of range", v)
		}
		list = append(list, json.RawMessage(strconv.FormatFloat(v, 'f', -1, 64)))
	}
	return list, nil
}

// text writes s as JSON; a reader is written as it describes itself.
func (f Field) text(s string) ([]json.RawMessage, error) {
	if f.Name == "reader" {
		r, err := sim.ParseReader(s)
		if err != nil {
			return nil, err
		}
		s = r.String()
	}
	b, err := json.Marshal(s)
	return []json.RawMessage{b}, err
}
