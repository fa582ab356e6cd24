package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConformItself(t *testing.T) {
	for _, args := range [][]string{{}, {"--tls"}} {
		args = append([]string{"conform", "--filter", "9113-6.7,9113-8.1-12", "--jobs", "4"}, args...)
		s := call(t.Context(), nil, args...)
		if s.status != 0 || s.stderr != "" {
			t.Errorf("%v: status %d, %q\n%s", args, s.status, s.stderr, s.stdout)
		}
		for _, want := range []string{"pass     9113-6.7-2: ", "pass     9113-8.1-12/after-data: ", "100.0%  all"} {
			if !strings.Contains(s.stdout, want) {
				t.Errorf("%v: no %q in\n%s", args, want, s.stdout)
			}
		}
	}
}

func TestConformWrongUsage(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.txt")
	if err := os.WriteFile(bad, []byte("RFC 9113, Section 1\ncase x"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--format", "xml"}, 2, "text, json or junit"},
		{[]string{"--filter", "9113-99"}, 2, "no case is named 9113-99"},
		{[]string{"--jobs", "0"}, 2, "at least 1"},
		{[]string{"--post", "x"}, 2, "go with a command for GET"},
		{[]string{"--listen", "127.0.0.1:0", "--", "x"}, 2, "no command"},
		{[]string{"--known", filepath.Join(dir, "none")}, 1, "no such file"},
		{[]string{"--cases", bad}, 1, "a case begins like"},
	}
	for _, tt := range tests {
		call(t.Context(), nil, append([]string{"conform"}, tt.args...)...).wantFailure(t, tt.status, tt.want)
	}
}

func TestConformList(t *testing.T) {
	s := call(t.Context(), nil, "conform", "--list", "--filter", "9113-6.1")
	if s.status != 0 || !strings.HasPrefix(s.stdout, "9113-6.1-1: DATA on stream 0 is an error of the connection. [9113-6.1-1]\n") {
		t.Errorf("status %d, %q\n%s", s.status, s.stderr, s.stdout)
	}
	if strings.Contains(s.stdout, "9113-6.10-1") {
		t.Error("9113-6.1 selects 9113-6.10")
	}
	for _, want := range []string{"Checked of every frame", "Not shown to a server", "9113-9.2-1"} {
		if !strings.Contains(s.stdout, want) {
			t.Errorf("no %q", want)
		}
	}
}

// A case that h2flow fails, since it asks for what no client does, is a failure unless it is known.
func TestConformKnown(t *testing.T) {
	dir := t.TempDir()
	cases, known := filepath.Join(dir, "cases.txt"), filepath.Join(dir, "known.txt")
	const text = `RFC 9113, Section 6.7

case 9113-6.7-2/impossible: PING is answered by GOAWAY.
= GET /
> HEADERS stream=1 END_STREAM
< PING data=0102030405060708
> GOAWAY code=CONNECT_ERROR
! GET / fails
`
	if err := os.WriteFile(cases, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(known, []byte("# a comment\n\n9113-6.7-2/impossible   # for a reason\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"conform", "--cases", cases, "--timeout", "100ms", "--format", "json"}
	s := call(t.Context(), nil, args...)
	if s.status != 1 || !strings.Contains(s.stderr, "1 of 1 cases failed") {
		t.Errorf("status %d, %q", s.status, s.stderr)
	}
	s = call(t.Context(), nil, append(args, "--known", known)...)
	if s.status != 0 || s.stderr != "" {
		t.Errorf("status %d, %q", s.status, s.stderr)
	}
	var line struct{ Case, Verdict, Known, Transcript string }
	if err := json.Unmarshal([]byte(strings.SplitN(s.stdout, "\n", 2)[0]), &line); err != nil {
		t.Fatal(err)
	}
	if line.Verdict != "fail" || line.Known != "for a reason" || !strings.Contains(line.Transcript, "PING data=0102030405060708") {
		t.Errorf("got %+v", line)
	}
}
