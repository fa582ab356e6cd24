package conn_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	h2flow "example.com/h2flow"
	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
)

// memoryBound is what SECURITY.md promises for a connection at its defaults with no body unread and few streams, in
// octets: four times the limit of a field section for the fields that are being received and their encoding, and 512 KiB
// for all the rest.
const memoryBound = 4*conn.DefaultMaxHeaderListSize + 512<<10

// An attack is what a server says, again and again, to a connection on which some requests wait; setup says what comes
// first.
type attack struct {
	name   string
	setup  []any
	octets func(i int) []byte // of round i
	rounds int
	deaf   bool // the server takes nothing
}

func attacks() []attack {
	enc := func(items ...any) func(int) []byte {
		octets := peer.New(peer.HPACK).Encode(nil, items...)
		return func(int) []byte { return octets }
	}
	unfinished := frame.Headers{Stream: 1, Fragment: []byte{0x88}}
	literal := append([]byte{0x00, 0x7f, 0x81, 0xff, 0xff, 0x7f}, bytes.Repeat([]byte{'n'}, 16000)...) // a name of 250 MiB
	indexed := bytes.Repeat([]byte{0x90}, 16000)                                                       // accept-encoding: gzip, deflate
	entry := append([]byte{0x40, 1, 'a', 0x7f, 0xe0, 0x1e}, bytes.Repeat([]byte{'v'}, 4063)...)        // fills the table
	return []attack{
		{name: "H1 a huge field section", setup: []any{unfinished}, rounds: 200,
			octets: enc(frame.Continuation{Stream: 1, Fragment: literal[:15000]})},
		{name: "H2 one large entry, many references", setup: []any{frame.Headers{Stream: 1, Fragment: entry}}, rounds: 200,
			octets: enc(frame.Continuation{Stream: 1, Fragment: bytes.Repeat([]byte{0xbe}, 16000)})},
		{name: "H3 fields of one octet", setup: []any{unfinished}, rounds: 200,
			octets: enc(frame.Continuation{Stream: 1, Fragment: indexed})},
		{name: "H4 CONTINUATION without end", setup: []any{unfinished}, rounds: 100000,
			octets: enc(frame.Continuation{Stream: 1, Fragment: []byte{0x88}})},
		{name: "H5 empty CONTINUATION", setup: []any{unfinished}, rounds: 100000, octets: enc(frame.Continuation{Stream: 1})},
		{name: "H7 a string that never ends", rounds: 100,
			octets: func(i int) []byte {
				if i == 0 {
					return frame.Headers{Stream: 1, Fragment: literal}.AppendTo(nil)
				}
				return frame.Continuation{Stream: 1, Fragment: bytes.Repeat([]byte{'n'}, 16000)}.AppendTo(nil)
			}},
		{name: "H10 interim responses without end", rounds: 5000,
			octets: enc(peer.Headers{Stream: 1, Fields: []frame.Field{{Name: ":status", Value: "103"},
				{Name: "link", Value: strings.Repeat("x", 1000)}}})},
		{name: "H12 promises", rounds: 5000, octets: func(i int) []byte {
			return frame.PushPromise{Stream: 1, EndHeaders: true, Promised: frame.StreamID(2 + 2*i)}.AppendTo(nil)
		}},
		{name: "F1 PING, answers not taken", deaf: true, rounds: 100000, octets: enc(frame.Ping{})},
		{name: "F2 SETTINGS, answers not taken", deaf: true, rounds: 100000, octets: enc(frame.MakeSettings())},
		{name: "F2 SETTINGS", rounds: 100000, octets: enc(frame.MakeSettings(frame.Setting{ID: 0x4242, Value: 1}))},
		{name: "F3 empty DATA", setup: []any{peer.Headers{Stream: 1, Fields: []frame.Field{{Name: ":status", Value: "200"}}}},
			rounds: 100000, octets: enc(frame.Data{Stream: 1})},
		{name: "F6 WINDOW_UPDATE", rounds: 100000, octets: enc(frame.WindowUpdate{Increment: 1})},
		{name: "F7 PRIORITY", rounds: 100000, octets: enc(frame.Priority{Stream: 999})},
		{name: "F8 ALTSVC", rounds: 20000, octets: enc(frame.AltSvc{Origin: []byte("a"), Value: bytes.Repeat([]byte("v"), 4000)})},
		{name: "F8 ORIGIN", rounds: 20000, octets: enc(frame.MakeOrigin(strings.Repeat("o", 4000)))},
		{name: "F8 unknown frames", rounds: 20000,
			octets: enc(frame.Unknown{Header: frame.Header{Type: 0xfb}, Payload: make([]byte, 16000)})},
		{name: "F9 GOAWAY with long debug data", rounds: 100,
			octets: enc(frame.GoAway{LastStream: 1000, Debug: bytes.Repeat([]byte("d"), 16000)})},
		{name: "L5 the server takes nothing", deaf: true, rounds: 1000, octets: enc(frame.WindowUpdate{Stream: 1, Increment: 1000})},
	}
}

// Under every attack of a server the memory of a connection stays within the bound that is promised.
func TestMemoryUnderAttack(t *testing.T) {
	var lines strings.Builder
	for _, a := range attacks() {
		grown, fed, end := a.run(t)
		fmt.Fprintf(&lines, "%-40s %9d octets fed %9d of heap  %v\n", a.name, fed, grown, end)
		if grown > memoryBound {
			t.Errorf("%s: %d octets of heap after %d octets, the bound is %d", a.name, grown, fed, memoryBound)
		}
	}
	t.Logf("bound %d\n%s", memoryBound, lines.String())
}

// run plays the attack and returns by how much the heap grew at most, how much was fed, and how the connection ended.
func (a attack) run(t *testing.T) (grown int64, fed int, end *conn.Error) {
	t.Helper()
	c := conn.New(epoch, conn.Config{Strategy: &returning{stream: 65535, conn: 65535},
		Encoder: h2flow.NewFieldEncoder(4096), Decoder: h2flow.NewFieldDecoder()})
	feed := func(octets []byte) {
		fed += len(octets)
		c.Feed(epoch, octets)
		for ev := c.NextEvent(); ev.Kind != conn.None; ev = c.NextEvent() {
		}
		if !a.deaf {
			c.AppendOutput(epoch, nil, 1<<30)
		}
	}
	feed(peer.New(peer.HPACK).Encode(nil, frame.MakeSettings()))
	for range 3 {
		if _, err := c.Open(epoch, get("/"), false); err != nil {
			t.Fatal(err)
		}
	}
	c.AppendOutput(epoch, nil, 1<<30)
	feed(nil)
	before := heap()
	feed(peer.New(peer.HPACK).Encode(nil, a.setup...))
	for i := 0; i < a.rounds && c.Err() == nil; i++ {
		octets := a.octets(i)
		feed(octets)
		// Looked at every so often, and before it may have come to its end.
		if i < 30 || i == 900 || i == 9000 {
			grown = max(grown, heap()-before)
		}
	}
	grown = max(grown, heap()-before)
	runtime.KeepAlive(c)
	return grown, fed, c.Err()
}

// heap is what is live on the heap, in octets.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
