package frame_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/rows"
)

// TestTruncation gives every prefix of every vector: more octets are needed, and nothing else is said, until the frame
// is whole.
func TestTruncation(t *testing.T) {
	for _, v := range vectors {
		wire := unhex(v.wire)
		for n := range wire {
			prefix := wire[:n:n]
			h, ok := frame.ParseHeader(prefix)
			if ok != (n >= frame.HeaderLen) {
				t.Errorf("%s: ParseHeader of %d octets: ok %v", v.name, n, ok)
			}
			if ok {
				if err := frame.CheckHeader(h, frame.MinMaxFrameSize); err != nil {
					t.Errorf("%s: CheckHeader of %d octets: %v", v.name, n, err)
				}
			}
			_, _, rest, ok := frame.Cut(prefix)
			if ok || !bytes.Equal(rest, prefix) {
				t.Errorf("%s: Cut of %d octets: ok %v, rest %x", v.name, n, ok, rest)
			}
			for h := range frame.All(prefix) {
				t.Errorf("%s: All of %d octets yields %v", v.name, n, h)
			}
		}
	}
}

// TestReservedBits: reserved bits are ignored when read and zero when written (9113-4.1-5, 9113-4.1-6).
func TestReservedBits(t *testing.T) {
	rows.Cover(t, "9113-4.1-5", "9113-4.1-6")
	for _, tt := range []struct {
		name, wire, canonical string
		want                  frame.Frame
	}{
		{"stream of DATA", "000001 00 00 80000001 61", "000001 00 00 00000001 61",
			frame.Data{Stream: 1, Data: []byte("a")}},
		{"stream of PING", "000008 06 00 80000000 0000000000000001", "000008 06 00 00000000 0000000000000001",
			frame.Ping{Data: [8]byte{7: 1}}},
		{"stream of an unknown type", "000000 fa 00 ffffffff", "000000 fa 00 7fffffff",
			frame.Unknown{Header: frame.Header{Type: 0xfa, Stream: 1<<31 - 1}, Payload: []byte{}}},
		{"promised stream", "000004 05 04 00000001 80000002", "000004 05 04 00000001 00000002",
			frame.PushPromise{Stream: 1, EndHeaders: true, Promised: 2, Fragment: []byte{}}},
		{"last stream of GOAWAY", "000008 07 00 00000000 80000003 00000000",
			"000008 07 00 00000000 00000003 00000000", frame.GoAway{LastStream: 3, Debug: []byte{}}},
		{"increment", "000004 08 00 00000000 80000001", "000004 08 00 00000000 00000001",
			frame.WindowUpdate{Increment: 1}},
		{"prioritized stream", "000004 10 00 00000000 80000005", "000004 10 00 00000000 00000005",
			frame.PriorityUpdate{Prioritized: 5, Value: []byte{}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, payload, _, _ := frame.Cut(unhex(tt.wire))
			got, err := frame.Parse(h, payload)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("parsed frame (-want +got):\n%s", diff)
			}
			if got := got.AppendTo(nil); !bytes.Equal(got, unhex(tt.canonical)) {
				t.Errorf("appended again: want %s, got %x", tt.canonical, got)
			}
		})
	}
}

// TestReservedBitsAreNeverWritten: not even when the fields hold them.
func TestReservedBitsAreNeverWritten(t *testing.T) {
	for _, tt := range []struct {
		frame frame.Frame
		want  string
	}{
		{frame.Data{Stream: 1<<31 | 1}, "000000 00 00 00000001"},
		{frame.Priority{Stream: 1, PriorityParam: frame.PriorityParam{DependsOn: 1<<31 | 3}},
			"000005 02 00 00000001 00000003 00"},
		{frame.PushPromise{Stream: 1, Promised: 1<<31 | 2}, "000004 05 00 00000001 00000002"},
		{frame.GoAway{LastStream: 1<<31 | 3}, "000008 07 00 00000000 00000003 00000000"},
		{frame.WindowUpdate{Increment: 1<<31 | 1}, "000004 08 00 00000000 00000001"},
		{frame.PriorityUpdate{Prioritized: 1<<31 | 5}, "000004 10 00 00000000 00000005"},
	} {
		if got := tt.frame.AppendTo(nil); !bytes.Equal(got, unhex(tt.want)) {
			t.Errorf("%v: want %s, got %x", tt.frame, tt.want, got)
		}
	}
}

