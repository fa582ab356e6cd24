package conn_test

import (
	"testing"
	"time"

	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
)

// Kinds of faults that were published in October 2026 for another HTTP/2 implementation.

// GO-2026-6611: a change of the initial window cost a walk over all streams there. Here windows are relative to one base,
// so that 10,000 open streams make it no dearer than one does.
func TestASettingCostsTheSameWhateverIsOpen(t *testing.T) {
	cost := func(streams int) time.Duration {
		c := conn.New(epoch, plainConfig(&returning{stream: 65535, conn: 65535}))
		p := peer.New(peer.Plain)
		c.Feed(epoch, p.Encode(nil, frame.MakeSettings(), frame.Settings{Ack: true}))
		for range streams {
			if _, err := c.Open(epoch, get("/"), false); err != nil {
				t.Fatal(err)
			}
			for ev := c.NextEvent(); ev.Kind != conn.None; ev = c.NextEvent() {
			}
			c.AppendOutput(epoch, nil, 1<<30)
		}
		for ev := c.NextEvent(); ev.Kind != conn.None; ev = c.NextEvent() {
		}
		if c.OpenStreams() != streams {
			t.Fatalf("%d streams are open, want %d", c.OpenStreams(), streams)
		}
		var octets []byte
		for i := range uint32(500) {
			octets = frame.AppendSettings(octets, frame.Setting{ID: frame.SettingInitialWindowSize, Value: 1000 + i%2})
		}
		best := time.Hour
		for range 8 {
			start := time.Now()
			c.Feed(epoch, octets)
			for ev := c.NextEvent(); ev.Kind != conn.None; ev = c.NextEvent() {
			}
			best = min(best, time.Since(start))
			c.AppendOutput(epoch, nil, 1<<30)
		}
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
		return best
	}
	one, many := cost(1), cost(10000)
	t.Logf("500 settings: %v with one stream, %v with 10,000", one, many)
	if many > 4*one {
		t.Errorf("500 settings take %v with one stream and %v with 10,000", one, many)
	}
}

// GO-2026-6612: credit was given back twice there, when a stream was reset and again when what it had buffered was read.
func TestCreditIsGivenBackOnceWhateverComesFirst(t *testing.T) {
	for name, end := range map[string]func(tc *testConn, id frame.StreamID){
		"our reset":     func(tc *testConn, id frame.StreamID) { tc.reset(id, frame.Cancel) },
		"their reset":   func(tc *testConn, id frame.StreamID) { tc.write(frame.RSTStream{Stream: id}) },
		"an error":      func(tc *testConn, id frame.StreamID) { tc.write(frame.WindowUpdate{Stream: id}) },
		"a second head": func(tc *testConn, id frame.StreamID) { tc.write(head(id, "200")) },
	} {
		t.Run(name, func(t *testing.T) {
			tc := newTestConn(t)
			tc.greet()
			id := tc.upload(post())
			tc.write(head(id, "200"), data(id, 10000))
			end(tc, id)
			tc.wantConnWindow("the unread octets are given back", 65535)
			tc.consume(id, 10000) // the application reads what it had buffered
			tc.wantConnWindow("and not again", 65535)
		})
	}
}

// GO-2026-6610: fields that frame the message, malformed, were handed on there, which is dangerous behind a proxy.
func TestMalformedFramingFieldsAreNoResponse(t *testing.T) {
	for _, f := range []frame.Field{
		field("content-length", "+5"), field("content-length", "-1"), field("content-length", "5, 5"),
		field("content-length", "5,6"), field("content-length", "0x5"), field("content-length", ""),
		field("content-length", "18446744073709551616"), field("content-length", "5 "), field("transfer-encoding", "chunked"),
		field("transfer-encoding", "identity"), field("transfer-encoding", ""), field("connection", "content-length"),
		field("upgrade", "h2c"), field("te", "trailers"), field("keep-alive", "timeout=5"),
	} {
		for _, end := range []bool{false, true} {
			tc := newTestMessage(t, get("/"))
			h := head(1, "200", f)
			h.EndStream = end
			tc.write(h)
			tc.wantMalformed(f.Name + ": " + f.Value)
		}
	}
}

// GO-2026-6603: trailers took memory without a limit there. Here they share the limit of heads.
func TestTrailersAreLimitedAsHeadsAre(t *testing.T) {
	tc := newTestConn(t, withConfig(func(cfg *conn.Config) { cfg.MaxHeaderListSize = 1000 }))
	tc.greet()
	id := tc.open(get("/"))
	tc.write(head(id, "200"))
	tc.forget()
	tc.write(trailers(id, field("a", string(make2k()))))
	tc.want("the stream is given up", frame.RSTStream{Stream: id, Code: frame.Cancel})
	tc.write(frame.Ping{})
	tc.want("the connection lives", frame.Ping{Ack: true})
}

func make2k() []byte {
	b := make([]byte, 2000)
	for i := range b {
		b[i] = 'v'
	}
	return b
}
