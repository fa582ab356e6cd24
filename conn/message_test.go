package conn_test

import (
	"strings"
	"testing"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
)

// wantMalformed fails unless stream 1 was just failed as malformed, with stream 3 in progress, which then completes.
func (tc *testConn) wantMalformed(sentence string) {
	tc.t.Helper()
	var resets []frame.RSTStream
	for _, v := range tc.sent {
		if r, ok := v.(frame.RSTStream); ok {
			resets = append(resets, r)
		}
	}
	if len(resets) != 1 || resets[0] != (frame.RSTStream{Stream: 1, Code: frame.ProtocolError}) {
		tc.fatalf("%s: resets are %v", sentence, resets)
	}
	last := tc.events[len(tc.events)-1].String()
	if !strings.HasPrefix(last, "stream-error stream=1 PROTOCOL_ERROR") {
		tc.fatalf("%s: the last event is %s", sentence, last)
	}
	for _, ev := range tc.events {
		if ev.End {
			tc.fatalf("%s: %v is a success", sentence, ev)
		}
	}
	tc.forget()
	tc.write(data(3, 5), trailers(3, field("after", "1")))
	tc.wantEvents(sentence+": the other stream completes", "data stream=3 len=5", `trailers stream=3 after="1" END_STREAM`)
	tc.wantConnWindow(sentence+": and all octets of stream 1 are back", 65535-5)
}

// newTestMessage returns a connection with stream 1 waiting for its response and stream 3 in mid-body.
func newTestMessage(t *testing.T, request []frame.Field) *testConn {
	tc := newTestConn(t)
	tc.greet()
	tc.open(request)
	tc.open(get("/"))
	tc.write(head(3, "200"))
	tc.ignore(frame.TypeWindowUpdate)
	tc.forget()
	return tc
}

// Sequences of RFC 9113, Section 8.1: what they are made of, and the events, or nothing if the response is malformed.
func TestMessageSequences(t *testing.T) {
	interim := func(end bool) peer.Headers { h := head(1, "103"); h.EndStream = end; return h }
	tests := []struct {
		id, name string
		items    []any
		events   []string // nil: malformed
	}{
		{"9113-8.1-12", "head with END_STREAM", []any{wholeResponse(1, "200")},
			[]string{"response stream=1 status=200 END_STREAM"}},
		{"9113-8.1-1", "head, DATA", []any{head(1, "200"), lastData(1, 3)},
			[]string{"response stream=1 status=200", "data stream=1 len=3 END_STREAM"}},
		{"9113-6.1-9", "empty DATA with END_STREAM", []any{head(1, "200"), data(1, 3), lastData(1, 0)},
			[]string{"response stream=1 status=200", "data stream=1 len=3 END_STREAM"}},
		{"9113-6.1-9", "empty DATA is nothing", []any{head(1, "200"), data(1, 0), data(1, 3), data(1, 0), lastData(1, 1)},
			[]string{"response stream=1 status=200", "data stream=1 len=4 END_STREAM"}},
		{"9113-8.1-12", "head, trailers", []any{head(1, "200"), trailers(1, field("a", "b"))},
			[]string{"response stream=1 status=200", `trailers stream=1 a="b" END_STREAM`}},
		{"9113-8.1-12", "head, DATA, trailers in two fragments", []any{head(1, "200"), data(1, 1),
			peer.Headers{Stream: 1, EndStream: true, Continuations: 1, Fields: []frame.Field{field("a", "b"), field("c", "d")}}},
			[]string{"response stream=1 status=200", "data stream=1 len=1", `trailers stream=1 a="b" c="d" END_STREAM`}},
		{"9113-8.1-12", "empty trailers", []any{head(1, "200"), trailers(1)},
			[]string{"response stream=1 status=200", "trailers stream=1 END_STREAM"}},
		{"9113-8.1-7", "interim heads", []any{head(1, "100"), head(1, "103", field("link", "x")), head(1, "199"), wholeResponse(1, "200")},
			[]string{"interim stream=1 status=100", `interim stream=1 status=103 link="x"`, "interim stream=1 status=199",
				"response stream=1 status=200 END_STREAM"}},
		{"9113-8.1-6", "interim head with END_STREAM", []any{interim(true)}, nil},
		{"9113-8.1-11", "DATA before the head", []any{data(1, 1)}, nil},
		{"9113-8.1-11", "empty DATA before the head", []any{data(1, 0)}, nil},
		{"9113-8.1-11", "END_STREAM before the head", []any{lastData(1, 0)}, nil},
		{"9110-15.2-2", "DATA after an interim head", []any{interim(false), data(1, 1)}, nil},
		{"9113-8.1-5", "second head", []any{head(1, "200"), head(1, "200")}, nil},
		{"9113-8.1-5", "second head after DATA", []any{head(1, "200"), data(1, 1), head(1, "200")}, nil},
		{"9113-8.1-5", "trailers without END_STREAM",
			[]any{head(1, "200"), data(1, 1), peer.Headers{Stream: 1, Fields: []frame.Field{field("a", "b")}}}, nil},
		{"9113-8.1-4", "trailers with :status", []any{head(1, "200"), wholeResponse(1, "200")}, nil},
		{"9113-8.1-5", "interim head after the final one", []any{head(1, "200"), interim(false)}, nil},
		{"9113-8.6-1", "101", []any{head(1, "101"), wholeResponse(1, "200")}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.id+" "+tt.name, func(t *testing.T) {
			rows.Cover(t, tt.id)
			tc := newTestMessage(t, get("/"))
			tc.write(tt.items...)
			if tt.events == nil {
				tc.wantMalformed("malformed")
				return
			}
			tc.wantEvents("well-formed", tt.events...)
			tc.want("nothing to say")
		})
	}
}

