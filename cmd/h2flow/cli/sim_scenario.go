package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"example.com/h2flow/cmd/h2flow/internal/scenarios"
	"example.com/h2flow/cmd/h2flow/internal/sweep"
	"example.com/h2flow/flow"
	"example.com/h2flow/sim"
	"example.com/h2flow/strategy"
	"example.com/h2flow/strategy/peers"
)

// A simPlan is a scenario with the flags that vary it.
type simPlan struct {
	flags      *flags
	axes       map[string][]json.RawMessage // by the name of the field
	strategies []flow.Config
	trace      []int64 // of the bottleneck, in milliseconds
}

// defaultScenario is what is run if no scenario is named.
var defaultScenario = sim.Scenario{Name: "bulk", RTTMs: 50, RateMbit: 100, Bytes: 10 << 20, Seed: 1}

// declareFields declares a flag for each field of a scenario.
func (p *simPlan) declareFields(fs *flags) {
	p.flags, p.axes = fs, make(map[string][]json.RawMessage)
	for _, field := range sweep.Fields {
		fs.Var(&value{
			set: func(s string) error { return p.setField(field, s) },
			get: func() string { return "" },
		}, fieldFlag(field.Name), "`V,...` "+field.Usage)
	}
	fs.Var(&value{set: p.readTrace, get: func() string { return "" }}, "trace",
		"`FILE` of the times in ms at which the bottleneck lets a packet pass,\none a line, as mahimahi has it")
}

// readTrace reads the trace of the bottleneck.
func (p *simPlan) readTrace(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTrace+1))
	if err != nil {
		return err
	}
	if len(text) > maxTrace {
		return fmt.Errorf("%s is larger than 64 MiB", path)
	}
	p.trace, err = sim.ReadTrace(text)
	return err
}

// maxTrace is the largest file that is read as a trace, in octets.
const maxTrace = 64 << 20

// fieldFlag is the flag of a field: server.think_ms is --server-think-ms.
func fieldFlag(name string) string { return strings.NewReplacer("_", "-", ".", "-").Replace(name) }

// setField adds the values of a list to its field. A value that is there already is left out.
func (p *simPlan) setField(field sweep.Field, s string) error {
	elements := splitList(s)
	if len(elements) == 0 {
		return fmt.Errorf("the list is empty")
	}
	for _, e := range elements {
		values, err := field.Parse(e, parseSize)
		if err != nil {
			return err
		}
		for _, v := range values {
			known := func(old json.RawMessage) bool { return string(old) == string(v) }
			if !slices.ContainsFunc(p.axes[field.Name], known) {
				p.axes[field.Name] = append(p.axes[field.Name], v)
			}
		}
	}
	return nil
}

// declareStrategies declares --strategy as a list with ranges.
func (p *simPlan) declareStrategies(fs *flags, usage string) {
	fs.Var(&value{
		set: func(s string) error {
			for _, e := range splitList(strings.ReplaceAll(s, ";", ",")) {
				names, err := sweep.ExpandStrategy(e, parseSize)
				if err != nil {
					return err
				}
				if e == allPeers {
					names = peers.Names()
				}
				for _, name := range names {
					cfg, err := fs.parseStrategy(name)
					if err != nil {
						return err
					}
					p.strategies = appendStrategy(p.strategies, cfg)
				}
			}
			if len(p.strategies) == 0 {
				return fmt.Errorf("the list is empty")
			}
			return nil
		},
		get: func() string { return "" },
	}, "strategy", usage)
}

// allPeers stands for the models of all other clients in a list of strategies.
const allPeers = "peers"

// appendStrategy appends cfg unless it is there already.
func appendStrategy(list []flow.Config, cfg flow.Config) []flow.Config {
	if slices.ContainsFunc(list, func(c flow.Config) bool { return c.String() == cfg.String() }) {
		return list
	}
	return append(list, cfg)
}

// simStrategies are those that are compared if none are named, the yardstick first.
func simStrategies(configs []flow.Config) []flow.Config {
	list := []flow.Config{strategy.Unlimited{}}
	for _, name := range strategy.Names() {
		if cfg, err := strategy.Parse(name); err == nil {
			list = appendStrategy(list, cfg)
		}
	}
	for _, cfg := range configs {
		list = appendStrategy(list, cfg)
	}
	return list
}

