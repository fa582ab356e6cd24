package strategy_test

import (
	"strings"
	"testing"

	"example.com/h2flow/flow"
	"example.com/h2flow/strategy"
	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	tests := []struct {
		spec string
		want flow.Config
		// text is what String writes.
		text string
	}{
		{"auto", strategy.Auto{}, "auto:max=64MiB"},
		{"auto:max=1GiB", strategy.Auto{Max: 1 << 30}, "auto:max=1GiB"},
		{"bdp", strategy.BDP{}, "bdp:max=64MiB"},
		{"bdp:max=64MiB", strategy.BDP{Max: 64 << 20}, "bdp:max=64MiB"},
		{"bdp:max=300000", strategy.BDP{Max: 300000}, "bdp:max=300000"},
		{"fixed", strategy.Fixed{}, "fixed:stream=65535:conn=65535"},
		{"fixed:stream=65535:conn=65535", strategy.Fixed{Stream: 65535, Conn: 65535}, "fixed:stream=65535:conn=65535"},
		{"fixed:conn=1GiB:stream=64KiB", strategy.Fixed{Stream: 64 << 10, Conn: 1 << 30}, "fixed:stream=64KiB:conn=1GiB"},
		{"fixed:stream=1", strategy.Fixed{Stream: 1}, "fixed:stream=1:conn=65535"},
		{"threshold", strategy.Threshold{}, "threshold:stream=16MiB:conn=32MiB:fraction=1/4"},
		{"threshold:stream=16MiB:conn=32MiB:fraction=1/4",
			strategy.Threshold{Stream: 16 << 20, Conn: 32 << 20, Fraction: strategy.Fraction{Num: 1, Den: 4}},
			"threshold:stream=16MiB:conn=32MiB:fraction=1/4"},
		{"threshold:fraction=0.50", strategy.Threshold{Fraction: strategy.Fraction{Num: 1, Den: 2}},
			"threshold:stream=16MiB:conn=32MiB:fraction=1/2"},
		{"unlimited", strategy.Unlimited{}, "unlimited"},
	}
	for _, tt := range tests {
		t.Run(tt.spec, func(t *testing.T) {
			got := parse(t, tt.spec)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got.String() != tt.text {
				t.Errorf("String: want %q, got %q", tt.text, got.String())
			}
			if again := parse(t, got.String()); again.String() != tt.text {
				t.Errorf("what is printed parses back: want %q, got %q", tt.text, again.String())
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ spec, want string }{
		{"", `unknown strategy "": want one of auto, bdp, fixed, threshold, unlimited`},
		{"BDP", `unknown strategy "BDP": want one of auto, bdp, fixed, threshold, unlimited`},
		{"bdp:", `strategy bdp: unknown option "": want one of max`},
		{"bdp:maximum=1MiB", `strategy bdp: unknown option "maximum=1MiB": want one of max`},
		{"unlimited:max=1", `strategy unlimited: unknown option "max=1": want no option`},
		{"fixed:stream", `strategy fixed: option stream: "" is no size: want octets such as 65535, or 64KiB, 16MiB, 1GiB`},
		{"fixed:stream=64k",
			`strategy fixed: option stream: "64k" is no size: want octets such as 65535, or 64KiB, 16MiB, 1GiB`},
		{"fixed:stream=-1",
			`strategy fixed: option stream: "-1" is no size: want octets such as 65535, or 64KiB, 16MiB, 1GiB`},
		{"fixed:stream=9999999999GiB", `strategy fixed: option stream: "9999999999GiB" is no size: ` +
			`want octets such as 65535, or 64KiB, 16MiB, 1GiB`},
		{"fixed:stream=0",
			`strategy fixed: option stream: a size of 0 lets nothing through; leave the option out for the default`},
		{"fixed:stream=2GiB", `strategy fixed: stream window of 2147483648 octets: want 1 to 2147483647`},
		{"fixed:conn=1000", `strategy fixed: connection window of 1000 octets: want 65535 to 2147483647`},
		{"fixed:stream=1:stream=2", `strategy fixed: option stream is given twice`},
		{"threshold:fraction=1", `strategy threshold: option fraction: "1" is no fraction: ` +
			`want a number above 0 and below 1, such as 1/4 or 0.25`},
		{"threshold:fraction=4/4", `strategy threshold: option fraction: "4/4" is no fraction: ` +
			`want a number above 0 and below 1, such as 1/4 or 0.25`},
		{"threshold:fraction=0.0", `strategy threshold: option fraction: "0.0" is no fraction: ` +
			`want a number above 0 and below 1, such as 1/4 or 0.25`},
		{"threshold:fraction=-1/4", `strategy threshold: option fraction: "-1/4" is no fraction: ` +
			`want a number above 0 and below 1, such as 1/4 or 0.25`},
		{"threshold:stream=65535:conn=65535:fraction=9/10",
			`strategy threshold: fraction 9/10 of a window of 65535 waits for ` +
				`58981 octets: at most 49150 leave the peer room for a frame of 16384`},
		{"bdp:max=64KiB", `strategy bdp: max of 65536 octets: want 256KiB to 2147483647`},
	}
	for _, tt := range tests {
		t.Run(tt.spec, func(t *testing.T) {
			cfg, err := strategy.Parse(tt.spec)
			if err == nil {
				t.Fatalf("want %q, got %s", tt.want, cfg)
			}
			if err.Error() != tt.want {
				t.Errorf("want %s\n got %s", tt.want, err)
			}
		})
	}
}

// The table for help texts has a row for every name, and its options are what Parse reads.
func TestTable(t *testing.T) {
	var names []string
	for _, info := range strategy.Table() {
		names = append(names, info.Name)
		spec := info.Name
		if info.Options != "" {
			spec += ":" + info.Options
		}
		if got := parse(t, spec).String(); got != spec {
			t.Errorf("want %q, got %q", spec, got)
		}
		if info.Summary == "" || strings.Contains(info.Summary, "\n") {
			t.Errorf("%s: want a summary of one line, got %q", info.Name, info.Summary)
		}
	}
	if diff := cmp.Diff([]string{"auto", "bdp", "fixed", "threshold", "unlimited"}, names); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(names, strategy.Names()); diff != "" {
		t.Errorf("(-table +names)\n%s", diff)
	}
}

// New is safe with values that Validate reports, since a Config may be written as a literal.
func TestNewIsSafe(t *testing.T) {
	for _, cfg := range []flow.Config{
		strategy.Fixed{Stream: -1, Conn: -1},
		strategy.Fixed{Stream: 1 << 40, Conn: 1 << 40},
		strategy.Threshold{Stream: 65535, Conn: 65535, Fraction: strategy.Fraction{Num: 1, Den: 1}},
		strategy.Threshold{Stream: 65535, Conn: 65535, Fraction: strategy.Fraction{Num: 99, Den: 100}},
		strategy.Threshold{Fraction: strategy.Fraction{Num: 1 << 62, Den: -1}},
		strategy.Auto{Max: -1},
		strategy.Auto{Max: 1},
		strategy.Auto{Max: 1 << 40},
		strategy.BDP{Max: -1},
		strategy.BDP{Max: 1},
		strategy.BDP{Max: 1 << 40},
	} {
		if err := cfg.(interface{ Validate() error }).Validate(); err == nil {
			t.Errorf("%#v: want an error", cfg)
		}
		if got, err := download(cfg, 3<<20); err != nil || len(got) != 1 {
			t.Errorf("%#v: want a download that ends, got %v", cfg, err)
		}
	}
}