// Heads of which a field is wrong; each also in an interim head and in trailers, where that makes sense.
func TestB35MalformedFields(t *testing.T) {
	rows.Cover(t, "9113-8.2.1-1", "9113-8.2.1-3", "9113-8.2.1-5", "9113-8.2.2-4", "9113-8.3-3", "9110-5.5-1",
		"9113-8.1-4")
	rows.Cover(t, "9113-8.3.2-1", "9113-8.3-6", "9113-8.3-5", "9110-15-3", "9113-8.3-2", "9113-8.2.1-2",
		"9113-8.2.1-4", "9113-8.2.2-2")
	type row struct {
		id     string
		fields []frame.Field
	}
	status := field(":status", "200")
	heads := []row{
		{"9113-8.3.2-1 empty block", nil},
		{"9113-8.3.2-1 no :status", []frame.Field{field("a", "b")}},
		{"9113-8.3-6 :status twice", []frame.Field{status, status}},
		{"9113-8.3-6 :status twice, different", []frame.Field{status, field(":status", "404")}},
		{"9113-8.3-5 :status after a field", []frame.Field{field("a", "b"), status}},
	}
	for _, v := range []string{"abc", "+200", "0200", "-1", "20", "2000", "2 0", "", "20x", " 200", "000", "099", "\u0662\u0660\u0660"} {
		heads = append(heads, row{"9110-15-3 :status " + v, []frame.Field{field(":status", v)}})
	}
	var regular []row
	for _, name := range []string{":method", ":path", ":scheme", ":authority", ":protocol", ":foo", ":", ":STATUS", ":status "} {
		regular = append(regular, row{"9113-8.3-2 " + name, []frame.Field{field(name, "x")}})
	}
	for _, name := range []string{"\x00", "a\x20b", "X-Upper", "Z", "a\x7f", "a\xff", "fo:o", "a:", "", "a(b", "a\"", "a{", "a/b", "a\tb", "\x80"} {
		regular = append(regular, row{"9113-8.2.1-2 name " + name, []frame.Field{field(name, "x")}})
	}
	for _, value := range []string{"\x00", "a\x00b", "a\nb", "\nb", "a\n", "a\rb", "a\r", " a", "a ", "\ta", "a\t", " ", "\t", "a\x01b", "a\x7fb"} {
		regular = append(regular, row{"9113-8.2.1-4 value " + value, []frame.Field{field("a", value)}})
	}
	for _, name := range []string{"connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade", "te"} {
		regular = append(regular, row{"9113-8.2.2-2 " + name, []frame.Field{field(name, "trailers")}})
	}
	for _, r := range heads {
		for _, end := range []bool{false, true} {
			t.Run("head "+r.id, func(t *testing.T) {
				tc := newTestMessage(t, get("/"))
				tc.write(peer.Headers{Stream: 1, Fields: r.fields, EndStream: end})
				tc.wantMalformed("malformed")
			})
		}
	}
	for _, r := range regular {
		t.Run("head "+r.id, func(t *testing.T) {
			tc := newTestMessage(t, get("/"))
			tc.write(head(1, "200", r.fields...))
			tc.wantMalformed("malformed")
		})
		t.Run("interim "+r.id, func(t *testing.T) {
			tc := newTestMessage(t, get("/"))
			tc.write(head(1, "103", r.fields...))
			tc.wantMalformed("malformed")
		})
		t.Run("trailers "+r.id, func(t *testing.T) {
			tc := newTestMessage(t, get("/"))
			tc.write(head(1, "200"), data(1, 1), trailers(1, r.fields...))
			tc.wantMalformed("malformed")
		})
	}
}

