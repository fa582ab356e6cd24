package fuzz

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"

	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/plainfields"
)

// forbidden are the names that HTTP/2 allows in no response.
var forbidden = []string{"connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade", "te"}

// validField is what RFC 9113, Section 8.2 and RFC 9110 say of a regular field line, by means of x/net's tables.
func validField(name, value string) bool {
	return httpguts.ValidHeaderFieldName(name) && strings.ToLower(name) == name && httpguts.ValidHeaderFieldValue(value) &&
		strings.Trim(value, " \t") == value && !slices.Contains(forbidden, name)
}

// FuzzFieldValidation: a field line of a response, or of its trailers, or of an interim response, is accepted if and only
// if the grammar allows it, and then arrives as it was sent; a request with it is refused or sent likewise.
func FuzzFieldValidation(f *testing.F) {
	for _, pair := range [][2]string{{"a", "b"}, {"A", "b"}, {"a", " b"}, {"a", "b\t"}, {"a", "b\x00"}, {"a", "\x7f"},
		{"te", "trailers"}, {"", ""}, {":x", ""}, {"a:", "b"}, {"x-\xff", "\xff"}, {"connection", "close"}, {"a b", "c"}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		if len(name)+len(value) > 3000 || name == "content-length" || name == "content-type" {
			t.Skip("other rules apply too")
		}
		want := validField(name, value)
		field := frame.Field{Name: name, Value: value}
		status := frame.Field{Name: ":status", Value: "200"}
		interim := frame.Field{Name: ":status", Value: "103"}
		for where, items := range map[string][]any{
			"head":    {peer.Headers{Stream: 1, Fields: []frame.Field{status, field}}},
			"interim": {peer.Headers{Stream: 1, Fields: []frame.Field{interim, field}}},
			"trailers": {peer.Headers{Stream: 1, Fields: []frame.Field{status}},
				peer.Headers{Stream: 1, Fields: []frame.Field{field}, EndStream: true}},
		} {
			got, fields := accepts(t, items)
			if got != want && !strings.HasPrefix(name, ":") || got && strings.HasPrefix(name, ":") {
				t.Errorf("%s: %q: %q is accepted: %v, want %v", where, name, value, got, want)
			}
			if got && (len(fields) != 1 || fields[0] != field) {
				t.Errorf("%s: %+q became %+v", where, name+": "+value, fields)
			}
		}
		c := newPlain()
		request := []frame.Field{{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"}, {Name: ":path", Value: "/"}, field}
		_, err := c.Open(epoch, request, true)
		sendable := want || name == "te" && value == "trailers"
		if !strings.HasPrefix(name, ":") && (err == nil) != sendable {
			t.Errorf("request with %q: %q: %v", name, value, err)
		}
	})
}

func newPlain() *conn.Conn {
	return conn.New(epoch, conn.Config{Strategy: returning{}, Encoder: &plainfields.Encoder{}, Decoder: &plainfields.Decoder{}})
}

// accepts reports whether the items are a good part of a response on stream 1, and the fields of the last section.
func accepts(t *testing.T, items []any) (ok bool, fields []frame.Field) {
	t.Helper()
	c := newPlain()
	p := peer.New(peer.Plain)
	if _, err := c.Open(epoch, []frame.Field{{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"},
		{Name: ":path", Value: "/"}}, true); err != nil {
		t.Fatal(err)
	}
	c.AppendOutput(epoch, nil, 1<<20)
	c.Feed(epoch, p.Encode(p.Encode(nil, frame.MakeSettings()), items...))
	ok = true
	for ev := c.NextEvent(); ev.Kind != conn.None; ev = c.NextEvent() {
		switch ev.Kind {
		case conn.StreamError:
			ok = false
		case conn.Response, conn.Interim, conn.Trailers:
			fields = slices.Clone(ev.Fields)
		case conn.Closed:
			t.Fatalf("the connection ends: %v", ev)
		}
	}
	return ok, fields
}
