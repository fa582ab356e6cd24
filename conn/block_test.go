package conn_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	h2flow "example.com/h2flow"
	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
)

// withHPACK uses the real field codecs on both ends.
func withHPACK() option {
	return func(s *setup) {
		s.codec = peer.HPACK
		s.encoder = func() conn.FieldEncoder { return h2flow.NewFieldEncoder(4096) }
		s.decoder = func() conn.FieldDecoder { return h2flow.NewFieldDecoder() }
	}
}

// lastBlock is the payload of the last HEADERS frame of the last step.
func (tc *testConn) lastBlock() []byte {
	var block []byte
	for h, payload := range frame.All(tc.sides[0].out) {
		if h.Type == frame.TypeHeaders {
			block = payload
		}
	}
	return block
}

// The encoder obeys a table that the server shrinks, from the acknowledgement on, and says so first.
func TestB28ServerShrinksTheTable(t *testing.T) {
	rows.Cover(t, "9113-4.3.1-2", "9113-4.3.1-3", "9113-4.3.1-1")
	tc := newTestConn(t, withHPACK())
	tc.forget()
	// Before the server's SETTINGS the table of 4,096 octets may be used (9113-4.3.1-1), and no update is due.
	tc.open(get("/a"))
	tc.open(get("/a"))
	if block := tc.lastBlock(); len(block) == 0 || block[0]&0x80 == 0 || len(block) > 6 {
		t.Errorf("the second request is %x, not indexed", block)
	}
	tc.write(frame.MakeSettings(setting(frame.SettingHeaderTableSize, 0)), frame.Settings{Ack: true})
	steps := []struct {
		sizes []uint32
		want  string // the beginning of the next block
	}{
		{nil, "20"},
		{[]uint32{100, 4096}, "3fe11f"}, // from 0 up: one update, since nothing was lowered below it
		{[]uint32{100, 4096}, "3f45" + "3fe11f"},
		{[]uint32{0, 64, 4096}, "20" + "3fe11f"},
		{[]uint32{4096}, ""},
		{[]uint32{1<<32 - 1}, ""}, // our own cap is 4,096
		{[]uint32{0}, "20"},
	}
	for i, step := range steps {
		for _, n := range step.sizes {
			tc.write(frame.MakeSettings(setting(frame.SettingHeaderTableSize, n)))
		}
		tc.open(get("/a"))
		block := hex.EncodeToString(tc.lastBlock())
		if i == 1 { // the smallest of 100 and 4,096 is above the 0 in force, so 100 may be said or not
			block = strings.TrimPrefix(block, "3f45")
		}
		if !strings.HasPrefix(block, step.want) || step.want == "" && (block[0] == '2' || block[0] == '3') {
			t.Errorf("step %d, sizes %v: the block is %s, want it to begin with %q", i, step.sizes, block, step.want)
		}
	}
	tc.open(get("/a"))
	if block := tc.lastBlock(); block[0]&0xe0 == 0x20 || bytes.Contains(block, []byte{0xbe}) {
		t.Errorf("with a table of 0 octets the block is %x", block)
	}
}