// What looks odd and is right.
func TestOddFieldsThatAreRight(t *testing.T) {
	rows.Cover(t, "9110-15-1", "9110-15-2", "9113-8.2.1-7", "7541-2.1-2", "9113-6.2-5")
	tests := []struct {
		name string
		h    peer.Headers
		want string
	}{
		{"9110-15-1 unknown status of a known class", wholeResponse(1, "299"), "response stream=1 status=299 END_STREAM"},
		{"9110-15-2 status above 599", wholeResponse(1, "999"), "response stream=1 status=999 END_STREAM"},
		{"9113-8.2.1-7 a value that its own grammar refuses", wholeResponse(1, "200", field("date", "nonsense")),
			`response stream=1 status=200 date="nonsense" END_STREAM`},
		{"empty value", wholeResponse(1, "200", field("a", "")), `response stream=1 status=200 a="" END_STREAM`},
		{"8-bit value", wholeResponse(1, "200", field("a", "\x80\xff\tx")), `response stream=1 status=200 a="\x80\xff\tx" END_STREAM`},
		{"7541-2.1-2 order and repetitions", wholeResponse(1, "200", field("b", "1"), field("a", "2"), field("b", "3")),
			`response stream=1 status=200 b="1" a="2" b="3" END_STREAM`},
		{"token characters", wholeResponse(1, "200", field("!#$%&'*+-.^_`|~09az", "1")),
			"response stream=1 status=200 !#$%&'*+-.^_`|~09az=\"1\" END_STREAM"},
		{"9113-6.2-5 priority fields are skipped", peer.Headers{Stream: 1, EndStream: true, HasPriority: true,
			Priority: frame.PriorityParam{Exclusive: true, DependsOn: 1, Weight: 3}, Fields: []frame.Field{field(":status", "200")}},
			"response stream=1 status=200 END_STREAM"},
		{"padding", peer.Headers{Stream: 1, EndStream: true, Padded: true, PadLength: 255,
			Fields: []frame.Field{field(":status", "200")}}, "response stream=1 status=200 END_STREAM"},
		{"pad length 0", peer.Headers{Stream: 1, EndStream: true, Padded: true,
			Fields: []frame.Field{field(":status", "200")}}, "response stream=1 status=200 END_STREAM"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tc := newTestMessage(t, get("/"))
			tc.write(tt.h)
			tc.wantEvents("it is delivered as it came", tt.want)
		})
	}
}

