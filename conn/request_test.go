package conn_test

import (
	"errors"
	"strings"
	"testing"

	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
)

// Requests that may not be sent are refused before anything is, and take no identifier.
func TestRequestsThatAreRefused(t *testing.T) {
	h := func(pairs ...string) []frame.Field {
		var list []frame.Field
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, field(pairs[i], pairs[i+1]))
		}
		return list
	}
	base := func(more ...string) []frame.Field { return append(get("/"), h(more...)...) }
	without := func(name string) []frame.Field {
		var list []frame.Field
		for _, f := range get("/") {
			if f.Name != name {
				list = append(list, f)
			}
		}
		return list
	}
	with := func(name, value string) []frame.Field {
		list := get("/")
		for i := range list {
			if list[i].Name == name {
				list[i].Value = value
			}
		}
		return list
	}
	tests := []struct {
		id     string
		fields []frame.Field
		field  string // that the error names
	}{
		{"9113-8.3.1-1 no :method", without(":method"), ":method"},
		{"9113-8.3.1-1 no :scheme", without(":scheme"), ":scheme"},
		{"9113-8.3.1-1 no :path", without(":path"), ":path"},
		{"9113-8.3.1-5 empty :path", with(":path", ""), ":path"},
		{"9113-10.3-1 space in :path", with(":path", "/a b"), ":path"},
		{"9113-10.3-1 LF in :path", with(":path", "/\n"), ":path"},
		{"9113-10.3-1 DEL in :authority", with(":authority", "a\x7f"), ":authority"},
		{"9113-10.3-1 empty :authority", with(":authority", ""), ":authority"},
		{"9110-9.1-1 space in :method", with(":method", "G ET"), ":method"},
		{"9110-9.1-1 empty :method", with(":method", ""), ":method"},
		{"9113-8.3-1 :status", append(h(":status", "200"), get("/")...), ":status"},
		{"9113-8.3-1 :foo", append(get("/"), field(":foo", "x")), ":foo"},
		{"9113-8.3-4 pseudo-header field after a regular one", append(h("a", "b"), get("/")...), ":method"},
		{"9113-8.3-6 :path twice", append(get("/"), field(":path", "/")), ":path"},
		{"9113-8.2-1 upper case", base("X-Upper", "1"), "X-Upper"},
		{"9113-8.2.1-6 empty name", base("", "1"), ""},
		{"9113-8.2.1-6 space in a name", base("a b", "1"), "a b"},
		{"9113-8.2.1-6 colon in a name", base("a:b", "1"), "a:b"},
		{"9113-8.2.1-6 8-bit name", base("a\xe4", "1"), "a\xe4"},
		{"9113-8.2.1-6 CR in a value", base("a", "1\r"), "a"},
		{"9113-8.2.1-6 LF in a value", base("a", "1\n2"), "a"},
		{"9113-8.2.1-6 NUL in a value", base("a", "\x00"), "a"},
		{"9113-8.2.1-6 leading space", base("a", " 1"), "a"},
		{"9113-8.2.1-6 trailing tab", base("a", "1\t"), "a"},
		{"9113-8.2.2-1 connection", base("connection", "close"), "connection"},
		{"9113-8.2.2-1 proxy-connection", base("proxy-connection", "x"), "proxy-connection"},
		{"9113-8.2.2-1 keep-alive", base("keep-alive", "x"), "keep-alive"},
		{"9113-8.2.2-1 transfer-encoding", base("transfer-encoding", "chunked"), "transfer-encoding"},
		{"9113-8.2.2-1 upgrade", base("upgrade", "h2c"), "upgrade"},
		{"9113-8.2.2-3 te", base("te", "gzip"), "te"},
		{"9113-8.5-1 CONNECT with :path", h(":method", "CONNECT", ":authority", "a:1", ":path", "/"), ":path"},
		{"9113-8.5-1 CONNECT with :scheme", h(":method", "CONNECT", ":authority", "a:1", ":scheme", "https"), ":scheme"},
		{"9110-9.3.6-1 CONNECT without a port", h(":method", "CONNECT", ":authority", "example.org"), ":authority"},
		{"9110-9.3.6-1 CONNECT with an empty port", h(":method", "CONNECT", ":authority", "example.org:"), ":authority"},
		{"9110-9.3.6-1 CONNECT to an address without a port", h(":method", "CONNECT", ":authority", "[2001:db8::1]"),
			":authority"},
		{"9113-8.5-2 CONNECT without :authority", h(":method", "CONNECT"), ":authority"},
		{"8441-4-1 :protocol without CONNECT", append(get("/"), field(":protocol", "websocket")), ":protocol"},
		{"8441-4-1 extended CONNECT without :path", h(":method", "CONNECT", ":protocol", "websocket", ":scheme", "https",
			":authority", "a"), ":path"},
		{"8441-4-1 extended CONNECT without :authority", h(":method", "CONNECT", ":protocol", "websocket", ":scheme", "https",
			":path", "/"), ":authority"},
	}
	for _, tt := range tests {
		t.Run(tt.id, func(t *testing.T) {
			rows.Cover(t, tt.id)
			tc := newTestConn(t)
			tc.greet(setting(frame.SettingEnableConnectProtocol, 1))
			_, err := tc.tryOpen(tt.fields, true)
			var bad *conn.FieldError
			if !errors.As(err, &bad) || bad.Name != tt.field || !strings.Contains(err.Error(), "invalid request") {
				t.Fatalf("want a FieldError of %q, got %v", tt.field, err)
			}
			tc.wantIdle("nothing is sent")
			if id := tc.open(get("/")); id != 1 {
				t.Errorf("the next stream is %d", id)
			}
		})
	}
}

