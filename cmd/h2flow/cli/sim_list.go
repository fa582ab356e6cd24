package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"example.com/h2flow/cmd/h2flow/internal/scenarios"
	"example.com/h2flow/cmd/h2flow/internal/sweep"
	"example.com/h2flow/strategy"
	"example.com/h2flow/strategy/peers"
)

var simListCommand = command{
	name:    "sim list",
	summary: "list scenarios, strategies and the fields of a scenario",
	text: `
Prints what the other verbs of sim take: the built-in scenarios, the strategies with their options, the models of
readers, and the fields of a scenario, each of which is a flag. With --json each scenario is one line, as it would stand
in a file; NAME prints that one alone, to begin a file of your own with.`,
	args: "[NAME]",
	example: `
h2flow sim list
h2flow sim list --json transatlantic > mine.json`,
	prepare: func(fs *flags) runner {
		asJSON := fs.Bool("json", false, "print scenarios as JSON, one a line")
		return func(ctx context.Context, e *env, args []string) error {
			if len(args) > 1 {
				return usagef("want at most one name, got %d arguments", len(args))
			}
			named := scenarios.All()
			if len(args) == 1 {
				n, ok := scenarios.Find(args[0])
				if !ok {
					return usagef("there is no scenario %q", args[0])
				}
				named = []scenarios.Named{n}
			}
			if *asJSON {
				encoder := json.NewEncoder(e.stdout)
				for _, n := range named {
					if err := encoder.Encode(n.Scenario); err != nil {
						return err
					}
				}
				return nil
			}
			printScenarios(e, named)
			if len(args) == 0 {
				printVocabulary(e, fs)
			}
			return nil
		}
	},
}

func printScenarios(e *env, named []scenarios.Named) {
	fmt.Fprintln(e.stdout, "Scenarios:")
	for _, n := range named {
		fmt.Fprintf(e.stdout, "  %-18s %s\n", n.Scenario.Name, n.About)
	}
}

// printVocabulary prints what flags and files are written with.
func printVocabulary(e *env, fs *flags) {
	fmt.Fprintln(e.stdout, "\nStrategies:")
	for _, info := range strategy.Table() {
		name := strings.TrimSuffix(info.Name+":"+info.Options, ":")
		fmt.Fprintf(e.stdout, "  %s\n      %s\n", name, info.Summary)
	}
	for _, cfg := range fs.configs {
		fmt.Fprintf(e.stdout, "  %s\n", cfg)
	}
	fmt.Fprintln(e.stdout, "\nModels of other clients, which the word peers stands for together in a list of strategies:")
	for _, info := range peers.Table() {
		fmt.Fprintf(e.stdout, "  %s\n      %s\n", strings.TrimSuffix(info.Name+":"+info.Options, ":"), info.Summary)
	}
	fmt.Fprint(e.stdout, `
Readers:
  instant
  rate:mbit=8
  burst:bytes=64KiB:every=100ms
  pause:after=2s:for=3s:bytes=64KiB:every=100ms
  never

Fields of a scenario, in JSON and as flags (rtt_ms is --rtt-ms):
`)
	for _, f := range sweep.Fields {
		fmt.Fprintf(e.stdout, "  %-26s %s\n", f.Name, f.Usage)
	}
}
