package conn_test

import (
	"errors"
	"testing"
	"time"

	"example.com/h2flow/conn"
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
	"example.com/h2flow/strategy"
)

// However long ago this side gave a stream up, what the server sent before it knew is no error: no timer decides that
// it must know by now.
func TestTimeAloneMakesNoFrameLate(t *testing.T) {
	rows.Cover(t, "9113-5.1-18")
	for _, wait := range []time.Duration{0, time.Second, time.Hour, 30 * 24 * time.Hour} {
		tc := newTestConn(t)
		tc.greet()
		id := tc.upload(post())
		tc.reset(id, frame.Cancel)
		tc.advance(wait)
		tc.forget()
		tc.write(head(id, "200"), data(id, 1000), trailers(id), frame.WindowUpdate{Stream: id, Increment: 1},
			frame.RSTStream{Stream: id})
		tc.want("the octets are given back, and that is all", frame.WindowUpdate{Increment: 1000})
		tc.wantEvents("nobody hears of it")
	}
}

// A receive window as large as there can be changes nothing for what is sent.
func TestOwnWindowsDoNotLiftTheServers(t *testing.T) {
	rows.Cover(t, "9113-5.2.1-4", "9113-5.2.1-2")
	tc := newTestConn(t, withRecvWindow(flow.MaxWindow, flow.MaxWindow))
	tc.greet()
	id := tc.upload(post())
	if n := tc.send(id, 1<<20); n != 65535 {
		t.Errorf("%d octets were sent, the server allows 65,535", n)
	}
}

// When the server ends its side of a tunnel, the client ends its own.
func TestATunnelEndsOnBothSides(t *testing.T) {
	rows.Cover(t, "9113-8.5-5", "9113-8.5-2")
	tc := newTestConn(t)
	tc.greet()
	connect := []frame.Field{field(":method", "CONNECT"), field(":authority", "example.org:443")}
	id := tc.upload(connect)
	tc.want("the head", peer.Headers{Stream: id, Fields: connect})
	tc.write(head(id, "200"), lastData(id, 3))
	tc.consume(id, 3)
	tc.forget()
	tc.endStream(id)
	tc.want("END_STREAM", frame.Data{Stream: id, EndStream: true})
	tc.wantStreams("it is over", 0, 0)
}

// What the server says is processed whether or not the application takes what came before.
func TestNothingWaitsForASlowReader(t *testing.T) {
	rows.Cover(t, "9113-5.2.2-1", "9113-6.5-2")
	tc := newTestConn(t)
	tc.greet(setting(frame.SettingInitialWindowSize, 0))
	slow, upload := tc.open(get("/")), tc.upload(post())
	tc.write(head(slow, "200"), data(slow, 16384), data(slow, 16384)) // nobody reads them
	if n := tc.quota(upload); n != 0 {
		t.Fatalf("quota %d", n)
	}
	tc.forget()
	tc.write(frame.WindowUpdate{Stream: upload, Increment: 10}, frame.Ping{Data: [8]byte{1}}, frame.MakeSettings())
	tc.want("answers at once", ack, frame.Ping{Ack: true, Data: [8]byte{1}})
	tc.wantEvents("and the upload goes on", "sendable stream=3", "settings")
}

// The first SETTINGS of the server hold for streams that were opened before: what they lower is below zero at once.
func TestTheFirstSettingsHoldForEarlyStreams(t *testing.T) {
	rows.Cover(t, "9113-3.4-6", "9113-6.9.2-1", "9113-6.9.2-3")
	tc := newTestConn(t)
	id := tc.upload(post())
	if n := tc.send(id, 1<<20); n != 65535 {
		t.Errorf("%d octets left before the server said anything, want 65,535", n)
	}
	tc.write(frame.WindowUpdate{Increment: 1 << 20}) // an error: SETTINGS come first
	tc.wantClosed("the first frame", frame.ProtocolError)

	tc = newTestConn(t)
	id = tc.upload(post())
	tc.send(id, 60000)
	tc.write(frame.MakeSettings(setting(frame.SettingInitialWindowSize, 0)), frame.WindowUpdate{Increment: 1 << 20},
		frame.WindowUpdate{Stream: id, Increment: 60000})
	if n := tc.quota(id); n != 0 {
		t.Errorf("quota %d at a window of 0", n)
	}
	tc.write(frame.WindowUpdate{Stream: id, Increment: 7})
	if n := tc.quota(id); n != 7 {
		t.Errorf("quota %d, want 7", n)
	}
}