// What the server's encoder may do to the decoder's table.
func TestB28ReceivedTableSizeUpdates(t *testing.T) {
	tests := []struct {
		id, name string
		own      int64 // HeaderTableSize of the Config
		acked    bool
		block    string
		ok       bool
	}{
		{"7541-6.3-1", "update to the limit", 0, true, "3fe11f" + "88", true},
		{"7541-6.3-1", "update above the limit", 0, true, "3fe21f" + "88", false},
		{"7541-4.2-3", "two updates", 0, true, "20" + "3fe11f" + "88", true},
		{"7541-4.2-5", "three updates", 0, true, "20" + "20" + "20" + "88", false},
		{"7541-4.2-4", "update after a field", 0, true, "88" + "20", false},
		{"9113-4.3.1-5", "lowered, not acknowledged: old size", 100, false, "88", true},
		{"9113-4.3.1-4", "lowered, acknowledged: no update", 100, true, "88", false},
		{"9113-4.3.1-4", "lowered, acknowledged: update", 100, true, "3f45" + "88", true},
		{"9113-4.3.1-4", "lowered, acknowledged: update too high", 100, true, "3f46" + "88", false},
		{"9113-4.3.1-4", "no table at all", -1, true, "20" + "88", true},
		{"7541-6.3-1", "raised, not acknowledged", 8192, false, "3fe13f" + "88", false},
		{"7541-6.3-1", "raised, acknowledged", 8192, true, "3fe13f" + "88", true},
		{"7541-6.1-1", "index 0", 0, true, "80", false},
		{"7541-2.3.3-1", "index above both tables", 0, true, "be", false},
		{"7541-A-1", "block ends within a representation", 0, true, "88" + "4003", false},
		{"7541-5.1-1", "endless integer", 0, true, "ff80808080808080808000", false},
	}
	for _, tt := range tests {
		t.Run(tt.id+" "+tt.name, func(t *testing.T) {
			rows.Cover(t, tt.id)
			tc := newTestConn(t, withHPACK(), withConfig(func(cfg *conn.Config) { cfg.HeaderTableSize = tt.own }))
			tc.write(frame.MakeSettings())
			if tt.acked {
				tc.write(frame.Settings{Ack: true})
			}
			id := tc.open(get("/"))
			tc.open(get("/"))
			tc.forget()
			block, err := hex.DecodeString(tt.block)
			if err != nil {
				t.Fatal(err)
			}
			tc.write(frame.Headers{Stream: id, EndHeaders: true, EndStream: true, Fragment: block})
			if tt.ok {
				tc.wantEvents("it decodes", "response stream=1 status=200 END_STREAM")
				return
			}
			tc.wantClosed("it does not", frame.CompressionError)
		})
	}
}

// Blocks that nobody wants are decoded all the same, in the order of the wire.
func TestB29UnwantedBlocksAreDecoded(t *testing.T) {
	rows.Cover(t, "9113-4.3-2", "9113-5.1-15")
	xa := field("x-a", "1")
	ends := map[string]func(tc *testConn){
		"given up": func(tc *testConn) { tc.reset(1, frame.Cancel) },
		"malformed head": func(tc *testConn) {
			tc.write(head(1, "abc"))
		},
		"refused promise": func(tc *testConn) {},
		"draining":        func(tc *testConn) { tc.shutdown(); tc.reset(1, frame.Cancel) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			tc := newTestConn(t, withHPACK())
			tc.write(frame.MakeSettings())
			tc.open(get("/"))
			tc.open(get("/"))
			end(tc)
			tc.forget()
			if name == "refused promise" {
				tc.write(peer.PushPromise{Stream: 1, Promised: 2, Fields: append(get("/"), xa), Continuations: 2})
			} else {
				tc.write(peer.Headers{Stream: 1, Fields: head(1, "200", xa).Fields, Continuations: 2})
			}
			tc.forget()
			tc.write(head(3, "200", xa))
			tc.wantEvents("the table is in step", `response stream=3 status=200 x-a="1"`)
		})
	}
}

// A block that does not decode is an error of the connection, also on a dead stream (9113-4.3-3).
func TestB29BadBlockOnADeadStream(t *testing.T) {
	rows.Cover(t, "9113-4.3-3")
	tc := newTestConn(t, withHPACK())
	tc.greet()
	tc.open(get("/"))
	tc.open(get("/"))
	tc.reset(1, frame.Cancel)
	tc.write(frame.Headers{Stream: 1, EndHeaders: true, Fragment: []byte{0x80}})
	tc.wantClosed("the tables have parted ways", frame.CompressionError)
}

