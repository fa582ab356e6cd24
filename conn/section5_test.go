package conn_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
)

// What every frame type means in every state of a stream, through real frames. Columns are the states of stream 1 in
// the order of lifeStates; a cell is "-" for no error, else the scope (s: the stream, c: the connection) and the code.
// RFC 9113, Section 5.1; the ids are those of rows that say the same.
const stateFrameTable = `
                    idle open hcl  hcr  end  sent rcvd prom
DATA                c1   -    -    s5   c5   -    c5   -      9113-5.1-1 9113-6.1-2 9113-5.1-12 9113-5.1-14
DATA+END_STREAM     c1   -    -    s5   c5   -    c5   -      9113-5.1-9
HEADERS             c1   -    -    s5   c5   -    c5   -      9113-5.1-2 9113-5.1-14
HEADERS+END_STREAM  c1   -    -    s5   c5   -    c5   -      9113-5.1-9
PRIORITY            -    -    -    -    -    -    -    -      9113-5.1-20
RST_STREAM          c1   -    -    -    -    -    -    -      9113-6.4-3 9113-5.1-13
WINDOW_UPDATE       c1   -    -    -    -    -    -    -      9113-5.1-8 9113-6.9-4
WINDOW_UPDATE+0     c1   s1   s1   s1   -    -    -    -      9113-6.9-2 9113-6.9-4
WINDOW_UPDATE+MAX   c1   s3   s3   s3   -    -    -    -      9113-6.9.1-3 9113-6.9-4
PUSH_PROMISE        c1   -    -    c1   c1   -    c1   c1     9113-6.6-5 9113-6.6-6
CONTINUATION        c1   c1   c1   c1   c1   c1   c1   c1     9113-6.10-3
PRIORITY+4          c6   s6   s6   s6   -    -    -    -      9113-6.3-2
RST_STREAM+3        c6   c6   c6   c6   c6   c6   c6   c6     9113-6.4-5
WINDOW_UPDATE+3     c6   c6   c6   c6   c6   c6   c6   c6     9113-6.9-6
unknown             -    -    -    -    -    -    -    -      9113-4.1-2 9113-5.1-21
ALTSVC              -    -    -    -    -    -    -    -      7838-4-1
ORIGIN              -    -    -    -    -    -    -    -      8336-2-1
PRIORITY_UPDATE     -    -    -    -    -    -    -    -      9218-7-1
`

// lifeStates bring a stream into each state and return it. The response head has come where that is possible.
var lifeStates = []func(tc *testConn) frame.StreamID{
	func(tc *testConn) frame.StreamID { return 5 },
	func(tc *testConn) frame.StreamID { tc.write(head(1, "200")); return 1 },
	func(tc *testConn) frame.StreamID { tc.endStream(1); tc.write(head(1, "200")); return 1 },
	func(tc *testConn) frame.StreamID { tc.write(wholeResponse(1, "200")); return 1 },
	func(tc *testConn) frame.StreamID { tc.write(wholeResponse(1, "200")); tc.endStream(1); return 1 },
	func(tc *testConn) frame.StreamID { tc.reset(1, frame.Cancel); return 1 },
	func(tc *testConn) frame.StreamID { tc.write(frame.RSTStream{Stream: 1}); return 1 },
	func(tc *testConn) frame.StreamID {
		tc.write(peer.PushPromise{Stream: 1, Promised: 2, Fields: get("/")})
		return 2
	},
}