// content-length and what came.
func TestB33ContentLength(t *testing.T) {
	cl := func(v string) frame.Field { return field("content-length", v) }
	tests := []struct {
		id, name string
		method   string
		items    []any
		events   []string
		ok       bool
	}{
		{"9113-8.1.1-1", "exact", "GET", []any{head(1, "200", cl("10")), lastData(1, 10)},
			[]string{`response stream=1 status=200 length=10 content-length="10"`, "data stream=1 len=10 END_STREAM"}, true},
		{"9113-8.1.1-1", "exact, trailers", "GET", []any{head(1, "200", cl("10")), data(1, 10), trailers(1)},
			[]string{`response stream=1 status=200 length=10 content-length="10"`, "data stream=1 len=10",
				"trailers stream=1 END_STREAM"}, true},
		{"9113-8.1.1-1", "exact, padding does not count", "GET", []any{head(1, "200", cl("10")),
			frame.Data{Stream: 1, Padded: true, PadLength: 99, Data: make([]byte, 10), EndStream: true}},
			[]string{`response stream=1 status=200 length=10 content-length="10"`, "data stream=1 len=10 END_STREAM"}, true},
		{"9113-8.1.1-1", "too short", "GET", []any{head(1, "200", cl("10")), lastData(1, 5)},
			[]string{`response stream=1 status=200 length=10 content-length="10"`, "data stream=1 len=5",
				"stream-error stream=1 PROTOCOL_ERROR answered"}, false},
		{"9113-8.1.1-1", "too short by an empty end", "GET", []any{head(1, "200", cl("10")), data(1, 5), lastData(1, 0)},
			[]string{`response stream=1 status=200 length=10 content-length="10"`, "data stream=1 len=5",
				"stream-error stream=1 PROTOCOL_ERROR answered"}, false},
		{"9113-8.1.1-1", "too short by trailers", "GET", []any{head(1, "200", cl("10")), data(1, 5), trailers(1)},
			[]string{`response stream=1 status=200 length=10 content-length="10"`, "data stream=1 len=5",
				"stream-error stream=1 PROTOCOL_ERROR answered"}, false},
		{"9113-8.1.1-1", "too short by END_STREAM on the head", "GET", []any{wholeResponse(1, "200", cl("10"))},
			[]string{"stream-error stream=1 PROTOCOL_ERROR"}, false},
		{"9113-8.1.1-1", "too long", "GET", []any{head(1, "200", cl("10")), data(1, 15)},
			[]string{`response stream=1 status=200 length=10 content-length="10"`, "data stream=1 len=10",
				"stream-error stream=1 PROTOCOL_ERROR answered"}, false},
		{"9113-8.1.1-1", "too long by a second frame", "GET", []any{head(1, "200", cl("10")), data(1, 10), lastData(1, 1)},
			[]string{`response stream=1 status=200 length=10 content-length="10"`, "data stream=1 len=10",
				"stream-error stream=1 PROTOCOL_ERROR answered"}, false},
		{"9113-8.1.1-1", "0 and content", "GET", []any{head(1, "200", cl("0")), lastData(1, 1)},
			[]string{`response stream=1 status=200 length=0 content-length="0"`,
				"stream-error stream=1 PROTOCOL_ERROR answered"}, false},
		{"9113-8.1.1-1", "0 and none", "GET", []any{wholeResponse(1, "200", cl("0"))},
			[]string{`response stream=1 status=200 length=0 content-length="0" END_STREAM`}, true},
		{"9113-8.1.1-2", "HEAD", "HEAD", []any{wholeResponse(1, "200", cl("10"))},
			[]string{`response stream=1 status=200 length=10 content-length="10" END_STREAM`}, true},
		{"9113-8.1.1-2", "HEAD, ended by empty DATA", "HEAD", []any{head(1, "200", cl("10")), lastData(1, 0)},
			[]string{`response stream=1 status=200 length=10 content-length="10"`, "data stream=1 len=0 END_STREAM"}, true},
		{"9110-6.4.1-2", "HEAD with content", "HEAD", []any{head(1, "200"), data(1, 1)},
			[]string{"response stream=1 status=200", "stream-error stream=1 PROTOCOL_ERROR answered"}, false},
		{"9110-15.4.5-1", "304 with content-length", "GET", []any{wholeResponse(1, "304", cl("10"))},
			[]string{`response stream=1 status=304 length=10 content-length="10" END_STREAM`}, true},
		{"9110-6.4.1-1", "304 with content", "GET", []any{head(1, "304"), lastData(1, 1)},
			[]string{"response stream=1 status=304", "stream-error stream=1 PROTOCOL_ERROR answered"}, false},
		{"9110-6.4.1-1", "204 with content", "GET", []any{head(1, "204"), lastData(1, 1)},
			[]string{"response stream=1 status=204", "stream-error stream=1 PROTOCOL_ERROR answered"}, false},
		{"9110-6.4.1-1", "204 ended by padding", "GET", []any{head(1, "204"),
			frame.Data{Stream: 1, EndStream: true, Padded: true, PadLength: 5}},
			[]string{"response stream=1 status=204", "data stream=1 len=0 END_STREAM"}, true},
		{"9110-15.3.5-1", "204", "GET", []any{wholeResponse(1, "204")}, []string{"response stream=1 status=204 END_STREAM"}, true},
		{"9110-8.6-3", "the largest", "GET", []any{head(1, "200", cl("9223372036854775807"))},
			[]string{`response stream=1 status=200 length=9223372036854775807 content-length="9223372036854775807"`}, true},
		{"9110-8.6-4", "leading zeros", "GET", []any{head(1, "200", cl("0010")), lastData(1, 10)},
			[]string{`response stream=1 status=200 length=10 content-length="0010"`, "data stream=1 len=10 END_STREAM"}, true},
	}
	for _, v := range []string{"", "+5", "-1", "0x5", "5, 5", "5, 6", "5;", "five", "9223372036854775808",
		"18446744073709551616", strings.Repeat("9", 100), "5 5"} {
		tests = append(tests, struct {
			id, name string
			method   string
			items    []any
			events   []string
			ok       bool
		}{"9110-8.6-4", "value " + v, "GET", []any{head(1, "200", cl(v))}, []string{"stream-error stream=1 PROTOCOL_ERROR"}, false})
	}
	for _, second := range []string{"10", "11"} {
		tests = append(tests, struct {
			id, name string
			method   string
			items    []any
			events   []string
			ok       bool
		}{"9110-8.6-4", "10 and " + second, "GET", []any{head(1, "200", cl("10"), cl(second))},
			[]string{"stream-error stream=1 PROTOCOL_ERROR"}, false})
	}
	for _, tt := range tests {
		t.Run(tt.id+" "+tt.name, func(t *testing.T) {
			rows.Cover(t, tt.id)
			tc := newTestMessage(t, request(tt.method))
			tc.write(tt.items...)
			if tt.ok {
				tc.wantEvents("well-formed", tt.events...)
				tc.want("nothing to say")
				return
			}
			events := eventLines(tc.events)
			tc.wantMalformed("malformed")
			tc.events = nil
			if got, want := strings.Join(events, "\n"), strings.Join(tt.events, "\n"); got != want {
				tc.fatalf("events:\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// 20 interim heads may come; their fields share the limit of one section.
func TestB32InterimHeads(t *testing.T) {
	tc := newTestMessage(t, get("/"))
	for range 20 {
		tc.write(head(1, "103"))
	}
	tc.want("20 are fine")
	tc.forget()
	tc.write(head(1, "103"))
	tc.want("the 21st is not", frame.RSTStream{Stream: 1, Code: frame.EnhanceYourCalm})
	tc.wantEvents("told", "stream-error stream=1 ENHANCE_YOUR_CALM answered")

	tc = newTestMessage(t, get("/"))
	big := field("x", string(make1(100000)))
	long := func(status string) peer.Headers {
		h := head(1, status, big)
		h.Continuations = 6
		return h
	}
	tc.write(long("103"), long("103"))
	tc.want("200,000 octets are fine")
	tc.write(long("200"))
	tc.want("above 256 KiB together", frame.RSTStream{Stream: 1, Code: frame.Cancel})

	tc = newTestMessage(t, get("/"))
	last := trailers(1, big)
	last.Continuations = 6
	tc.write(long("103"), long("103"), head(1, "200"), last)
	tc.want("trailers have a limit of their own")
}

// CONNECT: 2xx turns the stream into a tunnel, anything else is an ordinary response.
func TestConnect(t *testing.T) {
	rows.Cover(t, "9110-9.3.6-2", "9110-9.3.6-3", "9113-8.5-3", "9113-8.5-4", "9113-8.5-6")
	connect := []frame.Field{field(":method", "CONNECT"), field(":authority", "example.org:443")}
	start := func() *testConn {
		tc := newTestConn(t)
		tc.greet()
		tc.upload(connect)
		tc.want("only :method and :authority", peer.Headers{Stream: 1, Fields: connect})
		tc.forget()
		return tc
	}
	tc := start()
	tc.reading = true
	tc.ignore(frame.TypeWindowUpdate)
	tc.write(head(1, "200", field("content-length", "5")), data(1, 1000))
	tc.wantEvents("content-length means nothing (9110-9.3.6-2)", `response stream=1 status=200 content-length="5"`,
		"data stream=1 len=1000")
	tc.send(1, 100)
	tc.want("the other way", data(1, 100))
	if err := tc.sendTrailers(1, field("a", "b")); err == nil {
		t.Error("trailers were accepted in a tunnel (9113-8.5-3)")
	}
	tc.endStream(1)
	tc.want("this side ends", frame.Data{Stream: 1, EndStream: true})
	tc.write(data(1, 10), lastData(1, 0))
	tc.wantEvents("then the other", "data stream=1 len=10 END_STREAM")

	tc = start()
	tc.write(head(1, "200"))
	tc.forget()
	tc.write(trailers(1, field("a", "b")))
	tc.want("9113-8.5-4: HEADERS in a tunnel", frame.RSTStream{Stream: 1, Code: frame.ProtocolError})

	tc = start()
	tc.write(head(1, "407", field("content-length", "2")), lastData(1, 2))
	tc.wantEvents("an ordinary response", `response stream=1 status=407 length=2 content-length="2"`,
		"data stream=1 len=2 END_STREAM")

	tc = start()
	tc.write(head(1, "200"), frame.RSTStream{Stream: 1, Code: frame.ConnectError})
	tc.wantEvents("9113-8.5-6: an error beyond the proxy", "response stream=1 status=200",
		"stream-error stream=1 CONNECT_ERROR by-peer answered")
}
