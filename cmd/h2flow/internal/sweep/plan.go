package sweep

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"example.com/h2flow/flow"
	"example.com/h2flow/sim"
)

// A Plan is what a sweep runs: the scenario Base with every combination of the values of Axes and of Strategies.
type Plan struct {
	Base sim.Scenario
	// Axes vary the fields of Base, the first one slowest.
	Axes []Axis
	// Strategies vary faster than the axes, so that those to be compared stand together.
	Strategies []flow.Config
}

// An Axis is the values of one field.
type Axis struct {
	Field  string            `json:"field"` // the Name of one of Fields
	Values []json.RawMessage `json:"values"`
}

// A Cell is one scenario of a plan.
type Cell struct {
	// Index is its position in the plan.
	Index int
	// Scenario is what to run. Its Flow is set.
	Scenario sim.Scenario
}

// maxCells is how many cells a plan may have.
const maxCells = 10_000_000

// Cells lists all cells. A field that the records do not show is in the name of the scenario if it has several values.
// An error names the first cell that cannot be run.
func (p Plan) Cells() ([]Cell, error) {
	total := len(p.Strategies)
	for _, a := range p.Axes {
		if total *= len(a.Values); total > maxCells {
			return nil, fmt.Errorf("the plan has more than %d cells", maxCells)
		}
	}
	if total == 0 {
		return nil, fmt.Errorf("the plan has no cell: it needs a strategy, and each axis a value")
	}
	base, err := fieldsOf(p.Base)
	if err != nil {
		return nil, err
	}
	cells := make([]Cell, 0, total)
	for n := range total / len(p.Strategies) {
		s, err := p.scenario(base, n)
		if err != nil {
			return nil, err
		}
		for _, cfg := range p.Strategies {
			s.Strategy, s.Flow = "", cfg
			cells = append(cells, Cell{Index: len(cells), Scenario: s})
		}
	}
	return cells, nil
}

// scenario is the n-th combination of the axes' values.
func (p Plan) scenario(base map[string]json.RawMessage, n int) (sim.Scenario, error) {
	chosen := make([]json.RawMessage, len(p.Axes))
	for i, a := range slices.Backward(p.Axes) {
		chosen[i] = a.Values[n%len(a.Values)]
		n /= len(a.Values)
	}
	fields := make(map[string]json.RawMessage, len(base)+len(p.Axes))
	for k, v := range base {
		fields[k] = v
	}
	name := p.Base.Title()
	for i, a := range p.Axes {
		if err := set(fields, a.Field, chosen[i]); err != nil {
			return sim.Scenario{}, err
		}
		if len(a.Values) > 1 && !inRecords(a.Field) {
			name += fmt.Sprintf(" %s=%s", strings.TrimPrefix(a.Field, "server."), strings.Trim(string(chosen[i]), `"`))
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return sim.Scenario{}, err
	}
	s, err := sim.ReadScenario(text)
	s.Name = name
	return s, err
}

// inRecords says whether a record shows the field, so that it need not be in its scenario's name.
func inRecords(field string) bool {
	switch field {
	case "rtt_ms", "rate_mbit", "loss", "seed", "reader", "bytes":
		return true
	}
	return false
}

// fieldsOf is a scenario as JSON, by field, without its strategy.
func fieldsOf(s sim.Scenario) (map[string]json.RawMessage, error) {
	s.Strategy, s.Flow = "", nil
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	err = json.Unmarshal(text, &fields)
	return fields, err
}

// set sets one field, which may be one of a part: "server.think_ms". The part is copied, since others share it.
func set(fields map[string]json.RawMessage, name string, v json.RawMessage) error {
	part, name, ok := strings.Cut(name, ".")
	if !ok {
		fields[part] = v
		return nil
	}
	inner := make(map[string]json.RawMessage)
	if old, ok := fields[part]; ok {
		if err := json.Unmarshal(old, &inner); err != nil {
			return err
		}
	}
	inner[name] = v
	text, err := json.Marshal(inner)
	fields[part] = text
	return err
}

// manifest describes a plan in a file, so that two plans are not taken for one.
type manifest struct {
	Base       sim.Scenario `json:"base"`
	Axes       []Axis       `json:"axes"`
	Strategies []string     `json:"strategies"`
	Cells      int          `json:"cells"`
}

// manifest describes the plan, also as the text of a file. Equal plans give equal texts.
func (p Plan) manifest() (manifest, []byte, error) {
	m := manifest{Base: p.Base, Axes: p.Axes, Cells: len(p.Strategies)}
	m.Base.Strategy = ""
	for _, a := range p.Axes {
		m.Cells *= len(a.Values)
	}
	for _, s := range p.Strategies {
		m.Strategies = append(m.Strategies, s.String())
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "\t")
	e.SetEscapeHTML(false)
	err := e.Encode(m)
	return m, b.Bytes(), err
}

// idOf is a short name of a manifest, which is in each line of its journals, so that a line of another plan is not
// taken for one of its own.
func idOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