// TestUndefinedFlags sets every flag that has no meaning on each vector: the header keeps them, the parsed value is the
// same as without, and they are not written again (9113-4.1-3, 9113-4.1-4).
func TestUndefinedFlags(t *testing.T) {
	rows.Cover(t, "9113-4.1-3", "9113-4.1-4")
	defined := map[frame.Type]byte{
		frame.TypeData: 0x09, frame.TypeHeaders: 0x2d, frame.TypeSettings: 0x01, frame.TypePushPromise: 0x0c,
		frame.TypePing: 0x01, frame.TypeContinuation: 0x04,
	}
	for _, v := range vectors {
		wire := unhex(v.wire)
		if frame.Type(wire[3]) == 0xfa {
			continue // an unknown type has no undefined flags: all are kept
		}
		wire[4] |= ^defined[frame.Type(wire[3])]
		h, payload, _, _ := frame.Cut(wire)
		if h.Flags != frame.Flags(wire[4]) {
			t.Errorf("%s: header has flags %#x, want %#x", v.name, h.Flags, wire[4])
		}
		if err := frame.CheckHeader(h, frame.MinMaxFrameSize); err != nil {
			t.Errorf("%s: %v", v.name, err)
		}
		got, err := frame.Parse(h, payload)
		if err != nil {
			t.Errorf("%s: %v", v.name, err)
			continue
		}
		if diff := cmp.Diff(v.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", v.name, diff)
		}
		if got := got.AppendTo(nil); !bytes.Equal(got, unhex(v.wire)) {
			t.Errorf("%s appended again: want %s, got %x", v.name, v.wire, got)
		}
	}
}

// TestAppendFunctions compares the functions for the frames that a connection writes most with the octets.
func TestAppendFunctions(t *testing.T) {
	for _, tt := range []struct {
		name string
		got  []byte
		want string
	}{
		{"WINDOW_UPDATE", frame.AppendWindowUpdate(nil, 3, 65535), "000004 08 00 00000003 0000ffff"},
		{"RST_STREAM", frame.AppendRSTStream(nil, 3, frame.RefusedStream), "000004 03 00 00000003 00000007"},
		{"PING", frame.AppendPing(nil, false, [8]byte{1, 2, 3, 4, 5, 6, 7, 8}), "000008 06 00 00000000 0102030405060708"},
		{"PING answer", frame.AppendPing(nil, true, [8]byte{8}), "000008 06 01 00000000 0800000000000000"},
		{"SETTINGS", frame.AppendSettings(nil, frame.Setting{ID: frame.SettingEnablePush}),
			"000006 04 00 00000000 0002 00000000"},
		{"SETTINGS acknowledgement", frame.AppendSettingsAck(nil), "000000 04 01 00000000"},
		{"DATA", frame.AppendDataHeader(nil, 5, 16384, false), "004000 00 00 00000005"},
		{"last DATA", frame.AppendDataHeader(nil, 5, 0, true), "000000 00 01 00000005"},
		{"GOAWAY", frame.AppendGoAway(nil, 2, frame.InternalError, []byte("why")),
			"00000b 07 00 00000000 00000002 00000002 776879"},
		{"after what is there", frame.AppendRSTStream([]byte{0xaa}, 1, frame.Cancel), "aa 000004 03 00 00000001 00000008"},
	} {
		if !bytes.Equal(tt.got, unhex(tt.want)) {
			t.Errorf("%s: want %s, got %x", tt.name, tt.want, tt.got)
		}
	}
}

// TestIllegalFramesCanBeWritten: AppendTo judges nothing.
func TestIllegalFramesCanBeWritten(t *testing.T) {
	for _, tt := range []struct {
		frame frame.Frame
		want  string
	}{
		{frame.WindowUpdate{Stream: 1}, "000004 08 00 00000001 00000000"},
		{frame.Settings{Ack: true, Raw: []byte{1, 2}}, "000002 04 01 00000000 0102"},
		{frame.PushPromise{Promised: 3}, "000004 05 00 00000000 00000003"},
		{frame.Unknown{Header: frame.Header{Type: frame.TypePing, Flags: 0xff, Stream: 1, Length: 99}, Payload: []byte{1}},
			"000001 06 ff 00000001 01"},
	} {
		if got := tt.frame.AppendTo(nil); !bytes.Equal(got, unhex(tt.want)) {
			t.Errorf("%v: want %s, got %x", tt.frame, tt.want, got)
		}
	}
}

