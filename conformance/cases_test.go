package conformance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/conformance"
)

func TestParseRefuses(t *testing.T) {
	const start = "RFC 9113, Section 1\ncase 9113-1-1: r\n"
	tests := []struct{ text, want string }{
		{"no section", `line 1: the first line is not of the form "RFC 9113, Section 6.9": "no section"`},
		{"RFC 9113, Section 1\n= GET /", `line 2: a step without a case: "= GET /"`},
		{"RFC 9113, Section 1\ncase 9113-1-1", `line 2: a case begins like "case 9113-6.9-2: the rule": "case 9113-1-1"`},
		{start, "case 9113-1-1: it needs a request and steps"},
		{start + "barrier", "case 9113-1-1: it needs a request and steps"},
		{start + "each x", `line 3: "each" is like "each name: text": "each x"`},
		{start + "? what", `case 9113-1-1: no step: "? what"`},
		{start + ">", `case 9113-1-1: no step: ">"`},
		{start + "= GET", `case 9113-1-1: a request is a method and a path: "= GET"`},
		{start + "level: may", `case 9113-1-1: no level "may"`},
		{start + "needs: luck", `case 9113-1-1: nothing to need: "luck"`},
		{start + "greet: LUCK=1", "case 9113-1-1: no setting LUCK"},
		{start + "greet: 0x1=y", `case 9113-1-1: 0x1: strconv.ParseUint: parsing "y": invalid syntax`},
		{start + "> PING | ", `case 9113-1-1: an alternative is empty: "> PING |"`},
		{start + "! GET /", `case 9113-1-1: an outcome is like "! GET / 200 len=5": "! GET /"`},
		{start + "> DATA total=5", `case 9113-1-1: a total is asked for by "> DATA stream=1 total=5": "> DATA total=5"`},
		{start + "< PONG", "case 9113-1-1: no frame of type PONG"},
		{start + "< FRAME type=PONG", `case 9113-1-1: no type of frame "PONG"`},
		{start + "< FRAME type=PING payload=x", "case 9113-1-1: payload: encoding/hex: invalid byte: U+0078 'x'"},
		{start + "< DATA stream=1 length=5", "case 9113-1-1: DATA does not know length"},
		{start + "< DATA stream=1 PADDED", "case 9113-1-1: DATA does not know PADDED"},
		{start + "< GOAWAY code=OOPS", "case 9113-1-1: no error code OOPS"},
		{start + "< PING data=01", "case 9113-1-1: the data of PING is not 8 octets in hexadecimal"},
		{start + "< HEADERS stream=1 [x=%4]", `case 9113-1-1: no escape at the end of "%4"`},
		{start + "< DATA stream=x", `case 9113-1-1: stream: strconv.ParseUint: parsing "x": invalid syntax`},
		{start + "< many times PING", `case 9113-1-1: strconv.Atoi: parsing "many": invalid syntax`},
	}
	for _, tt := range tests {
		_, err := conformance.Parse(tt.text)
		if err == nil || err.Error() != tt.want && !strings.HasSuffix(err.Error(), ": "+tt.want) {
			t.Errorf("%q: got %v, want %s", tt.text, err, tt.want)
		}
	}
}

func TestCasesNameTheirRequirement(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range conformance.Cases() {
		row, _, _ := strings.Cut(c.ID, "/")
		if seen[c.ID] || c.Requirements[0] != row {
			t.Errorf("%s: twice %v, requirements %v", c.ID, seen[c.ID], c.Requirements)
		}
		seen[c.ID] = true
		parts := strings.Split(row, "-")
		want := fmt.Sprintf("RFC %s, Section %s", parts[0], parts[1])
		if parts[1] == "A" {
			want = fmt.Sprintf("RFC %s, Appendix A", parts[0])
		}
		if diff := cmp.Diff(want, c.Section); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.ID, diff)
		}
	}
	t.Logf("%d cases", len(seen))
}

// Each requirement is of a case, or checked always, or said to be unshown, and of one of them alone.
func TestRowsAreDisjoint(t *testing.T) {
	where := map[string]string{}
	for _, c := range conformance.Cases() {
		for _, id := range c.Requirements {
			where[id] = "a case"
		}
	}
	reached := len(where)
	note := func(id, place string) {
		if other, ok := where[id]; ok {
			t.Errorf("%s: %s, and %s", id, place, other)
		}
		where[id] = place
	}
	for _, id := range conformance.Always() {
		note(id, "checked always")
	}
	for _, rows := range conformance.Unshown() {
		for _, id := range rows.IDs {
			note(id, "unshown: "+rows.Reason)
		}
	}
	t.Logf("%d requirements: %d in cases, %d always, the others unshown", len(where), reached, len(conformance.Always()))
}
