package peer_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/plainfields"
	"github.com/google/go-cmp/cmp"
)

func Example() {
	p := peer.New(peer.Plain)
	p.Elapsed = func() time.Duration { return 50 * time.Millisecond }
	p.Feed([]byte(frame.ClientPreface))
	p.Feed(frame.MakeSettings().AppendTo(nil))
	p.Encode(nil, peer.Headers{Stream: 1, EndStream: true, Fields: []frame.Field{{Name: ":status", Value: "204"}}})
	p.Feed(frame.Data{Stream: 1, Data: []byte("early")}.AppendTo(nil))
	fmt.Println(p.Transcript())
	fmt.Println(p.Check())
	// Output:
	// +0.050s  >  SETTINGS
	// +0.050s  <  HEADERS stream=1 [:status="204"] END_STREAM
	// +0.050s  >  DATA stream=1 len=5
	// DATA stream=1 len=5 on a stream that was never opened
}

// get is a request that breaks no rule.
var get = []frame.Field{
	{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"},
	{Name: ":authority", Value: "a.example"}, {Name: ":path", Value: "/"},
}

// A said is something that one side says; client items are those that a Peer would encode as well.
type said struct {
	server bool
	items  []any
}

func client(items ...any) said { return said{items: items} }
func server(items ...any) said { return said{server: true, items: items} }

// octets encodes what a client says. Field blocks are plain.
func octets(items []any) []byte {
	return peer.New(peer.Plain).Encode(nil, items...)
}

// greeting is the start of every case.
var greeting = []said{
	client(peer.Raw(frame.ClientPreface), frame.MakeSettings()),
	server(frame.MakeSettings(), frame.Settings{Ack: true}),
	client(frame.Settings{Ack: true}),
}

func play(p *peer.Peer, said []said) {
	for _, s := range said {
		if s.server {
			p.Encode(nil, s.items...)
		} else {
			p.Feed(octets(s.items))
		}
	}
}

// request opens a stream whose request is over; upload one whose request is not.
func request(id frame.StreamID) peer.Headers {
	return peer.Headers{Stream: id, EndStream: true, Fields: get}
}

func upload(id frame.StreamID) peer.Headers { return peer.Headers{Stream: id, Fields: get} }

func fields(f ...frame.Field) peer.Headers {
	return peer.Headers{Stream: 1, EndStream: true, Fields: f}
}

var (
	ok200   = peer.Headers{Stream: 1, Fields: []frame.Field{{Name: ":status", Value: "200"}}}
	okEnd   = peer.Headers{Stream: 1, EndStream: true, Fields: []frame.Field{{Name: ":status", Value: "200"}}}
	ping    = frame.Ping{Data: [8]byte{1, 2, 3}}
	pong    = frame.Ping{Ack: true, Data: [8]byte{1, 2, 3}}
	cancel  = frame.RSTStream{Stream: 1, Code: frame.Cancel}
	kib64   = frame.Data{Stream: 1, Data: make([]byte, 16384)}
	block   = new(plainfields.Encoder).AppendField(nil, frame.Field{Name: "a", Value: "b"})
	setting = func(id frame.SettingID, v uint32) frame.Settings {
		return frame.MakeSettings(frame.Setting{ID: id, Value: v})
	}
	ack      = frame.Settings{Ack: true}
	reserved = func(f frame.Frame, at int) peer.Raw {
		b := f.AppendTo(nil)
		b[at] |= 0x80
		return b
	}
)

var shadowTests = []struct {
	name string
	said []said
	want string // a part of what Check says; "" for no complaint
}{
	{"exchange", []said{client(request(1)), server(okEnd), client(request(3))}, ""},
	{"upload with trailers", []said{client(upload(1), kib64, fields(frame.Field{Name: "a", Value: "b"}))}, ""},
	{"second SETTINGS and PING", []said{server(ping, frame.MakeSettings()), client(pong, ack, ping), server(pong)}, ""},
	{"full window", []said{client(upload(1), kib64, kib64, kib64,
		frame.Data{Stream: 1, Data: make([]byte, 16383)}, frame.Data{Stream: 1, EndStream: true})}, ""},
	{"CONTINUATION", []said{client(peer.Headers{Stream: 1, EndStream: true, Fields: get, Continuations: 3})}, ""},
	{"CONNECT", []said{client(fields(frame.Field{Name: ":method", Value: "CONNECT"},
		frame.Field{Name: ":authority", Value: "a:1"}))}, ""},
	{"priority", []said{client(frame.Priority{Stream: 9, PriorityParam: frame.PriorityParam{DependsOn: 7}},
		frame.PriorityUpdate{Prioritized: 1, Value: []byte("u=1")})}, ""},
	{"reset of both", []said{client(upload(1)), server(frame.RSTStream{Stream: 1}), client(cancel)}, ""},

	{"unknown type", []said{client(frame.Unknown{Header: frame.Header{Type: 0xbb}})}, "does not send this type"},
	{"push", []said{client(upload(1), peer.PushPromise{Stream: 1, Promised: 2})}, "does not send this type"},
	{"reserved bit", []said{client(reserved(ping, 5))}, "the reserved bit of the header"},
	{"reserved bit of the increment", []said{client(reserved(frame.WindowUpdate{Increment: 1}, 9))}, "9113-4.1-5"},
	{"reserved bit of GOAWAY", []said{client(reserved(frame.GoAway{}, 9))}, "9113-4.1-5"},
	{"undefined flag", []said{client(frame.Unknown{Header: frame.Header{Type: frame.TypePing, Flags: 0x10},
		Payload: make([]byte, 8)})}, "undefined flags 0x10"},
	{"frame too large", []said{client(upload(1), frame.Data{Stream: 1, Data: make([]byte, 16385)})}, "above the limit"},
	{"frame size raised", []said{server(setting(frame.SettingMaxFrameSize, 20000)), client(upload(1), ack,
		frame.Data{Stream: 1, Data: make([]byte, 20000)})}, ""},
	{"frame size lowered again", []said{server(setting(frame.SettingMaxFrameSize, 20000)), client(upload(1), ack),
		server(setting(frame.SettingMaxFrameSize, 16384)), client(ack,
			frame.Data{Stream: 1, Data: make([]byte, 20000)})}, "above the limit"},
	{"malformed", []said{client(frame.Unknown{Header: frame.Header{Type: frame.TypePing}})}, "PING"},
	{"needless SETTINGS ack", []said{client(ack)}, "acknowledges nothing"},
	{"bad setting", []said{client(setting(frame.SettingEnablePush, 2))}, "ENABLE_PUSH"},
	{"needless PING ack", []said{client(pong)}, "answers nothing"},
	{"wrong PING ack", []said{server(ping), client(frame.Ping{Ack: true})}, "answers a PING with the octets"},
	{"even stream", []said{client(request(2))}, "a client's stream is odd"},
	{"falling stream", []said{client(request(3), request(1))}, "not above stream 3"},
	{"DATA on idle", []said{client(kib64)}, "never opened"},
	{"RST_STREAM on idle", []said{client(cancel)}, "never opened"},
	{"WINDOW_UPDATE on idle", []said{client(frame.WindowUpdate{Stream: 1, Increment: 1})}, "never opened"},
	{"DATA after END_STREAM", []said{client(request(1), kib64)}, "after END_STREAM"},
	{"DATA after trailers", []said{client(upload(1), fields(), kib64)}, "after END_STREAM"},
	{"DATA after RST_STREAM", []said{client(upload(1), cancel, kib64)}, "after RST_STREAM"},
	{"second RST_STREAM", []said{client(upload(1), cancel, cancel)}, "for the second time"},
	{"DATA after RST_STREAM received", []said{client(upload(1)), server(cancel, ping), client(pong, kib64)},
		"after RST_STREAM from the server"},
	{"DATA that crosses RST_STREAM", []said{client(upload(1)), server(ping, cancel), client(pong, kib64)}, ""},
	{"RST_STREAM for RST_STREAM", []said{client(upload(1)), server(cancel, ping), client(pong, cancel)},
		"after RST_STREAM from the server"},
	{"trailers without END_STREAM", []said{client(upload(1), peer.Headers{Stream: 1})}, "trailers without END_STREAM"},
	{"WINDOW_UPDATE 0", []said{client(frame.WindowUpdate{})}, "PROTOCOL_ERROR"},
	{"WINDOW_UPDATE overflow", []said{client(frame.WindowUpdate{Increment: 1<<31 - 1})}, "lifts the window"},
	{"WINDOW_UPDATE overflow on a stream", []said{client(upload(1),
		frame.WindowUpdate{Stream: 1, Increment: 1<<31 - 65535})}, "lifts the window to 2147483648"},
	{"WINDOW_UPDATE on a closed stream", []said{client(request(1)), server(okEnd, ping), client(pong,
		frame.WindowUpdate{Stream: 1, Increment: 1})}, "on a closed stream"},
	{"DATA beyond the stream window", []said{server(frame.WindowUpdate{Increment: 1 << 20}), client(upload(1), kib64,
		kib64, kib64, kib64)}, "leaves a window of -1 on the stream and 1048575"},
	{"DATA beyond the connection window", []said{client(upload(1)),
		server(frame.WindowUpdate{Stream: 1, Increment: 1 << 20}), client(kib64, kib64, kib64, kib64)},
		"leaves a window of 1048575 on the stream and -1"},
	{"lowered window before the ack", []said{client(upload(1)), server(setting(frame.SettingInitialWindowSize, 0)),
		client(kib64, ack)}, ""},
	{"lowered window after the ack", []said{client(upload(1)), server(setting(frame.SettingInitialWindowSize, 0)),
		client(ack, kib64)}, "leaves a window of -16384"},
	{"too many streams", []said{server(setting(frame.SettingMaxConcurrentStreams, 1)), client(ack, request(1),
		request(3))}, "open stream number 2 of 1"},
	{"streams up to the limit", []said{server(setting(frame.SettingMaxConcurrentStreams, 1)), client(ack, request(1)),
		server(okEnd), client(request(3), frame.RSTStream{Stream: 3}, request(5))}, ""},
	{"stream after GOAWAY", []said{server(frame.GoAway{}, ping), client(pong, request(1))}, "after GOAWAY from"},
	{"stream that crosses GOAWAY", []said{server(ping, frame.GoAway{}), client(pong, request(1))}, ""},
	{"rising GOAWAY", []said{client(frame.GoAway{LastStream: 2}, frame.GoAway{LastStream: 4})}, "after one for stream 2"},
	{"frame after a fatal GOAWAY", []said{client(frame.GoAway{Code: frame.ProtocolError}, ping)}, "after GOAWAY with"},
	{"frame after a graceful GOAWAY", []said{client(frame.GoAway{}, ping)}, ""},
	{"field block interrupted", []said{client(peer.Headers{Stream: 1, Fields: get, Open: true}, ping)},
		"within the field block on stream 1"},
	{"field block continued elsewhere", []said{client(peer.Headers{Stream: 1, Fields: get, Open: true},
		frame.Continuation{Stream: 3, EndHeaders: true})}, "within the field block on stream 1"},
	{"CONTINUATION alone", []said{client(frame.Continuation{Stream: 1, EndHeaders: true})}, "without a field block"},
	{"field block cut", []said{client(frame.Headers{Stream: 1, EndHeaders: true, Fragment: block[:2]})}, "COMPRESSION"},
	{"upper case", []said{client(fields(append(get, frame.Field{Name: "A"})...))}, `field name "A"`},
	{"connection field", []said{client(fields(append(get, frame.Field{Name: "keep-alive"})...))}, "9113-8.2.2-1"},
	{"te", []said{client(fields(append(get, frame.Field{Name: "te", Value: "gzip"})...))}, "te with the value"},
	{"line feed", []said{client(fields(append(get, frame.Field{Name: "a", Value: "b\nc"})...))}, `the value "b\nc"`},
	{"status in a request", []said{client(fields(append(get, frame.Field{Name: ":status"})...))}, ":status in a request"},
	{"pseudo twice", []said{client(fields(append(get, get[3])...))}, ":path twice"},
	{"pseudo late", []said{client(fields(get[0], get[1], frame.Field{Name: "a"}, get[3]))}, ":path after a regular"},
	{"pseudo in trailers", []said{client(upload(1), fields(get[0]))}, ":method in trailers"},
	{"no path", []said{client(fields(get[0], get[1]))}, "no :path"},
	{"no method", []said{client(fields(get[1:]...))}, "no :method"},
	{"CONNECT with a path", []said{client(fields(frame.Field{Name: ":method", Value: "CONNECT"}, get[3]))},
		"CONNECT with"},
	{"protocol without CONNECT", []said{client(fields(append(get, frame.Field{Name: ":protocol"})...))},
		":protocol without"},
}

func TestShadow(t *testing.T) {
	for _, tt := range shadowTests {
		t.Run(tt.name, func(t *testing.T) {
			p := peer.New(peer.Plain)
			play(p, append(append([]said(nil), greeting...), tt.said...))
			wantViolation(t, p, tt.want)
		})
	}
}

// wantViolation checks that p complains of want, or of nothing if want is empty.
func wantViolation(t *testing.T, p *peer.Peer, want string) {
	t.Helper()
	err := p.Check()
	if want == "" && err == nil || want != "" && err != nil && strings.Contains(err.Error(), want) {
		return
	}
	t.Errorf("Check says %v, want %q\n%s", err, want, p.Transcript())
}

func TestShadowStart(t *testing.T) {
	for _, tt := range []struct{ name, octets, want string }{
		{"preface in part", "PRI * HT", ""},
		{"HTTP/1.1", "GET / HTTP/1.1\r\n", "not the preface"},
		{"no SETTINGS", frame.ClientPreface + string(ping.AppendTo(nil)), "the first frame is not SETTINGS"},
		{"ack first", frame.ClientPreface + string(ack.AppendTo(nil)), "the first frame is not SETTINGS"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := peer.New(peer.Plain)
			for i := range len(tt.octets) {
				p.Feed([]byte{tt.octets[i]})
			}
			wantViolation(t, p, tt.want)
		})
	}
}