// Blocks stay within bounds of frames, empty frames and octets; on the wire the limit is to the frame and to the octet.
func TestB30EndlessFieldBlocks(t *testing.T) {
	rows.Cover(t, "9113-10.5-2")
	cont := func(n int) frame.Continuation { return frame.Continuation{Stream: 1, Fragment: make([]byte, n)} }
	tests := []struct {
		name  string
		list  uint32 // MaxHeaderListSize; 0: 256 KiB
		next  frame.Continuation
		count int // how many are taken after HEADERS
	}{
		{"empty ones", 0, cont(0), 4},
		{"one octet each", 0, cont(1), 23},
		{"whole frames", 0, cont(16384), 23},                 // the frames are too many first
		{"whole frames, small limit", 16384, cont(16384), 4}, // four times the limit, and 4 KiB of slack
		{"one octet each, small limit", 1, cont(1), 8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tc := newTestConn(t, withConfig(func(cfg *conn.Config) { cfg.MaxHeaderListSize = tt.list }))
			tc.greet()
			tc.open(get("/"))
			tc.open(get("/"))
			tc.forget()
			// A literal of which there is always more to come keeps the decoder content.
			start := []byte{0, 1, 'a', 0x7f, 0x81, 0xff, 0x7f}
			tc.write(frame.Headers{Stream: 1, Fragment: start})
			for range tt.count {
				tc.write(tt.next)
			}
			tc.wantIdle("so far it is a long block")
			tc.write(tt.next)
			tc.wantClosed("enough", frame.EnhanceYourCalm)
		})
	}
}

// Neither the size of a section nor the number of its lines can be driven up by small octets on the wire; the stream
// fails alone and the table stays in step (9113-10.5.1-1).
func TestB30SectionsThatExpand(t *testing.T) {
	rows.Cover(t, "9113-10.5.1-1", "9113-10.5.1-2")
	rows.Cover(t, "9113-10.5.1-1")
	big := field("x-big", strings.Repeat("b", 4000))
	index := func(n int) []byte { // n references to the newest entry
		return append([]byte{0x88}, bytes.Repeat([]byte{0xbe}, n)...)
	}
	tests := []struct {
		name  string
		entry frame.Field
		n     int
		ok    bool
	}{
		{"just within the size", big, (256<<10 - 42) / 4037, true},
		{"above the size", big, (256<<10-42)/4037 + 1, false},
		{"far above the size", big, 16000, false},
		{"just within the lines", field("a", ""), 999, true},
		{"above the lines", field("a", ""), 1000, false},
		{"far above the lines", field("a", ""), 16000, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tc := newTestConn(t, withHPACK())
			tc.greet()
			for range 3 {
				tc.open(get("/"))
			}
			tc.write(wholeResponse(1, "200", tt.entry))
			tc.forget()
			tc.write(frame.Headers{Stream: 3, EndHeaders: true, EndStream: true, Fragment: index(tt.n)})
			if tt.ok {
				if n := len(tc.events[0].Fields); n != tt.n {
					t.Errorf("%d fields", n)
				}
				return
			}
			tc.want("the stream fails alone", frame.RSTStream{Stream: 3, Code: frame.Cancel})
			tc.wantEvents("as told", "stream-error stream=3 CANCEL")
			tc.write(wholeResponse(5, "200", field("x-after", "1")), head(3, "200", field("x-after", "1")))
			tc.wantEvents("the next one decodes", `response stream=5 status=200 x-after="1" END_STREAM`)
		})
	}
}

// The limit counts name, value and 32 octets for each line, :status too, to the octet (9113-6.5.2-10).
func TestSectionSizeIsExact(t *testing.T) {
	rows.Cover(t, "9113-6.5.2-10")
	for _, over := range []int{0, 1} {
		tc := newTestConn(t, withConfig(func(cfg *conn.Config) { cfg.MaxHeaderListSize = 200 }))
		tc.greet()
		tc.open(get("/"))
		tc.forget()
		n := 200 - (7 + 3 + 32) - (1 + 32) + over
		tc.write(wholeResponse(1, "200", field("x", string(make1(n)))))
		if over == 0 {
			tc.want("200 octets fit")
			continue
		}
		tc.want("201 do not", frame.RSTStream{Stream: 1, Code: frame.Cancel})
	}
	// Trailers have the same limit.
	tc := newTestConn(t, withConfig(func(cfg *conn.Config) { cfg.MaxHeaderListSize = 200 }))
	tc.greet()
	tc.open(get("/"))
	tc.write(head(1, "200"))
	tc.forget()
	tc.write(trailers(1, field("x", string(make1(168)))))
	tc.want("trailers of 201 octets", frame.RSTStream{Stream: 1, Code: frame.Cancel})
}