func stateFrame(name string, id frame.StreamID) any {
	raw := func(t frame.Type, n int) frame.Unknown {
		return frame.Unknown{Header: frame.Header{Type: t, Stream: id}, Payload: make([]byte, n)}
	}
	switch name {
	case "DATA":
		return data(id, 10)
	case "DATA+END_STREAM":
		return lastData(id, 10)
	case "HEADERS":
		return head(id, "200")
	case "HEADERS+END_STREAM":
		return trailers(id)
	case "PRIORITY":
		return frame.Priority{Stream: id}
	case "RST_STREAM":
		return frame.RSTStream{Stream: id, Code: frame.Cancel}
	case "WINDOW_UPDATE":
		return frame.WindowUpdate{Stream: id, Increment: 10}
	case "WINDOW_UPDATE+0":
		return frame.WindowUpdate{Stream: id}
	case "WINDOW_UPDATE+MAX":
		return frame.WindowUpdate{Stream: id, Increment: 1<<31 - 1}
	case "PUSH_PROMISE":
		return peer.PushPromise{Stream: id, Promised: 4, Fields: get("/")}
	case "CONTINUATION":
		return frame.Continuation{Stream: id, EndHeaders: true}
	case "PRIORITY+4":
		return raw(frame.TypePriority, 4)
	case "RST_STREAM+3":
		return raw(frame.TypeRSTStream, 3)
	case "WINDOW_UPDATE+3":
		return raw(frame.TypeWindowUpdate, 3)
	case "unknown":
		return raw(0xfb, 20)
	case "ALTSVC":
		return raw(frame.TypeAltSvc, 20)
	case "ORIGIN":
		return raw(frame.TypeOrigin, 20)
	case "PRIORITY_UPDATE":
		return raw(frame.TypePriorityUpdate, 20)
	}
	panic(name)
}

func TestFramesInEveryState(t *testing.T) {
	rows.Cover(t, "9113-5.1-7", "9113-5.1-19")
	lines := strings.Split(strings.TrimSpace(stateFrameTable), "\n")
	states := strings.Fields(lines[0])
	cells := 0
	for _, line := range lines[1:] {
		row := strings.Fields(line)
		for i, state := range states {
			want, ids := row[1+i], strings.Join(row[1+len(states):], " ")
			t.Run(row[0]+" in "+state+" "+ids, func(t *testing.T) {
				rows.Cover(t, row[1+len(states):]...)
				tc := newTestConn(t)
				tc.write(frame.MakeSettings()) // push may still be on
				tc.upload(post())
				tc.open(get("/"))
				id := lifeStates[i](tc)
				// A second head without END_STREAM is malformed where the first one has come, so here it comes first.
				if row[0] == "HEADERS" && (state == "open" || state == "hcl") {
					tc = newTestConn(t)
					tc.write(frame.MakeSettings())
					tc.upload(post())
					tc.open(get("/"))
					if state == "hcl" {
						tc.endStream(1)
					}
				}
				tc.forget()
				tc.write(stateFrame(row[0], id))
				tc.wantFault(want, id)
			})
			cells++
		}
	}
	t.Logf("%d cells", cells)
}

// wantFault fails unless the last step brought the fault that a cell of a table names, and left stream 3 alone if it
// should.
func (tc *testConn) wantFault(cell string, id frame.StreamID) {
	tc.t.Helper()
	got := "-"
	for _, v := range tc.sent {
		switch f := v.(type) {
		case frame.RSTStream:
			if f.Stream == id {
				got = fmt.Sprintf("s%x", uint32(f.Code))
			}
		case frame.GoAway:
			got = fmt.Sprintf("c%x", uint32(f.Code))
		}
	}
	if got != cell {
		tc.fatalf("want %s, got %s", cell, got)
	}
	if cell[0] == 'c' {
		tc.forget()
		tc.wantDead()
		return
	}
	tc.forget()
	tc.write(wholeResponse(3, "200"))
	tc.wantEvents("stream 3 goes on", "response stream=3 status=200 END_STREAM")
	tc.wantConnWindow("no credit is lost", 65535-tc.unread())
}

// unread is how many octets of bodies the application holds.
func (tc *testConn) unread() int64 { return tc.c.RecvWindow().Unread() }