func TestShadowPrompt(t *testing.T) {
	p := peer.New(peer.Plain)
	p.Prompt = true
	play(p, append(append([]said(nil), greeting...), server(frame.GoAway{}), client(request(1))))
	wantViolation(t, p, "after GOAWAY from the server")
}

func TestShadowWindows(t *testing.T) {
	p := peer.New(peer.Plain)
	play(p, greeting)
	p.Feed(octets([]any{setting(frame.SettingInitialWindowSize, 100), upload(1), kib64,
		frame.WindowUpdate{Increment: 10}, frame.WindowUpdate{Stream: 1, Increment: 7}}))
	p.Encode(nil, ok200, frame.Data{Stream: 1, Data: make([]byte, 50), Padded: true, PadLength: 4})
	want := map[string]int64{"send 0": 65535 - 16384, "send 1": 65535 - 16384, "recv 0": 65545 - 55, "recv 1": 65542 - 55}
	windows := func() map[string]int64 {
		return map[string]int64{"send 0": p.SendWindow(0), "send 1": p.SendWindow(1), "recv 0": p.RecvWindow(0),
			"recv 1": p.RecvWindow(1)}
	}
	if diff := cmp.Diff(want, windows()); diff != "" {
		t.Errorf("before the acknowledgement (-want +got)\n%s", diff)
	}
	p.Encode(nil, ack, frame.WindowUpdate{Increment: 5}, frame.WindowUpdate{Stream: 1, Increment: 6})
	want = map[string]int64{"send 0": 49156, "send 1": 49157, "recv 0": 65490, "recv 1": 107 - 55}
	if diff := cmp.Diff(want, windows()); diff != "" {
		t.Errorf("after it (-want +got)\n%s", diff)
	}
	if n := p.OpenStreams(); n != 1 {
		t.Errorf("%d streams are open, want 1", n)
	}
}