// A server that takes extended CONNECT back is believed: no new one is opened, and the connection goes on.
func TestExtendedConnectTakenBack(t *testing.T) {
	rows.Cover(t, "8441-3-3")
	tc := newTestConn(t)
	tc.greet(setting(frame.SettingEnableConnectProtocol, 1))
	fields := []frame.Field{field(":method", "CONNECT"), field(":protocol", "websocket"), field(":scheme", "https"),
		field(":authority", "a"), field(":path", "/")}
	tc.upload(fields)
	tc.write(frame.MakeSettings(setting(frame.SettingEnableConnectProtocol, 0)))
	if _, err := tc.tryOpen(fields, false); !errors.Is(err, conn.ErrExtendedConnect) {
		t.Errorf("got %v", err)
	}
	tc.forget()
	tc.write(head(1, "200"))
	tc.wantEvents("the one that is open goes on", "response stream=1 status=200")
}

// A reader that takes one octet at a time does not make the client send a window update for each.
func TestNoSillyWindowUpdates(t *testing.T) {
	rows.Cover(t, "9113-6.9.1-7")
	for _, cfg := range []flow.Config{strategy.BDP{}, strategy.Threshold{}} {
		tc := newTestConn(t, withStrategy(cfg.New), withChunks(0))
		tc.greet()
		id := tc.open(get("/"))
		tc.write(head(id, "200"))
		tc.forget()
		const total = 16 << 10
		for left := total; left > 0; left -= 4 << 10 {
			tc.write(data(id, 4<<10))
			for range 4 << 10 {
				tc.consume(id, 1)
			}
		}
		updates := 0
		for _, v := range tc.sent {
			if _, ok := v.(frame.WindowUpdate); ok {
				updates++
			}
		}
		if updates > 16 {
			t.Errorf("%v: %d window updates for %d octets read one by one", cfg, updates, total)
		}
	}
}

// Each setting of RFC 9113 changes what the client does.
func TestEverySettingIsSupported(t *testing.T) {
	rows.Cover(t, "9113-6.5-3")
	tc := newTestConn(t)
	tc.greet(setting(frame.SettingHeaderTableSize, 0), setting(frame.SettingEnablePush, 0),
		setting(frame.SettingMaxConcurrentStreams, 1), setting(frame.SettingInitialWindowSize, 20000),
		setting(frame.SettingMaxFrameSize, 18000), setting(frame.SettingMaxHeaderListSize, 300))
	if _, err := tc.tryOpen(post(field("a", string(make([]byte, 300)))), false); err == nil {
		t.Error("a head above SETTINGS_MAX_HEADER_LIST_SIZE was taken")
	}
	id := tc.upload(post())
	second := tc.open(get("/"))
	tc.want("one stream, whose head needs no table", peer.Headers{Stream: id, Fields: post()})
	tc.wantStreams("the other waits for SETTINGS_MAX_CONCURRENT_STREAMS", 1, 1)
	tc.send(id, 30000)
	tc.want("the frame size, then what is left of the window", data(id, 18000), data(id, 2000))
	tc.reset(id, frame.Cancel)
	tc.want("the next", frame.RSTStream{Stream: id, Code: frame.Cancel},
		peer.Headers{Stream: second, EndStream: true, Fields: get("/")})
}
