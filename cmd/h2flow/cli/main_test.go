package cli

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/flow"
)

// A session is one call of the command line by a test.
type session struct {
	status         int
	stdout, stderr string
}

func call(ctx context.Context, configs []flow.Config, args ...string) session {
	var stdout, stderr lockedBuffer
	status := run(ctx, &env{stdout: &stdout, stderr: &stderr, configs: configs}, args)
	return session{status, stdout.String(), stderr.String()}
}

// wantFailure checks that the session printed nothing but one line on standard error that matches want.
func (s session) wantFailure(t *testing.T, status int, want string) {
	t.Helper()
	if s.status != status {
		t.Errorf("the status is %d, want %d", s.status, status)
	}
	if s.stdout != "" {
		t.Errorf("on standard output: %q, want nothing", s.stdout)
	}
	if strings.Count(s.stderr, "\n") != 1 || !strings.HasSuffix(s.stderr, "\n") {
		t.Errorf("on standard error: %q, want one line", s.stderr)
	}
	if ok, err := regexp.MatchString(want, s.stderr); err != nil || !ok {
		t.Errorf("on standard error: %q, want a match of %q (%v)", s.stderr, want, err)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-h"}, {"help"}} {
		s := call(t.Context(), nil, args...)
		if s.status != 0 || s.stderr != "" {
			t.Errorf("%v: status %d and %q on standard error, want 0 and nothing", args, s.status, s.stderr)
		}
		for _, c := range commands {
			if !strings.Contains(s.stdout, "  "+c.name) {
				t.Errorf("%v does not list %s:\n%s", args, c.name, s.stdout)
			}
		}
	}
}

func TestHelpOfEveryVerb(t *testing.T) {
	for _, c := range commands {
		t.Run(c.name, func(t *testing.T) {
			var texts []string
			for _, args := range [][]string{{c.name, "--help"}, {c.name, "-h"}, {"help", c.name}} {
				s := call(t.Context(), nil, args...)
				if s.status != 0 || s.stderr != "" {
					t.Errorf("%v: status %d and %q on standard error, want 0 and nothing", args, s.status, s.stderr)
				}
				texts = append(texts, s.stdout)
			}
			if texts[0] != texts[1] || texts[0] != texts[2] {
				t.Error("the ways to ask for help give different texts")
			}
			for _, want := range []string{"Usage: h2flow " + c.name, "--json", "Example:\n  h2flow " + c.name} {
				if !strings.Contains(texts[0], want) {
					t.Errorf("the help does not contain %q:\n%s", want, texts[0])
				}
			}
			for line := range strings.Lines(texts[0]) {
				if len(line) > 130 {
					t.Errorf("this line of the help is too long: %s", line)
				}
			}
		})
	}
}

func TestWrongUsage(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"an unknown verb", []string{"fetch"}, `^h2flow: there is no verb "fetch"; see h2flow --help\n$`},
		{"an unknown flag", []string{"get", "--nope", "http://x/"},
			`^h2flow get: flag provided but not defined: -nope; see h2flow get --help\n$`},
		{"a flag after the URL", []string{"get", "http://x/", "--nope"}, `not defined: -nope`},
		{"no URL", []string{"get"}, `want one URL, got 0 arguments`},
		{"two URLs", []string{"get", "http://x/", "http://y/"}, `want one URL, got 2 arguments`},
		{"another scheme", []string{"get", "ftp://x/"}, `no URL of the scheme http or https`},
		{"no scheme", []string{"get", "example.com"}, `no URL of the scheme http or https`},
		{"no host", []string{"get", "http:///x"}, `names no host`},
		{"a URL that does not parse", []string{"get", "http://[::1/"}, `missing '\]'`},
		{"JSON and the body", []string{"get", "--json", "http://x/"}, `--json needs -o FILE`},
		{"an unknown strategy", []string{"get", "--strategy", "fast", "http://x/"}, `fast`},
		{"a strategy that waits for an empty window",
			[]string{"get", "--strategy", "threshold:fraction=1", "http://x/"}, `fraction`},
		{"an unknown option of a strategy", []string{"demo", "--strategy", "fixed:sream=1"}, `sream`},
		{"a size", []string{"demo", "--size", "10Mbit"}, `"10Mbit" is no size`},
		{"a size of nothing", []string{"demo", "--size", "0"}, `--size must not be 0`},
		{"a rate", []string{"demo", "--rate", "100"}, `"100" is no rate`},
		{"a time", []string{"demo", "--rtt", "50"}, `"50" is no time`},
		{"an empty list", []string{"demo", "--rtt", ","}, `the list is empty`},
		{"no runs", []string{"demo", "--runs", "0"}, `--runs must be at least 1`},
		{"an argument", []string{"demo", "now"}, `unexpected argument "now"`},
		{"a frame size", []string{"get", "--max-frame-size", "1KiB", "http://x/"}, `must be between 16KiB and 16777215`},
		{"a header", []string{"get", "-H", "nothing", "http://x/"}, `"nothing" is no header`},
		{"trust in two ways", []string{"get", "--cacert", "f", "--insecure", "http://x/"}, `exclude each other`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call(t.Context(), nil, tt.args...).wantFailure(t, 2, tt.want)
		})
	}
}

func TestNoVerb(t *testing.T) {
	s := call(t.Context(), nil)
	if s.status != 2 || s.stdout != "" || !strings.Contains(s.stderr, "Usage: h2flow VERB") {
		t.Errorf("status %d, %q, %q; want 2 and the usage on standard error", s.status, s.stdout, s.stderr)
	}
}

func TestFlagsAnywhere(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want []string
		json bool
	}{
		{"before", []string{"--json", "a"}, []string{"a"}, true},
		{"after", []string{"a", "--json", "b"}, []string{"a", "b"}, true},
		{"behind two dashes", []string{"a", "--", "--json"}, []string{"a", "--json"}, false},
		{"a dash", []string{"-", "--json"}, []string{"-"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fs := newFlags("test", nil)
			json := fs.Bool("json", false, "")
			rest, err := fs.parse(tt.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, rest); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			if *json != tt.json {
				t.Errorf("--json is %v, want %v", *json, tt.json)
			}
		})
	}
}

// own is a strategy of somebody who calls Main.
type own struct {
	flow.Config
	name string
}

func (o own) String() string { return o.name }

func TestStrategiesOfTheCaller(t *testing.T) {
	mine, other := own{name: "mine:a=1"}, own{name: "mine:a=2"}
	for _, tt := range []struct{ in, want string }{
		{"mine", "mine:a=1"},
		{"mine:a=1", "mine:a=1"},
		{"mine:a=2", "mine:a=2"},
		{"fixed:stream=1MiB:conn=2MiB", "fixed:stream=1MiB:conn=2MiB"},
	} {
		t.Run(tt.in, func(t *testing.T) {
			got, err := newFlags("test", []flow.Config{mine, other}).parseStrategy(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != tt.want {
				t.Errorf("%q is %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestOneLine(t *testing.T) {
	got := oneLine(errString("a\n  b\r\n\x1b[31mc\x00"))
	if want := "a b [31mc"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

type errString string

func (e errString) Error() string { return string(e) }
