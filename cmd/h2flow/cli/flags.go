package cli

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/strategy"
	"example.com/h2flow/strategy/peers"
)

// flags are the flags of one verb: std's, with values as people write them, accepted before and after the other
// arguments, and told about with two dashes.
type flags struct {
	*flag.FlagSet
	configs []flow.Config
}

func newFlags(verb string, configs []flow.Config) *flags {
	fs := &flags{FlagSet: flag.NewFlagSet(verb, flag.ContinueOnError), configs: configs}
	fs.SetOutput(io.Discard)
	return fs
}

// parse parses args and returns those that are no flags. Everything after "--" is no flag.
func (f *flags) parse(args []string) ([]string, error) {
	var rest []string
	for {
		err := f.Parse(args)
		if err == flag.ErrHelp {
			return nil, err
		}
		if err != nil {
			return nil, usageError{err}
		}
		used := len(args) - f.NArg()
		if f.NArg() == 0 || used > 0 && args[used-1] == "--" {
			return append(rest, f.Args()...), nil
		}
		rest = append(rest, f.Arg(0))
		args = f.Args()[1:]
	}
}

// given says whether the command line has the flag name.
func (f *flags) given(name string) bool {
	found := false
	f.Visit(func(fl *flag.Flag) { found = found || fl.Name == name })
	return found
}

// print lists the flags, but for those without a usage, which are not for people.
func (f *flags) print(w io.Writer) {
	f.VisitAll(func(fl *flag.Flag) {
		if fl.Usage == "" {
			return
		}
		value, usage := flag.UnquoteUsage(fl)
		left := strings.TrimSpace(dashes(fl.Name) + fl.Name + " " + value)
		switch fl.DefValue {
		case "", "false", "0", "0s": // usage tells what that means
		default:
			usage += " (default " + fl.DefValue + ")"
		}
		fmt.Fprintf(w, "  %-28s %s\n", left, strings.ReplaceAll(usage, "\n", "\n"+strings.Repeat(" ", 31)))
	})
}

// dashes are what people write before the name of a flag.
func dashes(name string) string {
	if len(name) == 1 {
		return "-"
	}
	return "--"
}

// value is a flag.Value made of three functions.
type value struct {
	set    func(string) error
	get    func() string
	isBool bool
}

func (v *value) Set(s string) error { return v.set(s) }
func (v *value) String() string {
	if v.get == nil {
		return ""
	}
	return v.get()
}
func (v *value) IsBoolFlag() bool { return v.isBool }

// size declares a number of octets.
func (f *flags) size(p *int64, name string, def int64, usage string) {
	*p = def
	f.Var(&value{
		set: func(s string) (err error) { *p, err = parseSize(s); return err },
		get: func() string { return formatSize(*p) },
	}, name, usage)
}

// duration declares a time that is not negative.
func (f *flags) duration(p *time.Duration, name string, def time.Duration, usage string) {
	*p = def
	f.Var(&value{
		set: func(s string) (err error) { *p, err = parseTime(s); return err },
		get: func() string { return p.String() },
	}, name, usage)
}

// list declares a comma-separated list that may also be given repeatedly. The first time replaces the default.
func list[T any](f *flags, p *[]T, name, def, usage string, parse func(string) (T, error)) {
	first := true
	f.Var(&value{
		set: func(s string) error {
			if first {
				*p, first = nil, false
			}
			elements := splitList(s)
			if len(elements) == 0 {
				return fmt.Errorf("the list is empty")
			}
			for _, e := range elements {
				v, err := parse(e)
				if err != nil {
					return err
				}
				*p = append(*p, v)
			}
			return nil
		},
		get: func() string { return def },
	}, name, usage)
}

// strategies declares a list of strategies.
func (f *flags) strategies(p *[]flow.Config, name, def, usage string) {
	list(f, p, name, def, usage, f.parseStrategy)
}

// strategy declares one strategy.
func (f *flags) strategy(p *flow.Config, name, usage string) {
	f.Var(&value{
		set: func(s string) (err error) { *p, err = f.parseStrategy(s); return err },
		get: func() string {
			if *p == nil {
				return ""
			}
			return (*p).String()
		},
	}, name, usage)
}

// parseStrategy finds the strategy that s names: one of the caller's own, one of package strategy,
// or a model of another client, from package peers.
func (f *flags) parseStrategy(s string) (flow.Config, error) {
	for _, c := range f.configs {
		full := c.String()
		if short, _, _ := strings.Cut(full, ":"); s == full || s == short {
			return c, nil
		}
	}
	return peers.Lookup(s, strategy.Parse)
}
