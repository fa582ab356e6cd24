package scenarios_test

import (
	"testing"

	"example.com/h2flow/cmd/h2flow/internal/scenarios"
)

func TestAllAreFoundAndValid(t *testing.T) {
	seen := make(map[string]bool)
	for _, n := range scenarios.All() {
		name := n.Scenario.Name
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
		if err := n.Scenario.Validate(); err != nil {
			t.Error(err)
		}
		if found, ok := scenarios.Find(name); !ok || found.About != n.About || n.About == "" {
			t.Errorf("Find(%q) gives %+v, %v", name, found, ok)
		}
	}
	if _, ok := scenarios.Find("nothing"); ok {
		t.Error("Find finds what is not there")
	}
}