// Frames that their nine octets condemn, or the value they carry. Stream 1 is open for both sides and stream 3 waits
// for its response; the code is on the wire.
func TestFaultyFrames(t *testing.T) {
	rows.Cover(t, "9113-5.4.1-4")
	raw := func(typ frame.Type, flags frame.Flags, stream frame.StreamID, n int) frame.Unknown {
		return frame.Unknown{Header: frame.Header{Type: typ, Flags: flags, Stream: stream}, Payload: make([]byte, n)}
	}
	tests := []struct {
		id, name string
		item     any
		want     string // as in stateFrameTable
	}{
		{"9113-4.2-1", "DATA of 16,384", raw(frame.TypeData, 0, 1, 16384), "-"},
		{"9113-4.2-2", "DATA of 16,385", raw(frame.TypeData, 0, 1, 16385), "c6"},
		{"9113-4.2-2", "HEADERS of 16,385", raw(frame.TypeHeaders, frame.FlagEndHeaders, 1, 16385), "c6"},
		{"9113-4.2-2", "unknown type of 16,385", raw(0x99, 0, 1, 16385), "c6"},
		{"9113-4.2-5", "unknown type of 16,384", raw(0x99, 0, 1, 16384), "-"},
		{"9113-4.2-4", "GOAWAY of 16,385", raw(frame.TypeGoAway, 0, 0, 16385), "c6"},
		{"9113-4.2-3", "PADDED DATA of 0", raw(frame.TypeData, frame.FlagPadded, 1, 0), "c6"},
		{"9113-4.2-3", "PADDED HEADERS of 0", raw(frame.TypeHeaders, frame.FlagPadded|frame.FlagEndHeaders, 1, 0), "c6"},
		{"9113-4.2-3", "HEADERS with PRIORITY of 4", raw(frame.TypeHeaders, frame.FlagPriority|frame.FlagEndHeaders, 1, 4), "c6"},
		{"9113-4.2-3", "GOAWAY of 7", raw(frame.TypeGoAway, 0, 0, 7), "c6"},
		{"9113-6.1-1", "DATA on stream 0", data(0, 1), "c1"},
		{"9113-6.1-4", "padding of the payload", frame.Unknown{Header: frame.Header{Type: frame.TypeData,
			Flags: frame.FlagPadded, Stream: 1}, Payload: []byte{1}}, "c1"},
		{"9113-6.1-8", "pad length 0", frame.Data{Stream: 1, Padded: true, Data: []byte("x")}, "-"},
		{"9113-6.1-7", "padding that is not zeros", frame.Unknown{Header: frame.Header{Type: frame.TypeData,
			Flags: frame.FlagPadded, Stream: 1}, Payload: []byte{1, 'x', 0xff}}, "-"},
		{"9113-6.2-3", "HEADERS on stream 0", frame.Headers{EndHeaders: true}, "c1"},
		{"9113-6.2-4", "padding of the payload", frame.Unknown{Header: frame.Header{Type: frame.TypeHeaders,
			Flags: frame.FlagPadded | frame.FlagEndHeaders, Stream: 1}, Payload: []byte{1}}, "c1"},
		{"9113-6.2-4", "padding of the payload, with PRIORITY", frame.Unknown{Header: frame.Header{Type: frame.TypeHeaders,
			Flags: frame.FlagPadded | frame.FlagPriority | frame.FlagEndHeaders, Stream: 1}, Payload: []byte{1, 0, 0, 0, 0, 0}}, "c1"},
		{"9113-6.3-1", "PRIORITY on stream 0", frame.Priority{}, "c1"},
		{"9113-6.4-2", "RST_STREAM on stream 0", frame.RSTStream{}, "c1"},
		{"9113-6.4-5", "RST_STREAM of 5", raw(frame.TypeRSTStream, 0, 1, 5), "c6"},
		{"9113-6.5-5", "SETTINGS acknowledgement of 6", raw(frame.TypeSettings, frame.FlagAck, 0, 6), "c6"},
		{"9113-6.5-7", "SETTINGS on stream 1", raw(frame.TypeSettings, 0, 1, 0), "c1"},
		{"9113-6.5-9", "SETTINGS of 5", raw(frame.TypeSettings, 0, 0, 5), "c6"},
		{"9113-6.5-9", "SETTINGS of 7", raw(frame.TypeSettings, 0, 0, 7), "c6"},
		{"9113-6.6-1", "PUSH_PROMISE", peer.PushPromise{Stream: 1, Promised: 2, Fields: get("/")}, "c1"},
		{"9113-6.7-5", "PING on stream 1", raw(frame.TypePing, 0, 1, 8), "c1"},
		{"9113-6.7-6", "PING of 7", raw(frame.TypePing, 0, 0, 7), "c6"},
		{"9113-6.7-6", "PING of 9", raw(frame.TypePing, 0, 0, 9), "c6"},
		{"9113-6.8-7", "GOAWAY on stream 1", raw(frame.TypeGoAway, 0, 1, 8), "c1"},
		{"9113-6.9-2", "increment 0 on a stream", frame.WindowUpdate{Stream: 1}, "s1"},
		{"9113-6.9-3", "increment 0 on the connection", frame.WindowUpdate{}, "c1"},
		{"9113-6.9-6", "WINDOW_UPDATE of 5", raw(frame.TypeWindowUpdate, 0, 0, 5), "c6"},
		{"9113-6.9.1-3", "2^31-1 on a stream", frame.WindowUpdate{Stream: 1, Increment: 1<<31 - 1 - 65535}, "-"},
		{"9113-6.9.1-3", "2^31 on a stream", frame.WindowUpdate{Stream: 1, Increment: 1<<31 - 65535}, "s3"},
		{"9113-6.9.1-4", "2^31-1 on the connection", frame.WindowUpdate{Increment: 1<<31 - 1 - 65535}, "-"},
		{"9113-6.9.1-4", "2^31 on the connection", frame.WindowUpdate{Increment: 1<<31 - 65535}, "c3"},
		{"9113-6.10-2", "CONTINUATION on stream 0", frame.Continuation{EndHeaders: true}, "c1"},
		{"9113-5.1.1-3", "HEADERS above the highest stream", head(5, "200"), "c1"},
		{"9113-7-1", "unknown error code", frame.RSTStream{Stream: 1, Code: 0xdeadbeef}, "-"},
	}
	for _, tt := range tests {
		t.Run(tt.id+" "+tt.name, func(t *testing.T) {
			rows.Cover(t, tt.id)
			tc := newTestConn(t)
			tc.greet()
			tc.upload(post())
			tc.open(get("/"))
			if d, ok := tt.item.(interface{ FrameHeader() frame.Header }); ok && d.FrameHeader().Type == frame.TypeData {
				tc.write(head(1, "200"))
			}
			tc.forget()
			tc.write(tt.item)
			tc.wantFault(tt.want, 1)
		})
	}
}