func TestAll(t *testing.T) {
	var buf []byte
	var want []string
	for _, v := range vectors {
		buf = append(buf, unhex(v.wire)...)
		want = append(want, v.text)
	}
	var got []string
	for h, payload := range frame.All(append(buf, 0, 0, 1)) {
		f, err := frame.Parse(h, payload)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
	for h := range frame.All(buf) {
		if h.Type != frame.TypeData {
			t.Errorf("first frame is %v", h)
		}
		break // an early end of the loop must be possible
	}
}

func TestFlagsHas(t *testing.T) {
	f := frame.FlagEndStream | frame.FlagPadded
	if !f.Has(frame.FlagPadded) || f.Has(frame.FlagEndHeaders) || f.Has(frame.FlagPadded|frame.FlagEndHeaders) {
		t.Errorf("Has of %#x: all bits that are asked for have to be set", f)
	}
}

func TestLists(t *testing.T) {
	s := frame.MakeSettings(frame.Setting{ID: 4, Value: 1}, frame.Setting{ID: 4, Value: 2})
	if s.Len() != 2 || s.At(1) != (frame.Setting{ID: 4, Value: 2}) {
		t.Errorf("Len %d, At(1) %v", s.Len(), s.At(1))
	}
	want := []frame.Setting{{ID: 4, Value: 1}, {ID: 4, Value: 2}}
	if diff := cmp.Diff(want, slices.Collect(s.All())); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	for x := range s.All() {
		if x.Value != 1 {
			t.Errorf("first setting is %v", x)
		}
		break
	}
	o := frame.Origin{Raw: unhex("0001 61 0000 0002 6263 0009 64")}
	if diff := cmp.Diff([][]byte{[]byte("a"), {}, []byte("bc")}, slices.Collect(o.All())); diff != "" {
		t.Errorf("origins up to the one cut short (-want +got):\n%s", diff)
	}
}

// TestTextIsBounded: what a peer chose is escaped and cut short (9113-6.8-11).
func TestTextIsBounded(t *testing.T) {
	rows.Cover(t, "9113-6.8-11")
	long := bytes.Repeat([]byte("\x00"), 1<<16-1)
	entry := append(unhex("ffff"), long...)
	for _, f := range []frame.Frame{
		frame.GoAway{Debug: long}, frame.AltSvc{Origin: long, Value: long}, frame.Origin{Raw: entry},
		frame.Origin{Raw: make([]byte, 1<<16)}, frame.PriorityUpdate{Value: long},
		frame.Settings{Raw: make([]byte, 1<<16)},
	} {
		if n := len(f.String()); n > 1200 {
			t.Errorf("%v: String has %d octets", f.FrameHeader(), n)
		}
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{frame.Type(0xb).String(), "0xb"},
		{frame.Type(0xff).String(), "0xff"},
		{frame.TypePriorityUpdate.String(), "PRIORITY_UPDATE"},
		{frame.SettingID(0).String(), "0x0"},
		{frame.SettingID(7).String(), "0x7"},
		{frame.SettingNoRFC7540Priorities.String(), "NO_RFC7540_PRIORITIES"},
		{frame.Header{Length: 3, Type: frame.TypeHeaders, Flags: 0x6d, Stream: 1}.String(),
			"HEADERS stream=1 len=3 END_STREAM END_HEADERS PADDED PRIORITY flags=0x40"},
		{frame.Header{Type: frame.TypeSettings, Flags: 1}.String(), "SETTINGS len=0 ACK"},
		{frame.Header{Type: frame.TypePing, Stream: 1}.String(), "PING stream=1 len=0"},
	} {
		if tt.got != tt.want {
			t.Errorf("want %s, got %s", tt.want, tt.got)
		}
	}
}