func TestShadowSettled(t *testing.T) {
	for _, tt := range []struct {
		name string
		said []said
		want string
	}{
		{"nothing owed", nil, "<nil>"},
		{"SETTINGS", []said{server(frame.MakeSettings())}, "1 SETTINGS not acknowledged (9113-6.5.3-4)"},
		{"PING", []said{server(ping)}, "1 PING not answered (9113-6.7-2)"},
		{"field block", []said{client(peer.Headers{Stream: 1, Fields: get, Open: true})},
			"the field block on stream 1 has no end"},
		{"frame", []said{client(peer.Raw{0, 0, 8})}, "3 octets of a frame without the rest"},
		{"fatal GOAWAY", []said{server(ping), client(frame.GoAway{Code: frame.InternalError})}, "<nil>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := peer.New(peer.Plain)
			play(p, append(append([]said(nil), greeting...), tt.said...))
			if got := fmt.Sprint(p.Settled()); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// What one Peer encodes, another reads back as the same values, in any chunks and with either codec.
func TestRoundTrip(t *testing.T) {
	want := []fmt.Stringer{
		frame.MakeSettings(frame.Setting{ID: frame.SettingInitialWindowSize, Value: 1}),
		peer.Headers{Stream: 1, Fields: get},
		peer.Headers{Stream: 3, Fields: get, EndStream: true, Continuations: 200},
		peer.Headers{Stream: 5, Fields: get, Padded: true, PadLength: 9, HasPriority: true,
			Priority: frame.PriorityParam{DependsOn: 3, Weight: 4, Exclusive: true}, Continuations: 1},
		frame.Data{Stream: 1, Data: []byte("abc"), Padded: true, PadLength: 3},
		peer.Headers{Stream: 1, EndStream: true, Fields: []frame.Field{{Name: "x", Value: "y", Sensitive: true}}},
		peer.Headers{Stream: 3, EndStream: true},
		frame.MakeSettings(),
		frame.Settings{Ack: true},
		frame.Data{Stream: 5, EndStream: true},
		frame.PriorityUpdate{Prioritized: 1},
		frame.RSTStream{Stream: 5, Code: frame.Cancel},
		frame.WindowUpdate{Increment: 1},
		frame.Ping{Data: [8]byte{7}},
		frame.Priority{Stream: 9},
		frame.GoAway{Debug: []byte("bye")},
		frame.GoAway{},
	}
	for _, codec := range []peer.Codec{peer.Plain, peer.HPACK} {
		for _, chunk := range []int{1, 5, 1 << 20} {
			writer := peer.New(codec)
			stream := writer.Encode(nil, peer.Raw(frame.ClientPreface))
			for _, v := range want {
				stream = writer.Encode(stream, v)
			}
			p := peer.New(codec)
			for len(stream) > 0 {
				n := min(chunk, len(stream))
				p.Feed(stream[:n])
				clear(stream[:n]) // nothing may borrow it
				stream = stream[n:]
			}
			var got []fmt.Stringer
			for v, ok := p.Next(); ok; v, ok = p.Next() {
				got = append(got, v)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("codec %d, chunks of %d (-want +got)\n%s", codec, chunk, diff)
			}
		}
	}
}

// The table size that the server set has to be told by the client, once it acknowledged it.
func TestShadowTableSize(t *testing.T) {
	for _, tt := range []struct{ name, block, want string }{
		{"told", "\x20\x82\x87\x84\x41\x01a", ""},
		{"not told", "\x82\x87\x84\x41\x01a", "9113-4.3.1-3"},
		{"told too high", "\x3f\x01\x82\x87\x84\x41\x01a", "7541-4.2-1"},
		{"told three times", "\x20\x20\x20\x82\x87\x84\x41\x01a", "7541-4.2-3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := peer.New(peer.HPACK)
			play(p, append(append([]said(nil), greeting...),
				server(setting(frame.SettingHeaderTableSize, 0)),
				client(frame.Headers{Stream: 1, EndStream: true, EndHeaders: true, Fragment: []byte("\x82\x87\x84\x41\x01a")},
					ack, frame.Headers{Stream: 3, EndStream: true, EndHeaders: true, Fragment: []byte(tt.block)})))
			wantViolation(t, p, tt.want)
		})
	}
}

// The peer's own encoder obeys the client's table size once the server acknowledged it.
func TestPeerTableSize(t *testing.T) {
	p := peer.New(peer.HPACK)
	p.Feed(octets([]any{peer.Raw(frame.ClientPreface), setting(frame.SettingHeaderTableSize, 0)}))
	before := p.Encode(nil, okEnd)
	after := p.Encode(p.Encode(nil, ack), okEnd)
	want := [2][]byte{
		{0, 0, 1, 1, 5, 0, 0, 0, 1, 0x88},
		{0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, 2, 1, 5, 0, 0, 0, 1, 0x20, 0x88},
	}
	if diff := cmp.Diff(want, [2][]byte{before, after}); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