// SETTINGS: values at and beyond their limits; nothing of a frame is applied unless all of it is valid.
func TestSettingsValues(t *testing.T) {
	rows.Cover(t, "9113-5.5-1", "9113-6.5-2")
	tests := []struct {
		id   string
		list []frame.Setting
		want string
	}{
		{"9113-6.5.2-4", []frame.Setting{{ID: frame.SettingEnablePush, Value: 0}}, "-"},
		{"9113-6.5.2-4", []frame.Setting{{ID: frame.SettingEnablePush, Value: 1}}, "c1"},
		{"9113-6.5.2-3", []frame.Setting{{ID: frame.SettingEnablePush, Value: 2}}, "c1"},
		{"9113-6.5.2-5", []frame.Setting{{ID: frame.SettingMaxConcurrentStreams, Value: 0}}, "-"},
		{"9113-6.5.2-7", []frame.Setting{{ID: frame.SettingInitialWindowSize, Value: 1<<31 - 1}}, "-"},
		{"9113-6.5.2-7", []frame.Setting{{ID: frame.SettingInitialWindowSize, Value: 1 << 31}}, "c3"},
		{"9113-6.5.2-7", []frame.Setting{{ID: frame.SettingInitialWindowSize, Value: 1<<32 - 1}}, "c3"},
		{"9113-6.5.2-9", []frame.Setting{{ID: frame.SettingMaxFrameSize, Value: 0}}, "c1"},
		{"9113-6.5.2-9", []frame.Setting{{ID: frame.SettingMaxFrameSize, Value: 16383}}, "c1"},
		{"9113-6.5.2-9", []frame.Setting{{ID: frame.SettingMaxFrameSize, Value: 16384}}, "-"},
		{"9113-6.5.2-9", []frame.Setting{{ID: frame.SettingMaxFrameSize, Value: 1<<24 - 1}}, "-"},
		{"9113-6.5.2-9", []frame.Setting{{ID: frame.SettingMaxFrameSize, Value: 1 << 24}}, "c1"},
		{"9113-6.5.2-1", []frame.Setting{{ID: frame.SettingHeaderTableSize, Value: 1<<32 - 1}}, "-"},
		{"9113-6.5.2-11", []frame.Setting{{ID: frame.SettingMaxHeaderListSize, Value: 0}}, "-"},
		{"9113-6.5.2-12", []frame.Setting{{ID: 0, Value: 1}, {ID: 7, Value: 1<<32 - 1}, {ID: 0xffff}, {ID: 0x0a0a}}, "-"},
		{"8441-3-2", []frame.Setting{{ID: frame.SettingEnableConnectProtocol, Value: 2}}, "c1"},
		{"9218-2-1", []frame.Setting{{ID: frame.SettingNoRFC7540Priorities, Value: 2}}, "c1"},
		{"9113-6.5.3-2", []frame.Setting{{ID: frame.SettingInitialWindowSize, Value: 1 << 31},
			{ID: frame.SettingInitialWindowSize, Value: 10}}, "c3"},
		{"9113-6.5-8", []frame.Setting{{ID: frame.SettingMaxConcurrentStreams, Value: 5}, {ID: frame.SettingMaxFrameSize}}, "c1"},
		{"9113-6.5-10", []frame.Setting{{ID: frame.SettingInitialWindowSize, Value: 100},
			{ID: frame.SettingInitialWindowSize, Value: 65535}}, "-"},
	}
	for _, tt := range tests {
		for _, first := range []bool{true, false} {
			t.Run(fmt.Sprint(tt.id, " ", frame.MakeSettings(tt.list...), " first ", first), func(t *testing.T) {
				rows.Cover(t, tt.id)
				tc := newTestConn(t)
				if !first {
					tc.greet()
				}
				tc.upload(post())
				tc.open(get("/"))
				tc.forget()
				tc.write(frame.MakeSettings(tt.list...))
				if tt.want == "-" {
					tc.want("acknowledged", ack)
					tc.wantEvents("applied", "settings")
				}
				tc.wantFault(tt.want, 1)
			})
		}
	}
}

