package peers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/flow"
	"example.com/h2flow/flow/flowtest"
	"example.com/h2flow/strategy/peers"
)

// reports keeps what the kit says.
type reports struct{ lines []string }

func (r *reports) Helper() {}
func (r *reports) Errorf(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// broken is the names of the kit's scenarios that cfg fails, in their order.
func broken(cfg flow.Config) (names, lines []string) {
	var r reports
	flowtest.Run(&r, cfg)
	for _, line := range r.lines {
		rest := strings.TrimPrefix(line, cfg.String()+": ")
		name, _, _ := strings.Cut(rest, ": ")
		names = append(names, name)
	}
	return names, r.lines
}

// Every model keeps what the kit demands, but for what its client is known to break.
func TestModelsKeepTheirPromises(t *testing.T) {
	for _, info := range peers.Table() {
		t.Run(info.Name, func(t *testing.T) {
			got, lines := broken(parse(t, info.Name))
			if diff := cmp.Diff(info.Breaks, got); diff != "" {
				t.Errorf("broken promises (-want +got):\n%s%s", diff, strings.Join(lines, "\n"))
			}
		})
	}
}

func parse(t *testing.T, spec string) flow.Config {
	t.Helper()
	cfg, err := peers.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}
