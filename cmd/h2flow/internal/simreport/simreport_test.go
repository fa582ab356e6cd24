package simreport

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/cmd/h2flow/internal/plot"
	"example.com/h2flow/cmd/h2flow/internal/sweep"
	"example.com/h2flow/flow"
	"example.com/h2flow/sim"
	"example.com/h2flow/strategy"
)

// outcomes runs a small sweep.
func outcomes(t *testing.T, base sim.Scenario, streams ...string) []sweep.Outcome {
	t.Helper()
	p := sweep.Plan{
		Base: base,
		Axes: []sweep.Axis{{Field: "rtt_ms", Values: []json.RawMessage{[]byte("5"), []byte("20")}}},
		Strategies: []flow.Config{
			strategy.Unlimited{}, strategy.Fixed{}, strategy.BDP{},
		},
	}
	for _, n := range streams {
		if len(p.Axes) == 1 {
			p.Axes = append(p.Axes, sweep.Axis{Field: "streams"})
		}
		p.Axes[1].Values = append(p.Axes[1].Values, json.RawMessage(n))
	}
	cells, err := p.Cells()
	if err != nil {
		t.Fatal(err)
	}
	list := make([]sweep.Outcome, len(cells))
	if err := sweep.Run(context.Background(), cells, 2, func(o sweep.Outcome) error { list[o.Cell] = o; return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

func write(t *testing.T, p Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPage(t *testing.T) {
	base := sim.Scenario{Name: "b<ulk>", RateMbit: 100, Bytes: 300_000, Requests: 2, SmallBytes: 1000, SmallEveryMs: 5}
	p := Page{Outcomes: outcomes(t, base, "2", "4"), Strategy: strategy.Parse}
	text := write(t, p)
	for _, want := range []string{
		"Goodput over the round-trip time", "Share of the ideal speed", "Memory against goodput", "Pareto",
		"Window and flight", "Time and sequence", "Frames per MiB", "Fairness", "Equality of the streams",
		"Small responses beside the bulk", "12 cells, 24 requests, 3 strategies", "b&lt;ulk&gt; streams=2",
		"fixed:stream=65535:conn=65535", "unlimited",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	for _, refused := range []string{"<script", "http://", "https://", "src=", "NaN", "b<ulk>", "simulated again the first"} {
		if strings.Contains(text, refused) {
			t.Errorf("the page contains %q", refused)
		}
	}
	if write(t, p) != text {
		t.Error("the same outcomes give another page")
	}
}

func TestPageOfLittle(t *testing.T) {
	one := outcomes(t, sim.Scenario{RateMbit: 100, Bytes: 100_000})[:1]
	if text := write(t, Page{Outcomes: one, Strategy: strategy.Parse}); !strings.Contains(text, "No cell has several streams") {
		t.Error("a page of one cell says nothing of what it lacks")
	}
	if text := write(t, Page{}); !strings.Contains(text, "no record") {
		t.Error("an empty page does not say so")
	}
	failed := one[0]
	failed.Records = []sim.Record{{Strategy: "unlimited", Outcome: sim.OutcomeTimeout, RTTMs: 5}}
	write(t, Page{Outcomes: []sweep.Outcome{failed}, Strategy: strategy.Parse})
}

// What the results say and what is simulated again must agree, or the page says so.
func TestPageTellsOfAnotherResult(t *testing.T) {
	changed := outcomes(t, sim.Scenario{RateMbit: 100, Bytes: 100_000})
	for i := range changed {
		changed[i].Records[0].Seconds *= 2
	}
	text := write(t, Page{Outcomes: changed, Strategy: strategy.Parse})
	if !strings.Contains(text, "simulated again the first request takes") {
		t.Error("the page hides that its course is that of another result")
	}
	unknown := func(s string) (flow.Config, error) { return nil, fmt.Errorf("unknown %s", s) }
	if text := write(t, Page{Outcomes: changed, Strategy: unknown}); !strings.Contains(text, "unknown bdp") {
		t.Error("the page hides why a strategy has no course")
	}
}

func TestParetoFront(t *testing.T) {
	points := []plot.Point{{X: 5, Y: 9}, {X: 1, Y: 1}, {X: 2, Y: 0.5}, {X: 3, Y: 9}, {X: 1, Y: 2}, {X: 9, Y: 10}}
	want := []plot.Point{{X: 1, Y: 2}, {X: 3, Y: 9}, {X: 9, Y: 10}}
	if diff := cmp.Diff(want, paretoFront(points)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestVersusUnlimitedIsOfTheSameCell(t *testing.T) {
	record := func(strategy string, rtt, seconds float64, seed uint64) sweep.Outcome {
		return sweep.Outcome{Records: []sim.Record{{
			Strategy: strategy, RTTMs: rtt, Seconds: seconds, Seed: seed, Outcome: sim.OutcomeOK, Bytes: 1,
		}}}
	}
	table := newTable([]sweep.Outcome{
		record("a", 5, 3, 1), record("unlimited", 5, 2, 1), record("unlimited", 5, 1, 2), record("a", 5, 3, 2), record("a", 9, 3, 1),
	})
	var got []float64
	for _, r := range table.rows {
		if r.Strategy == "a" && !math.IsNaN(r.versus) {
			got = append(got, r.versus)
		}
	}
	if diff := cmp.Diff([]float64{1.5, 3}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