// Each SETTINGS gets one acknowledgement (9113-6.5.3-4); the last value of an identifier counts (9113-6.5-10), and
// those before it do where they matter (9113-6.5.3-2).
func TestSettingsAreAppliedInOrder(t *testing.T) {
	rows.Cover(t, "9113-6.5.3-4", "9113-6.5-10", "9113-6.5.3-2")
	tc := newTestConn(t)
	tc.greet()
	id := tc.upload(post())
	tc.forget()
	tc.write(repeated(100, frame.MakeSettings())...)
	tc.want("100 acknowledgements", func() []fmt.Stringer {
		var list []fmt.Stringer
		for range 100 {
			list = append(list, ack)
		}
		return list
	}()...)
	tc.write(frame.MakeSettings(setting(frame.SettingInitialWindowSize, 0), setting(frame.SettingInitialWindowSize, 10)))
	if got := tc.quota(id); got != 10 {
		t.Errorf("want 10, got %d", got)
	}
	tc.write(frame.WindowUpdate{Stream: id, Increment: 1 << 30})
	tc.forget()
	tc.write(frame.MakeSettings(setting(frame.SettingInitialWindowSize, 1<<31-1), setting(frame.SettingInitialWindowSize, 0)))
	tc.wantClosed("the value in between takes the window above 2^31-1", frame.FlowControlError)
}

