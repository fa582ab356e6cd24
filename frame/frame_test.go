package frame_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/frame"
)

// unhex turns hexadecimal digits, with spaces between them as one likes, into octets.
func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// A vector is one frame in the two forms: octets written out by hand, and the value.
type vector struct {
	name string
	wire string
	want frame.Frame
	text string
}

var vectors = []vector{
	{
		"DATA", "000005 00 01 00000001 68656c6c6f",
		frame.Data{Stream: 1, EndStream: true, Data: []byte("hello")},
		"DATA stream=1 len=5 END_STREAM",
	},
	{
		"DATA empty", "000000 00 00 7fffffff",
		frame.Data{Stream: 1<<31 - 1, Data: []byte{}},
		"DATA stream=2147483647 len=0",
	},
	{
		"DATA padded", "000006 00 09 00000003 03 6869 000000",
		frame.Data{Stream: 3, EndStream: true, Padded: true, PadLength: 3, Data: []byte("hi")},
		"DATA stream=3 len=2 pad=3 END_STREAM",
	},
	{
		"DATA with a pad length of 0", "000003 00 08 00000003 00 6869",
		frame.Data{Stream: 3, Padded: true, Data: []byte("hi")},
		"DATA stream=3 len=2 pad=0",
	},
	{
		"DATA of padding alone", "000003 00 08 00000003 02 0000",
		frame.Data{Stream: 3, Padded: true, PadLength: 2, Data: []byte{}},
		"DATA stream=3 len=0 pad=2",
	},
	{
		"HEADERS", "000003 01 04 00000001 828684",
		frame.Headers{Stream: 1, EndHeaders: true, Fragment: []byte{0x82, 0x86, 0x84}},
		"HEADERS stream=1 len=3 END_HEADERS",
	},
	{
		"HEADERS empty", "000000 01 01 00000005",
		frame.Headers{Stream: 5, EndStream: true, Fragment: []byte{}},
		"HEADERS stream=5 len=0 END_STREAM",
	},
	{
		"HEADERS with priority", "000006 01 25 00000005 80000003 0f 88",
		frame.Headers{
			Stream: 5, EndStream: true, EndHeaders: true, HasPriority: true,
			Priority: frame.PriorityParam{Exclusive: true, DependsOn: 3, Weight: 15}, Fragment: []byte{0x88},
		},
		"HEADERS stream=5 len=1 depends=3 weight=15 EXCLUSIVE END_STREAM END_HEADERS",
	},
	{
		"HEADERS padded with priority", "000009 01 28 00000005 02 00000001 ff 88 0000",
		frame.Headers{
			Stream: 5, Padded: true, PadLength: 2, HasPriority: true,
			Priority: frame.PriorityParam{DependsOn: 1, Weight: 255}, Fragment: []byte{0x88},
		},
		"HEADERS stream=5 len=1 pad=2 depends=1 weight=255",
	},
	{
		"PRIORITY", "000005 02 00 00000007 80000005 10",
		frame.Priority{
			Stream: 7, PriorityParam: frame.PriorityParam{Exclusive: true, DependsOn: 5, Weight: 16},
		},
		"PRIORITY stream=7 depends=5 weight=16 EXCLUSIVE",
	},
	{
		"RST_STREAM", "000004 03 00 00000001 00000008",
		frame.RSTStream{Stream: 1, Code: frame.Cancel},
		"RST_STREAM stream=1 code=CANCEL",
	},
	{
		"RST_STREAM with an unknown code", "000004 03 00 00000001 fffffffe",
		frame.RSTStream{Stream: 1, Code: 0xfffffffe},
		"RST_STREAM stream=1 code=0xfffffffe",
	},
	{
		"SETTINGS", "000012 04 00 00000000 0004 00010000 0005 00004000 00f0 ffffffff",
		frame.MakeSettings(
			frame.Setting{ID: frame.SettingInitialWindowSize, Value: 65536},
			frame.Setting{ID: frame.SettingMaxFrameSize, Value: 16384},
			frame.Setting{ID: 0xf0, Value: 1<<32 - 1}),
		"SETTINGS INITIAL_WINDOW_SIZE=65536 MAX_FRAME_SIZE=16384 0xf0=4294967295",
	},
	{
		"SETTINGS empty", "000000 04 00 00000000",
		frame.Settings{Raw: []byte{}},
		"SETTINGS",
	},
	{
		"SETTINGS acknowledgement", "000000 04 01 00000000",
		frame.Settings{Ack: true, Raw: []byte{}},
		"SETTINGS ACK",
	},
	{
		"PUSH_PROMISE", "000005 05 04 00000001 00000002 82",
		frame.PushPromise{Stream: 1, EndHeaders: true, Promised: 2, Fragment: []byte{0x82}},
		"PUSH_PROMISE stream=1 promised=2 len=1 END_HEADERS",
	},
	{
		"PUSH_PROMISE padded", "000006 05 08 00000001 01 7ffffffe 00",
		frame.PushPromise{Stream: 1, Padded: true, PadLength: 1, Promised: 1<<31 - 2, Fragment: []byte{}},
		"PUSH_PROMISE stream=1 promised=2147483646 len=0 pad=1",
	},
	{
		"PING", "000008 06 00 00000000 0102030405060708",
		frame.Ping{Data: [8]byte{1, 2, 3, 4, 5, 6, 7, 8}},
		"PING data=0102030405060708",
	},
	{
		"PING answer", "000008 06 01 00000000 ffffffffffffffff",
		frame.Ping{Ack: true, Data: [8]byte{255, 255, 255, 255, 255, 255, 255, 255}},
		"PING data=ffffffffffffffff ACK",
	},
	{
		"GOAWAY", "000008 07 00 00000000 7fffffff 00000000",
		frame.GoAway{LastStream: 1<<31 - 1, Debug: []byte{}},
		"GOAWAY last=2147483647 code=NO_ERROR",
	},
	{
		"GOAWAY with debug data", "00000b 07 00 00000000 00000003 0000000b 0a22ff",
		frame.GoAway{LastStream: 3, Code: frame.EnhanceYourCalm, Debug: []byte("\n\"\xff")},
		`GOAWAY last=3 code=ENHANCE_YOUR_CALM debug="\n\"\xff"`,
	},
	{
		"WINDOW_UPDATE on a stream", "000004 08 00 00000009 7fffffff",
		frame.WindowUpdate{Stream: 9, Increment: 1<<31 - 1},
		"WINDOW_UPDATE stream=9 increment=2147483647",
	},
	{
		"WINDOW_UPDATE on the connection", "000004 08 00 00000000 00000001",
		frame.WindowUpdate{Increment: 1},
		"WINDOW_UPDATE stream=0 increment=1",
	},
	{
		"CONTINUATION", "000002 09 04 00000001 8286",
		frame.Continuation{Stream: 1, EndHeaders: true, Fragment: []byte{0x82, 0x86}},
		"CONTINUATION stream=1 len=2 END_HEADERS",
	},
	{
		"CONTINUATION empty", "000000 09 00 00000001",
		frame.Continuation{Stream: 1, Fragment: []byte{}},
		"CONTINUATION stream=1 len=0",
	},
	{
		"ALTSVC on stream 0", "000010 0a 00 00000000 0009 68747470733a2f2f61 68323d3a31",
		frame.AltSvc{Origin: []byte("https://a"), Value: []byte("h2=:1")},
		`ALTSVC stream=0 origin="https://a" value="h2=:1"`,
	},
	{
		"ALTSVC on a request's stream", "000007 0a 00 00000001 0000 636c656172",
		frame.AltSvc{Stream: 1, Origin: []byte{}, Value: []byte("clear")},
		`ALTSVC stream=1 value="clear"`,
	},
	{
		"ORIGIN", "000010 0c 00 00000000 0009 68747470733a2f2f61 0003 612e62",
		frame.MakeOrigin("https://a", "a.b"),
		`ORIGIN len=16 "https://a" "a.b"`,
	},
	{
		"ORIGIN empty", "000000 0c 00 00000000",
		frame.Origin{Raw: []byte{}},
		"ORIGIN len=0",
	},
	{
		"PRIORITY_UPDATE", "000007 10 00 00000000 00000005 753d31",
		frame.PriorityUpdate{Prioritized: 5, Value: []byte("u=1")},
		`PRIORITY_UPDATE prioritized=5 value="u=1"`,
	},
	{
		"unknown type", "000002 fa a5 00000003 0102",
		frame.Unknown{
			Header:  frame.Header{Length: 2, Type: 0xfa, Flags: 0xa5, Stream: 3},
			Payload: []byte{1, 2},
		},
		"0xfa stream=3 len=2 flags=0xa5",
	},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			wire := unhex(v.wire)
			h, payload, rest, ok := frame.Cut(wire)
			if !ok || len(rest) != 0 {
				t.Fatalf("Cut: ok %v, %d octets left", ok, len(rest))
			}
			if err := frame.CheckHeader(h, frame.MinMaxFrameSize); err != nil {
				t.Fatalf("CheckHeader: %v", err)
			}
			got, err := frame.Parse(h, payload)
			if err != nil {
				t.Fatalf("Parse: %v", err)
			}
			if diff := cmp.Diff(v.want, got); diff != "" {
				t.Errorf("parsed frame (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(h, v.want.FrameHeader()); diff != "" {
				t.Errorf("FrameHeader (-want +got):\n%s", diff)
			}
			if got := v.want.AppendTo([]byte("x"))[1:]; !bytes.Equal(wire, got) {
				t.Errorf("AppendTo:\nwant %x\ngot  %x", wire, got)
			}
			if got := v.want.String(); got != v.text {
				t.Errorf("String:\nwant %s\ngot  %s", v.text, got)
			}
		})
	}
}