// A field block is one run: nothing comes in between, unknown types included.
func TestFieldBlocksAreContiguous(t *testing.T) {
	rows.Cover(t, "9113-5.5-2", "9113-6.3-4")
	rows.Cover(t, "9113-6.2-1", "9113-6.10-1", "9113-6.6-4")
	between := []any{
		frame.Ping{}, frame.MakeSettings(), frame.Settings{Ack: true}, data(1, 1), data(3, 1), frame.RSTStream{Stream: 1},
		frame.RSTStream{Stream: 3}, frame.WindowUpdate{Increment: 1}, frame.Priority{Stream: 1}, frame.GoAway{},
		frame.Headers{Stream: 1, EndHeaders: true}, frame.Headers{Stream: 3, EndHeaders: true},
		frame.Continuation{Stream: 3, EndHeaders: true}, frame.PushPromise{Stream: 1, Promised: 2, EndHeaders: true},
		frame.Unknown{Header: frame.Header{Type: 0x42, Stream: 1}}, frame.Unknown{Header: frame.Header{Type: 0x42}},
		frame.AltSvc{Stream: 1}, frame.Origin{}, frame.PriorityUpdate{},
	}
	starts := map[string][]any{
		"9113-6.2-1 after HEADERS":       {frame.Headers{Stream: 1, Fragment: []byte{0}}},
		"9113-6.10-1 after CONTINUATION": {frame.Headers{Stream: 1}, frame.Continuation{Stream: 1, Fragment: []byte{0}}},
		"9113-6.6-4 after PUSH_PROMISE":  {frame.PushPromise{Stream: 1, Promised: 2, Fragment: []byte{0}}},
	}
	for name, start := range starts {
		for _, item := range between {
			t.Run(name, func(t *testing.T) {
				tc := newTestConn(t)
				tc.write(frame.MakeSettings())
				tc.open(get("/"))
				tc.open(get("/"))
				tc.forget()
				tc.write(start...)
				tc.wantIdle("the block is open")
				tc.write(item)
				tc.wantClosed("the run is broken", frame.ProtocolError)
			})
		}
	}
}

// Fragments may be cut anywhere and may be empty; END_STREAM of HEADERS takes effect after its CONTINUATION frames.
func TestFragments(t *testing.T) {
	rows.Cover(t, "9113-6.10-4", "9113-6.2-6")
	rows.Cover(t, "9113-6.10-3")
	for _, n := range []int{0, 1, 2, 10, 20} {
		tc := newTestConn(t)
		tc.greet()
		tc.open(get("/"))
		tc.forget()
		h := wholeResponse(1, "200", field("a", "b"), field("c", "d"))
		h.Continuations = n
		tc.write(h)
		tc.wantEvents("one response", `response stream=1 status=200 a="b" c="d" END_STREAM`)
	}
	tc := newTestConn(t)
	tc.greet()
	tc.open(get("/"))
	tc.forget()
	block := []byte("\x00\x07:status\x03200")
	tc.write(frame.Headers{Stream: 1, EndStream: true}, frame.Continuation{Stream: 1},
		frame.Continuation{Stream: 1, Fragment: block}, frame.Continuation{Stream: 1, EndHeaders: true})
	tc.wantEvents("empty fragments around the only one", "response stream=1 status=200 END_STREAM")
	tc.write(frame.Continuation{Stream: 1, EndHeaders: true})
	tc.wantClosed("9113-6.10-3: there is nothing to continue", frame.ProtocolError)
}
