package strategy

import (
	"fmt"
	"strings"

	"example.com/h2flow/flow"
)

// An Info describes a strategy that Parse knows, for help texts.
type Info struct {
	// Name is what Parse reads.
	Name string
	// Options are the options with their defaults, as Parse reads them; empty if there are none.
	Options string
	// Summary says in one line what it does.
	Summary string
}

// kind is one row of the table of strategies.
type kind struct {
	name    string
	summary string
	options []option
	zero    flow.Config
	// make builds the Config from options, by position; an option that was not given is nil.
	make func(values []any) flow.Config
}

// option is one option of a strategy.
type option struct {
	name  string
	parse func(string) (any, error)
}

func size(name string) option {
	return option{name, func(s string) (any, error) { return parseSize(s) }}
}

func fraction(name string) option {
	return option{name, func(s string) (any, error) { return parseFraction(s) }}
}

var kinds = []kind{
	{
		name: "auto", summary: "windows follow the path and the readers: full rate, short queues, little memory; the default",
		options: []option{size("max")}, zero: Auto{},
		make: func(v []any) flow.Config { return Auto{Max: octets(v[0])} },
	},
	{
		name: "bdp", summary: "windows follow the bandwidth-delay product of the path, and never fall",
		options: []option{size("max")}, zero: BDP{},
		make: func(v []any) flow.Config { return BDP{Max: octets(v[0])} },
	},
	{
		name: "fixed", summary: "constant windows, given back as they are read",
		options: []option{size("stream"), size("conn")}, zero: Fixed{},
		make: func(v []any) flow.Config { return Fixed{Stream: octets(v[0]), Conn: octets(v[1])} },
	},
	{
		name: "threshold", summary: "constant windows, given back once a fraction of them was read",
		options: []option{size("stream"), size("conn"), fraction("fraction")}, zero: Threshold{},
		make: func(v []any) flow.Config {
			f, _ := v[2].(Fraction)
			return Threshold{Stream: octets(v[0]), Conn: octets(v[1]), Fraction: f}
		},
	},
	{
		name: "unlimited", summary: "windows of 2^31-1 octets: what the path can do, without a bound of memory",
		zero: Unlimited{}, make: func([]any) flow.Config { return Unlimited{} },
	},
}

// octets is the size that v holds, or 0, the default, for an option that was not given.
func octets(v any) int64 {
	n, _ := v.(int64)
	return n
}

// Names are the names that Parse knows, in alphabetical order. Each alone is a strategy with its defaults.
func Names() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// Table describes all strategies that Parse knows, in the order of Names.
func Table() []Info {
	infos := make([]Info, len(kinds))
	for i, k := range kinds {
		_, options, _ := strings.Cut(k.zero.String(), ":")
		infos[i] = Info{Name: k.name, Options: options, Summary: k.summary}
	}
	return infos
}

// Parse reads a strategy as the String methods of this package write it: a name, then options in any order, joined by
// colons. Options that are missing keep their defaults. Sizes are octets, or whole KiB, MiB or GiB.
//
//	auto
//	auto:max=64MiB
//	bdp:max=64MiB
//	fixed:stream=65535:conn=65535
//	threshold:stream=16MiB:conn=32MiB:fraction=1/4
//
// The error says what would have been understood.
func Parse(s string) (flow.Config, error) {
	name, rest, more := strings.Cut(s, ":")
	for _, k := range kinds {
		if k.name != name {
			continue
		}
		var given []string
		if more {
			given = strings.Split(rest, ":")
		}
		cfg, err := k.parse(given)
		if err != nil {
			return nil, fmt.Errorf("strategy %s: %w", name, err)
		}
		return cfg, nil
	}
	return nil, fmt.Errorf("unknown strategy %q: want one of %s", name, strings.Join(Names(), ", "))
}

func (k kind) parse(given []string) (flow.Config, error) {
	values := make([]any, len(k.options))
	for _, g := range given {
		name, value, _ := strings.Cut(g, "=")
		i := k.find(name)
		if i < 0 {
			return nil, fmt.Errorf("unknown option %q: want %s", g, k.known())
		}
		if values[i] != nil {
			return nil, fmt.Errorf("option %s is given twice", name)
		}
		v, err := k.options[i].parse(value)
		if err != nil {
			return nil, fmt.Errorf("option %s: %w", name, err)
		}
		if n, ok := v.(int64); ok && n == 0 {
			return nil, fmt.Errorf("option %s: a size of 0 lets nothing through; leave the option out for the default", name)
		}
		values[i] = v
	}
	cfg := k.make(values)
	if v, ok := cfg.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return nil, err
		}
	}
	return cfg, nil
}

// find is the position of the option name, or -1.
func (k kind) find(name string) int {
	for i, o := range k.options {
		if o.name == name {
			return i
		}
	}
	return -1
}

// known lists the options for an error text.
func (k kind) known() string {
	if len(k.options) == 0 {
		return "no option"
	}
	names := make([]string, len(k.options))
	for i, o := range k.options {
		names[i] = o.name
	}
	return "one of " + strings.Join(names, ", ")
}