func TestRequestsThatAreSent(t *testing.T) {
	tests := []struct {
		id     string
		fields []frame.Field
	}{
		{"9113-8.2.2-3 te: trailers", append(get("/"), field("te", "trailers"))},
		{"9113-8.3.1-6 OPTIONS *", request("OPTIONS")},
		{"9113-8.3.1-2 no authority to convey", append(get("/")[:2:2], field(":path", "/"))},
		{"9113-8.2.3-1 cookies", append(get("/"), field("cookie", "a=1"), field("cookie", "b=2"))},
		{"9110-9.1-1 method in lower case", request("get")},
		{"7541-7.1.3-1 sensitive", append(get("/"), frame.Field{Name: "authorization", Value: "x", Sensitive: true})},
		{"8441-4-1 extended CONNECT", []frame.Field{field(":method", "CONNECT"), field(":protocol", "websocket"),
			field(":scheme", "https"), field(":authority", "a"), field(":path", "/chat")}},
	}
	for _, tt := range tests {
		t.Run(tt.id, func(t *testing.T) {
			rows.Cover(t, tt.id)
			tc := newTestConn(t)
			tc.greet(setting(frame.SettingEnableConnectProtocol, 1))
			if tt.id == "9113-8.3.1-6 OPTIONS *" {
				tt.fields[3].Value = "*"
			}
			tc.open(tt.fields)
			tc.want("as it is, in order", peer.Headers{Stream: 1, EndStream: true, Fields: tt.fields})
		})
	}
}

func TestRequestTrailersThatAreRefused(t *testing.T) {
	rows.Cover(t, "9113-8.1-3", "9110-6.5.1-2")
	for _, f := range []frame.Field{
		field(":path", "/"), field(":x", "y"), field("content-length", "1"), field("host", "a"), field("authorization", "x"),
		field("transfer-encoding", "chunked"), field("connection", "x"), field("X", "y"), field("a", "b\n"), field("te", "trailers"),
	} {
		tc := newTestConn(t)
		tc.greet()
		id := tc.upload(post())
		tc.forget()
		var bad *conn.FieldError
		if err := tc.sendTrailers(id, field("ok", "1"), f); !errors.As(err, &bad) || bad.Name != f.Name {
			t.Errorf("%v: got %v", f, err)
		}
		tc.wantIdle("nothing is sent")
		tc.endStream(id)
		tc.want("and the stream can still be ended", frame.Data{Stream: id, EndStream: true})
	}
}

// :protocol needs the server's word, which is not known before its SETTINGS (8441-3-1).
func TestExtendedConnectNeedsTheSetting(t *testing.T) {
	rows.Cover(t, "8441-3-1", "9113-5.5-3")
	fields := []frame.Field{field(":method", "CONNECT"), field(":protocol", "websocket"), field(":scheme", "https"),
		field(":authority", "a"), field(":path", "/")}
	tc := newTestConn(t)
	if tc.c.SettingsReceived() || tc.c.ExtendedConnect() {
		t.Error("nothing has come yet")
	}
	if _, err := tc.tryOpen(fields, false); !errors.Is(err, conn.ErrExtendedConnect) {
		t.Errorf("before SETTINGS: %v", err)
	}
	tc.greet()
	if _, err := tc.tryOpen(fields, false); !errors.Is(err, conn.ErrExtendedConnect) {
		t.Errorf("without the setting: %v", err)
	}
	tc.write(frame.MakeSettings(setting(frame.SettingEnableConnectProtocol, 1)))
	if !tc.c.SettingsReceived() || !tc.c.ExtendedConnect() {
		t.Error("the setting was not noticed")
	}
	tc.reading = true
	id := tc.upload(fields)
	tc.forget()
	tc.write(head(id, "200"), data(id, 5))
	tc.wantEvents("no tunnel of plain CONNECT", "response stream=1 status=200", "data stream=1 len=5")
	if err := tc.sendTrailers(id, field("a", "b")); err != nil {
		t.Error(err)
	}
}

// 9113-6.5.2-11: a request above the server's limit is not sent; the boundary is exact.
func TestRequestAboveTheServersLimit(t *testing.T) {
	rows.Cover(t, "9113-6.5.2-11")
	size := 0
	for _, f := range get("/") {
		size += len(f.Name) + len(f.Value) + 32
	}
	tc := newTestConn(t)
	tc.greet(setting(frame.SettingMaxHeaderListSize, uint32(size)))
	tc.open(get("/"))
	if _, err := tc.tryOpen(get("/x"), true); !errors.Is(err, conn.ErrHeaderListTooLarge) {
		t.Errorf("one octet more: %v", err)
	}
}

