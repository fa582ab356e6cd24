package peers

import (
	"fmt"
	"strconv"
	"strings"

	"example.com/h2flow/flow"
)

// Prefix begins the name of every model.
const Prefix = "peer:"

// An Info describes a model that Parse knows.
type Info struct {
	// Name is what Parse reads.
	Name string
	// Options names the options, joined by colons, as Parse reads them; empty if there are none.
	Options string
	// Summary says in one line what the client does.
	Summary string
	// Breaks names the promises of package flowtest that the model does not keep, since its client does not either.
	Breaks []string
}

// row is one row of the table of models.
type row struct {
	name    string
	summary string
	options string
	breaks  []string
	// make builds the Config from what was given.
	make func(o *options) flow.Config
}

// Names are the names of all models, in the order of Table.
func Names() []string {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = Prefix + r.name
	}
	return names
}

// Table describes all models.
func Table() []Info {
	infos := make([]Info, len(rows))
	for i, r := range rows {
		infos[i] = Info{Name: Prefix + r.name, Options: r.options, Summary: r.summary, Breaks: r.breaks}
	}
	return infos
}

// Parse reads a model as the String methods of this package write it: Prefix and a name, then options in any order,
// joined by colons. Sizes are octets, or whole KiB, MiB or GiB.
//
//	peer:grpc-go
//	peer:dart:stream=32MiB
//	peer:okhttp:defects=true
//
// The error says what would have been understood.
func Parse(s string) (flow.Config, error) {
	rest, ok := strings.CutPrefix(s, Prefix)
	if !ok {
		return nil, fmt.Errorf("%q is no model of a client: want %s and a name", s, Prefix)
	}
	name, given, more := strings.Cut(rest, ":")
	for _, r := range rows {
		if r.name != name {
			continue
		}
		o := &options{known: strings.Split(r.options, ":"), values: make(map[string]string)}
		if more {
			o.read(given)
		}
		cfg := r.make(o)
		if o.err != nil {
			return nil, fmt.Errorf("strategy %s%s: %w", Prefix, name, o.err)
		}
		return cfg, nil
	}
	return nil, fmt.Errorf("unknown model %q: want one of %s", s, strings.Join(Names(), ", "))
}

// Lookup is Parse for names that begin with Prefix, and otherwise for all others: Lookup(s, strategy.Parse) reads every
// strategy that there is.
func Lookup(s string, otherwise func(string) (flow.Config, error)) (flow.Config, error) {
	if strings.HasPrefix(s, Prefix) {
		return Parse(s)
	}
	return otherwise(s)
}

// options are the options that were given, as text, and the first fault in them.
type options struct {
	known  []string
	values map[string]string
	err    error
}

func (o *options) read(given string) {
	for _, g := range strings.Split(given, ":") {
		name, value, _ := strings.Cut(g, "=")
		if !o.knows(name) {
			o.fail("unknown option %q: want %s", g, o.want())
		}
		if _, twice := o.values[name]; twice {
			o.fail("option %s is given twice", name)
		}
		o.values[name] = value
	}
}

func (o *options) knows(name string) bool {
	for _, k := range o.known {
		if k == name && name != "" {
			return true
		}
	}
	return false
}

func (o *options) want() string {
	if len(o.known) == 1 && o.known[0] == "" {
		return "no option"
	}
	return "one of " + strings.Join(o.known, ", ")
}

func (o *options) fail(format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf(format, args...)
	}
}

// units of sizes, largest first, so that formatSize picks the largest that divides the size.
var units = []struct {
	name   string
	octets int64
}{
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
}

// size is an option that is a size, 0 if it was not given.
func (o *options) size(name string) int64 {
	s, given := o.values[name]
	if !given {
		return 0
	}
	digits, octets := s, int64(1)
	for _, u := range units {
		if d, ok := strings.CutSuffix(s, u.name); ok {
			digits, octets = d, u.octets
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || n == 0 || int64(n) > flow.MaxWindow/octets {
		o.fail("option %s: %q is no size of 1 to 2^31-1: want octets such as 65535, or 64KiB, 16MiB, 1GiB", name, s)
		return 0
	}
	return int64(n) * octets
}

// count is an option that is a number from 1 to most.
func (o *options) count(name string, most int64) int64 {
	s, given := o.values[name]
	n, err := strconv.ParseUint(s, 10, 32)
	if given && (err != nil || n < 1 || int64(n) > most) {
		o.fail("option %s: %q: want 1 to %d", name, s, most)
		return 0
	}
	return int64(n)
}

// conn is an option that is a connection window.
func (o *options) conn(name string) int64 {
	n := o.size(name)
	// The connection window starts at 65,535 octets and WINDOW_UPDATE can only raise it. RFC 9113, Section 6.9.2.
	if n != 0 && n < flow.DefaultWindow {
		o.fail("option %s: a connection window of %d octets: want %d at least", name, n, flow.DefaultWindow)
	}
	return n
}

// flag is an option that is true or false.
func (o *options) flag(name string) bool {
	s, given := o.values[name]
	if given && s != "true" && s != "false" {
		o.fail("option %s: %q: want true or false", name, s)
	}
	return s == "true"
}

// pair is an option with its value; one without value is not written.
type pair struct{ name, value string }

func size(name string, n int64) pair {
	if n <= 0 {
		return pair{}
	}
	for _, u := range units {
		if n%u.octets == 0 {
			return pair{name, strconv.FormatInt(n/u.octets, 10) + u.name}
		}
	}
	return pair{name, strconv.FormatInt(n, 10)}
}

func flag(name string, set bool) pair {
	if !set {
		return pair{}
	}
	return pair{name, "true"}
}

// describe joins a name and options as Parse reads them.
func describe(name string, pairs ...pair) string {
	var b strings.Builder
	b.WriteString(Prefix + name)
	for _, p := range pairs {
		if p.value != "" {
			b.WriteString(":" + p.name + "=" + p.value)
		}
	}
	return b.String()
}