// plan is what the flags make of the scenario.
func (p *simPlan) plan(base sim.Scenario) sweep.Plan {
	if p.trace != nil {
		base.TraceMs = p.trace
		if len(p.axes["rate_mbit"]) == 0 {
			base.RateMbit = 0 // the mean of the trace
		}
	}
	plan := sweep.Plan{Base: base, Strategies: p.strategies}
	for _, field := range sweep.Fields {
		if values := p.axes[field.Name]; len(values) > 0 {
			plan.Axes = append(plan.Axes, sweep.Axis{Field: field.Name, Values: values})
		}
	}
	return plan
}

// fixed checks that no field has several values but those in but.
func (p *simPlan) fixed(verb string, but ...string) error {
	for _, field := range sweep.Fields {
		if n := len(p.axes[field.Name]); n > 1 && !slices.Contains(but, field.Name) {
			return usagef("--%s has %d values, and %s takes one; sim sweep takes all", fieldFlag(field.Name), n, verb)
		}
	}
	return nil
}

// baseScenario is the scenario that the argument names: a file, standard input, a built-in one, or, without an
// argument, the default. Its strategy, if it has one, is the one to run when no flag says another.
func (p *simPlan) baseScenario(args []string) (sim.Scenario, error) {
	switch {
	case len(args) == 0:
		return defaultScenario, nil
	case len(args) > 1:
		return sim.Scenario{}, usagef("want one scenario, got %d arguments", len(args))
	}
	name := args[0]
	if named, ok := scenarios.Find(name); ok {
		return named.Scenario, nil
	}
	if name != "-" && !strings.HasSuffix(name, ".json") && !strings.ContainsRune(name, os.PathSeparator) {
		if _, err := os.Stat(name); err != nil {
			return sim.Scenario{}, usagef("there is no scenario %q: want the name of one in h2flow sim list, or a file", name)
		}
	}
	return p.readScenario(name)
}

// maxScenario is the largest file that is read as a scenario, in octets.
const maxScenario = 1 << 20

func (p *simPlan) readScenario(name string) (sim.Scenario, error) {
	in := os.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return sim.Scenario{}, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxScenario+1))
	if err != nil {
		return sim.Scenario{}, err
	}
	if len(text) > maxScenario {
		return sim.Scenario{}, fmt.Errorf("%s is no scenario: it is larger than 1 MiB", name)
	}
	// A strategy of the caller's own is not known to package sim: it is taken out, and found here.
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return sim.Scenario{}, fmt.Errorf("%s: scenario: %w", name, err)
	}
	var own flow.Config
	if raw, ok := fields["strategy"]; ok {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return sim.Scenario{}, fmt.Errorf("%s: scenario: strategy: %w", name, err)
		}
		if s != "" {
			if own, err = p.flags.parseStrategy(s); err != nil {
				return sim.Scenario{}, fmt.Errorf("%s: %w", name, err)
			}
		}
		delete(fields, "strategy")
		if text, err = json.Marshal(fields); err != nil {
			return sim.Scenario{}, err
		}
	}
	s, err := sim.ReadScenario(text)
	if err != nil {
		return sim.Scenario{}, fmt.Errorf("%s: %w", name, err)
	}
	s.Flow = own
	return s, nil
}

// single is the one scenario that the arguments and flags give, with one strategy.
func (p *simPlan) single(verb string, args []string) (sim.Scenario, error) {
	if err := p.fixed(verb); err != nil {
		return sim.Scenario{}, err
	}
	if len(p.strategies) > 1 {
		return sim.Scenario{}, usagef("%d strategies, and %s takes one; sim compare takes all", len(p.strategies), verb)
	}
	base, err := p.baseScenario(args)
	if err != nil {
		return base, err
	}
	p.settleStrategies(base, []flow.Config{strategy.BDP{}})
	cells, err := p.plan(base).Cells()
	if err != nil {
		return base, usageError{err}
	}
	return cells[0].Scenario, nil
}

// settleStrategies fills in the strategies if no flag did: that of the scenario, else def.
func (p *simPlan) settleStrategies(base sim.Scenario, def []flow.Config) {
	switch {
	case len(p.strategies) > 0:
	case base.Flow != nil:
		p.strategies = []flow.Config{base.Flow}
	default:
		p.strategies = def
	}
}