// What the preface announces: only what was asked for, and within the range of the protocol.
func TestPreface(t *testing.T) {
	rows.Cover(t, "9113-3.4-1", "9113-3.4-2", "9113-6.5-1", "9113-6.5.2-8")
	tests := []struct {
		name   string
		option option
		want   string
	}{
		{"nothing", withRecvWindow(65535, 65535), "SETTINGS ENABLE_PUSH=0"},
		{"windows", withRecvWindow(100, 65536), "SETTINGS ENABLE_PUSH=0 INITIAL_WINDOW_SIZE=100|WINDOW_UPDATE stream=0 increment=1"},
		{"windows out of range", withRecvWindow(-5, 100), "SETTINGS ENABLE_PUSH=0 INITIAL_WINDOW_SIZE=0"},
		{"windows far out of range", withRecvWindow(1<<40, 1<<40), "SETTINGS ENABLE_PUSH=0 INITIAL_WINDOW_SIZE=2147483647|" +
			"WINDOW_UPDATE stream=0 increment=2147418112"},
		{"everything", withConfig(func(cfg *conn.Config) {
			cfg.HeaderTableSize, cfg.AdvertiseMaxConcurrentStreams, cfg.MaxReadFrameSize, cfg.MaxHeaderListSize = 8192, 7, 20000, 1<<20
		}), "SETTINGS HEADER_TABLE_SIZE=8192 ENABLE_PUSH=0 MAX_CONCURRENT_STREAMS=7 MAX_FRAME_SIZE=20000 MAX_HEADER_LIST_SIZE=1048576"},
		{"9113-6.5.2-8 frame size below the range", withConfig(func(cfg *conn.Config) { cfg.MaxReadFrameSize = 1 }),
			"SETTINGS ENABLE_PUSH=0"},
		{"9113-6.5.2-8 frame size above the range", withConfig(func(cfg *conn.Config) { cfg.MaxReadFrameSize = 1 << 30 }),
			"SETTINGS ENABLE_PUSH=0 MAX_FRAME_SIZE=16777215"},
		{"no table", withConfig(func(cfg *conn.Config) { cfg.HeaderTableSize = -1 }), "SETTINGS HEADER_TABLE_SIZE=0 ENABLE_PUSH=0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tc := newTestConn(t, tt.option)
			var lines []string
			for _, v := range tc.sent {
				lines = append(lines, v.String())
			}
			if got := strings.Join(lines, "|"); got != tt.want {
				t.Errorf("want %s\ngot  %s", tt.want, got)
			}
		})
	}
}

// What the caller must not do panics, and says that it is a bug.
func TestMisuse(t *testing.T) {
	bug := func(name string, f func()) {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if r, _ := recover().(string); !strings.HasPrefix(r, "h2flow: bug: ") {
					t.Errorf("recovered %q", r)
				}
			}()
			f()
		})
	}
	bug("Config without a strategy", func() { conn.New(epoch, conn.Config{}) })
	bug("Feed before NextEvent has returned None", func() {
		c := newUndriven()
		c.Feed(epoch, []byte("a"))
		c.Feed(epoch, []byte("b"))
	})
	bug("AppendData beyond SendQuota", func() {
		tc := newTestConn(t)
		tc.greet()
		id := tc.upload(post())
		tc.c.AppendData(epoch, nil, id, 65536, false)
	})
	bug("AppendData on a stream that is over", func() {
		tc := newTestConn(t)
		tc.greet()
		id := tc.upload(post())
		tc.reset(id, frame.Cancel)
		tc.c.AppendData(epoch, nil, id, 0, true)
	})
	bug("Consumed beyond what was received", func() {
		tc := newTestConn(t)
		tc.greet()
		tc.c.Consumed(epoch, tc.open(get("/")), 1)
	})
}

// TakeEvent gives what has happened and parses nothing.
func TestTakeEvent(t *testing.T) {
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/"))
	c := tc.c
	if _, ok := c.TakeEvent(); ok {
		t.Error("nothing has happened")
	}
	c.Feed(tc.now, tc.peer.Encode(nil, head(1, "103"), wholeResponse(1, "200")))
	if _, ok := c.TakeEvent(); ok || !c.Pending() {
		t.Error("it was parsed")
	}
	if ev := c.NextEvent(); ev.Kind != conn.Interim {
		t.Errorf("got %v", ev)
	}
	if _, ok := c.TakeEvent(); ok {
		t.Error("it was parsed")
	}
	c.Shutdown(tc.now)
	if ev := c.NextEvent(); ev.String() != "response stream=1 status=200 END_STREAM" {
		t.Errorf("got %v", ev)
	}
	if ev, ok := c.TakeEvent(); !ok || ev.Kind != conn.Closed || c.Pending() {
		t.Errorf("got %v, %v", ev, ok)
	}
}