// 9113-6.9.2-6: a change of the initial window that takes any window above 2^31-1, on whatever open stream.
func TestInitialWindowOverflow(t *testing.T) {
	rows.Cover(t, "9113-6.9.2-6")
	for _, tt := range []struct {
		name string
		make func(tc *testConn) frame.StreamID
	}{
		{"open", func(tc *testConn) frame.StreamID { return tc.upload(post()) }},
		{"half-closed (local)", func(tc *testConn) frame.StreamID { return tc.open(get("/")) }},
		{"half-closed (remote)", func(tc *testConn) frame.StreamID {
			id := tc.upload(post())
			tc.write(wholeResponse(id, "200"))
			return id
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tc := newTestConn(t)
			tc.greet()
			id := tt.make(tc)
			tc.write(frame.WindowUpdate{Stream: id, Increment: 1000})
			tc.write(frame.MakeSettings(setting(frame.SettingInitialWindowSize, 1<<31-1-1000)))
			if err := tc.c.Err(); err != nil {
				t.Fatalf("2^31-1 exactly: %v", err)
			}
			tc.forget()
			tc.write(frame.MakeSettings(setting(frame.SettingInitialWindowSize, 1<<31-1000)))
			tc.wantClosed("one octet more", frame.FlowControlError)
		})
	}
	// A stream that is over does not count.
	tc := newTestConn(t)
	tc.greet()
	id := tc.open(get("/"))
	tc.write(frame.WindowUpdate{Stream: id, Increment: 1000}, wholeResponse(id, "200"))
	tc.write(frame.MakeSettings(setting(frame.SettingInitialWindowSize, 1<<31-1)))
	if err := tc.c.Err(); err != nil {
		t.Error(err)
	}
}

// 9113-6.9.1-8: DATA beyond the advertised windows, by one octet, on either level and with padding.
//
// Contract: S21.
func TestRecvWindowViolation(t *testing.T) {
	rows.Cover(t, "9113-6.9.1-8", "9113-6.9.3-1")
	t.Run("stream", func(t *testing.T) {
		for _, f := range []frame.Data{data(1, 17), {Stream: 1, Data: make([]byte, 10), Padded: true, PadLength: 6}} {
			tc := newTestConn(t, withRecvWindow(16, 65535))
			tc.greet()
			tc.open(get("/"))
			tc.open(get("/"))
			tc.write(head(1, "200"))
			tc.forget()
			tc.write(f)
			tc.want("the stream fails, the octets are given back to the connection",
				frame.RSTStream{Stream: 1, Code: frame.FlowControlError}, frame.WindowUpdate{Increment: 17})
			tc.write(wholeResponse(3, "200"))
			tc.wantEvents("alone", "stream-error stream=1 FLOW_CONTROL_ERROR answered", "response stream=3 status=200 END_STREAM")
		}
	})
	t.Run("exactly the window", func(t *testing.T) {
		tc := newTestConn(t, withRecvWindow(16, 65535))
		tc.greet()
		tc.open(get("/"))
		tc.write(head(1, "200"), data(1, 16), data(1, 0), frame.Data{Stream: 1, EndStream: true})
		if n := tc.c.OpenStreams(); n != 0 {
			t.Errorf("%d open streams", n)
		}
	})
	t.Run("connection", func(t *testing.T) {
		tc := newTestConn(t, withoutGrants(1<<20, 65535))
		tc.greet()
		tc.open(get("/"))
		tc.write(head(1, "200"))
		for range 3 {
			tc.write(data(1, 16384))
		}
		tc.write(data(1, 16383))
		if err := tc.c.Err(); err != nil {
			t.Fatal(err)
		}
		tc.write(data(1, 1))
		tc.wantClosed("65,536", frame.FlowControlError)
	})
	t.Run("a window that is not acknowledged holds as the larger one", func(t *testing.T) {
		tc := newTestConn(t, withRecvWindow(16, 65535))
		tc.write(frame.MakeSettings())
		tc.open(get("/"))
		tc.open(get("/"))
		tc.forget()
		tc.write(head(1, "200"), data(1, 1000))
		tc.wantEvents("the server may not know of 16 yet", "response stream=1 status=200", "data stream=1 len=1000")
		tc.write(frame.Settings{Ack: true}, head(3, "200"), data(3, 17))
		tc.wantEvents("now it does", "settings-acked", "response stream=3 status=200",
			"stream-error stream=3 FLOW_CONTROL_ERROR answered")
	})
}
