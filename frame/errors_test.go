package frame_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/frame"
)

// judge does to one frame what a client does with the frame alone: the header, then the payload, then the values of
// settings.
func judge(t *testing.T, wire []byte) error {
	t.Helper()
	h, ok := frame.ParseHeader(wire)
	if !ok {
		t.Fatal("no whole header")
	}
	if err := frame.CheckHeader(h, frame.MinMaxFrameSize); err != nil {
		return err
	}
	h, payload, _, ok := frame.Cut(wire)
	if !ok {
		t.Fatal("the header is fine but the frame is not whole")
	}
	f, err := frame.Parse(h, payload)
	if err != nil {
		return err
	}
	if s, ok := f.(frame.Settings); ok {
		for x := range s.All() {
			if err := x.CheckFromServer(); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	proto = frame.ProtocolError
	size  = frame.FrameSizeError
	flow  = frame.FlowControlError
)

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		wire string // a header alone where the header decides
		want frame.Error
	}{
		// The limit of the payload.
		{"DATA above the limit", "004001 00 00 00000001",
			frame.Error{Code: size, Stream: 1, Reason: "DATA payload of 16385 octets is above the limit of 16384"}},
		{"DATA above the limit on stream 0", "004001 00 00 00000000",
			frame.Error{Code: size, Reason: "DATA payload of 16385 octets is above the limit of 16384"}},
		{"HEADERS above the limit", "004001 01 00 00000001",
			frame.Error{Code: size, Reason: "HEADERS payload of 16385 octets is above the limit of 16384"}},
		{"PRIORITY above the limit", "004001 02 00 00000001",
			frame.Error{Code: size, Stream: 1, Reason: "PRIORITY payload of 16385 octets is above the limit of 16384"}},
		{"RST_STREAM above the limit", "004001 03 00 00000001",
			frame.Error{Code: size, Reason: "RST_STREAM payload of 16385 octets is above the limit of 16384"}},
		{"SETTINGS above the limit", "004002 04 00 00000000",
			frame.Error{Code: size, Reason: "SETTINGS payload of 16386 octets is above the limit of 16384"}},
		{"PUSH_PROMISE above the limit", "004001 05 00 00000001",
			frame.Error{Code: size, Reason: "PUSH_PROMISE payload of 16385 octets is above the limit of 16384"}},
		{"PING above the limit", "ffffff 06 00 00000000",
			frame.Error{Code: size, Reason: "PING payload of 16777215 octets is above the limit of 16384"}},
		{"GOAWAY above the limit", "004001 07 00 00000000",
			frame.Error{Code: size, Reason: "GOAWAY payload of 16385 octets is above the limit of 16384"}},
		{"WINDOW_UPDATE above the limit", "004001 08 00 00000001",
			frame.Error{Code: size, Reason: "WINDOW_UPDATE payload of 16385 octets is above the limit of 16384"}},
		{"CONTINUATION above the limit", "004001 09 00 00000001",
			frame.Error{Code: size, Reason: "CONTINUATION payload of 16385 octets is above the limit of 16384"}},
		{"ALTSVC above the limit", "004001 0a 00 00000001",
			frame.Error{Code: size, Stream: 1, Reason: "ALTSVC payload of 16385 octets is above the limit of 16384"}},
		{"unknown type above the limit", "004001 fa 00 00000001",
			frame.Error{Code: size, Stream: 1, Reason: "0xfa payload of 16385 octets is above the limit of 16384"}},
		{"unknown type above the limit on stream 0", "004001 fa 00 00000000",
			frame.Error{Code: size, Reason: "0xfa payload of 16385 octets is above the limit of 16384"}},

		// Streams.
		{"DATA on stream 0", "000000 00 00 00000000", frame.Error{Code: proto, Reason: "DATA on stream 0"}},
		{"DATA on stream 0 with the reserved bit", "000000 00 00 80000000",
			frame.Error{Code: proto, Reason: "DATA on stream 0"}},
		{"HEADERS on stream 0", "000000 01 04 00000000", frame.Error{Code: proto, Reason: "HEADERS on stream 0"}},
		{"PRIORITY on stream 0", "000005 02 00 00000000", frame.Error{Code: proto, Reason: "PRIORITY on stream 0"}},
		{"PRIORITY of 4 octets on stream 0", "000004 02 00 00000000",
			frame.Error{Code: proto, Reason: "PRIORITY on stream 0"}},
		{"RST_STREAM on stream 0", "000004 03 00 00000000", frame.Error{Code: proto, Reason: "RST_STREAM on stream 0"}},
		{"SETTINGS on stream 1", "000000 04 00 00000001", frame.Error{Code: proto, Reason: "SETTINGS on stream 1"}},
		{"SETTINGS acknowledgement on stream 1", "000000 04 01 00000001",
			frame.Error{Code: proto, Reason: "SETTINGS on stream 1"}},
		{"PUSH_PROMISE on stream 0", "000004 05 04 00000000",
			frame.Error{Code: proto, Reason: "PUSH_PROMISE on stream 0"}},
		{"PING on stream 1", "000008 06 00 00000001", frame.Error{Code: proto, Reason: "PING on stream 1"}},
		{"GOAWAY on stream 2^31-1", "000008 07 00 7fffffff",
			frame.Error{Code: proto, Reason: "GOAWAY on stream 2147483647"}},
		{"CONTINUATION on stream 0", "000000 09 04 00000000",
			frame.Error{Code: proto, Reason: "CONTINUATION on stream 0"}},
		{"ORIGIN on stream 1", "000000 0c 00 00000001",
			frame.Error{Code: proto, Stream: 1, Reason: "ORIGIN on stream 1"}},
		{"PRIORITY_UPDATE on stream 1", "000004 10 00 00000001 00000001",
			frame.Error{Code: proto, Reason: "PRIORITY_UPDATE on stream 1"}},
		{"PRIORITY_UPDATE of stream 0", "000004 10 00 00000000 80000000",
			frame.Error{Code: proto, Reason: "PRIORITY_UPDATE of stream 0"}},
		{"PUSH_PROMISE of stream 0", "000004 05 04 00000001 00000000",
			frame.Error{Code: proto, Reason: "PUSH_PROMISE of stream 0, which no server can open"}},
		{"PUSH_PROMISE of stream 0 with the reserved bit", "000004 05 04 00000001 80000000",
			frame.Error{Code: proto, Reason: "PUSH_PROMISE of stream 0, which no server can open"}},
		{"PUSH_PROMISE of stream 3", "000004 05 04 00000001 00000003",
			frame.Error{Code: proto, Reason: "PUSH_PROMISE of stream 3, which no server can open"}},

		// Lengths.
		{"DATA without its pad length", "000000 00 08 00000001",
			frame.Error{Code: size, Stream: 1, Reason: "DATA payload of 0 octets is below 1"}},
		{"HEADERS without its pad length", "000000 01 08 00000001",
			frame.Error{Code: size, Reason: "HEADERS payload of 0 octets is below 1"}},
		{"HEADERS with half a priority", "000004 01 24 00000001",
			frame.Error{Code: size, Reason: "HEADERS payload of 4 octets is below 5"}},
		{"HEADERS with a pad length and half a priority", "000005 01 2c 00000001",
			frame.Error{Code: size, Reason: "HEADERS payload of 5 octets is below 6"}},
		{"PRIORITY of 4 octets", "000004 02 00 00000001",
			frame.Error{Code: size, Stream: 1, Reason: "PRIORITY payload of 4 octets is not 5"}},
		{"PRIORITY of 6 octets", "000006 02 00 00000001",
			frame.Error{Code: size, Stream: 1, Reason: "PRIORITY payload of 6 octets is not 5"}},
		{"RST_STREAM of 3 octets", "000003 03 00 00000001",
			frame.Error{Code: size, Reason: "RST_STREAM payload of 3 octets is not 4"}},
		{"RST_STREAM of 5 octets", "000005 03 00 00000001",
			frame.Error{Code: size, Reason: "RST_STREAM payload of 5 octets is not 4"}},
		{"SETTINGS of 5 octets", "000005 04 00 00000000",
			frame.Error{Code: size, Reason: "SETTINGS payload of 5 octets is not a multiple of 6"}},
		{"SETTINGS of 7 octets", "000007 04 00 00000000",
			frame.Error{Code: size, Reason: "SETTINGS payload of 7 octets is not a multiple of 6"}},
		{"SETTINGS acknowledgement of 6 octets", "000006 04 01 00000000",
			frame.Error{Code: size, Reason: "SETTINGS payload of 6 octets is not 0 in an acknowledgement"}},
		{"SETTINGS acknowledgement of 1 octet", "000001 04 01 00000000",
			frame.Error{Code: size, Reason: "SETTINGS payload of 1 octets is not 0 in an acknowledgement"}},
		{"PUSH_PROMISE of 3 octets", "000003 05 04 00000001",
			frame.Error{Code: size, Reason: "PUSH_PROMISE payload of 3 octets is below 4"}},
		{"PUSH_PROMISE of 4 octets with a pad length", "000004 05 0c 00000001",
			frame.Error{Code: size, Reason: "PUSH_PROMISE payload of 4 octets is below 5"}},
		{"PING of 7 octets", "000007 06 00 00000000",
			frame.Error{Code: size, Reason: "PING payload of 7 octets is not 8"}},
		{"PING of 9 octets", "000009 06 01 00000000",
			frame.Error{Code: size, Reason: "PING payload of 9 octets is not 8"}},
		{"GOAWAY of 7 octets", "000007 07 00 00000000",
			frame.Error{Code: size, Reason: "GOAWAY payload of 7 octets is below 8"}},
		{"WINDOW_UPDATE of 3 octets", "000003 08 00 00000001",
			frame.Error{Code: size, Reason: "WINDOW_UPDATE payload of 3 octets is not 4"}},
		{"WINDOW_UPDATE of 5 octets", "000005 08 00 00000000",
			frame.Error{Code: size, Reason: "WINDOW_UPDATE payload of 5 octets is not 4"}},
		{"ALTSVC of 1 octet", "000001 0a 00 00000001 00",
			frame.Error{Code: size, Stream: 1, Reason: "ALTSVC payload of 1 octets does not hold its origin"}},
		{"ALTSVC with half an origin", "000003 0a 00 00000000 0002 61",
			frame.Error{Code: size, Reason: "ALTSVC payload of 3 octets does not hold its origin"}},
		{"ALTSVC without an origin on stream 0", "000003 0a 00 00000000 0000 61",
			frame.Error{Code: proto, Reason: "ALTSVC on stream 0 with an origin of 0 octets"}},
		{"ALTSVC with an origin on stream 1", "000003 0a 00 00000001 0001 61",
			frame.Error{Code: proto, Stream: 1, Reason: "ALTSVC on stream 1 with an origin of 1 octets"}},
		{"ORIGIN with half a length", "000004 0c 00 00000000 0001 61 00",
			frame.Error{Code: size, Reason: "ORIGIN payload of 4 octets ends within an entry"}},
		{"ORIGIN with half an entry", "000003 0c 00 00000000 0002 61",
			frame.Error{Code: size, Reason: "ORIGIN payload of 3 octets ends within an entry"}},
		{"PRIORITY_UPDATE of 3 octets", "000003 10 00 00000000 000001",
			frame.Error{Code: size, Reason: "PRIORITY_UPDATE payload of 3 octets is below 4"}},

		// Padding.
		{"DATA padding as long as the payload", "000003 00 08 00000001 03 0000",
			frame.Error{Code: proto, Reason: "DATA padding of 3 octets does not fit a payload of 3"}},
		{"DATA padding longer than the payload", "000001 00 08 00000001 ff",
			frame.Error{Code: proto, Reason: "DATA padding of 255 octets does not fit a payload of 1"}},
		{"HEADERS padding as long as the payload", "000003 01 0c 00000001 03 0000",
			frame.Error{Code: proto, Reason: "HEADERS padding of 3 octets does not fit a payload of 3"}},
		{"HEADERS padding in the place of the priority", "000008 01 2c 00000001 03 00000000 00 0000",
			frame.Error{Code: proto, Reason: "HEADERS padding of 3 octets does not fit a payload of 8"}},
		{"PUSH_PROMISE padding in the place of the stream", "000006 05 0c 00000001 02 00000002 00",
			frame.Error{Code: proto, Reason: "PUSH_PROMISE padding of 2 octets does not fit a payload of 6"}},

		// Values.
		{"WINDOW_UPDATE of 0 on a stream", "000004 08 00 00000003 00000000",
			frame.Error{Code: proto, Stream: 3, Reason: "WINDOW_UPDATE with an increment of 0"}},
		{"WINDOW_UPDATE of 0 on the connection", "000004 08 00 00000000 00000000",
			frame.Error{Code: proto, Reason: "WINDOW_UPDATE with an increment of 0"}},
		{"WINDOW_UPDATE of 0 with the reserved bit", "000004 08 00 00000000 80000000",
			frame.Error{Code: proto, Reason: "WINDOW_UPDATE with an increment of 0"}},
		{"ENABLE_PUSH of 1 from a server", "000006 04 00 00000000 0002 00000001",
			frame.Error{Code: proto, Reason: "ENABLE_PUSH=1 comes from a server"}},
		{"ENABLE_PUSH of 2", "000006 04 00 00000000 0002 00000002",
			frame.Error{Code: proto, Reason: "ENABLE_PUSH=2 is neither 0 nor 1"}},
		{"INITIAL_WINDOW_SIZE of 2^31", "000006 04 00 00000000 0004 80000000",
			frame.Error{Code: flow, Reason: "INITIAL_WINDOW_SIZE=2147483648 is above 2147483647"}},
		{"INITIAL_WINDOW_SIZE of 2^31 before a good one", "00000c 04 00 00000000 0004 80000000 0004 00000001",
			frame.Error{Code: flow, Reason: "INITIAL_WINDOW_SIZE=2147483648 is above 2147483647"}},
		{"MAX_FRAME_SIZE of 0", "000006 04 00 00000000 0005 00000000",
			frame.Error{Code: proto, Reason: "MAX_FRAME_SIZE=0 is not within 16384 to 16777215"}},
		{"MAX_FRAME_SIZE of 16383", "000006 04 00 00000000 0005 00003fff",
			frame.Error{Code: proto, Reason: "MAX_FRAME_SIZE=16383 is not within 16384 to 16777215"}},
		{"MAX_FRAME_SIZE of 2^24", "000006 04 00 00000000 0005 01000000",
			frame.Error{Code: proto, Reason: "MAX_FRAME_SIZE=16777216 is not within 16384 to 16777215"}},
		{"ENABLE_CONNECT_PROTOCOL of 2", "000006 04 00 00000000 0008 00000002",
			frame.Error{Code: proto, Reason: "ENABLE_CONNECT_PROTOCOL=2 is neither 0 nor 1"}},
		{"NO_RFC7540_PRIORITIES of 2", "000006 04 00 00000000 0009 00000002",
			frame.Error{Code: proto, Reason: "NO_RFC7540_PRIORITIES=2 is neither 0 nor 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := errors.AsType[*frame.Error](judge(t, unhex(tt.wire)))
			if !ok {
				t.Fatalf("accepted; want %+v", tt.want)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoErrors holds the nearest neighbours of the errors above that are legal.
func TestNoErrors(t *testing.T) {
	for _, tt := range []struct{ name, wire string }{
		{"ENABLE_PUSH of 0", "000006 04 00 00000000 0002 00000000"},
		{"HEADER_TABLE_SIZE of 2^32-1", "000006 04 00 00000000 0001 ffffffff"},
		{"MAX_CONCURRENT_STREAMS of 0", "000006 04 00 00000000 0003 00000000"},
		{"INITIAL_WINDOW_SIZE of 2^31-1", "000006 04 00 00000000 0004 7fffffff"},
		{"INITIAL_WINDOW_SIZE of 0", "000006 04 00 00000000 0004 00000000"},
		{"MAX_FRAME_SIZE of 2^14 and 2^24-1", "00000c 04 00 00000000 0005 00004000 0005 00ffffff"},
		{"MAX_HEADER_LIST_SIZE of 0", "000006 04 00 00000000 0006 00000000"},
		{"ENABLE_CONNECT_PROTOCOL of 1", "000006 04 00 00000000 0008 00000001"},
		{"unknown settings", "000012 04 00 00000000 0000 ffffffff 0007 ffffffff ffff ffffffff"},
		{"HEADERS with padding and priority and no fragment", "000008 01 2c 00000001 02 00000000 00 0000"},
		{"PUSH_PROMISE padded without a fragment", "000007 05 0c 00000001 02 00000002 0000"},
		{"padding that is not zero", "000003 00 08 00000001 02 ffff"},
		{"HEADERS of a stream that depends on itself", "000005 01 24 00000001 00000001 00"},
		{"PRIORITY of a stream that depends on itself", "000005 02 00 00000001 00000001 00"},
		{"ORIGIN with an empty entry", "000002 0c 00 00000000 0000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := judge(t, unhex(tt.wire)); err != nil {
				t.Errorf("refused: %v", err)
			}
		})
	}
	full := frame.Data{Stream: 1, Data: make([]byte, frame.MinMaxFrameSize)}.AppendTo(nil)
	if err := judge(t, full); err != nil {
		t.Errorf("a payload of exactly the limit is refused: %v", err)
	}
	h := frame.Header{Length: frame.MaxMaxFrameSize, Type: frame.TypeData, Stream: 1}
	if err := frame.CheckHeader(h, frame.MaxMaxFrameSize); err != nil {
		t.Errorf("the largest payload of all is refused: %v", err)
	}
}

// TestEitherSideMayDisablePush: Check, unlike CheckFromServer, takes what a client sends too.
func TestEitherSideMayDisablePush(t *testing.T) {
	s := frame.Setting{ID: frame.SettingEnablePush, Value: 1}
	if err := s.Check(); err != nil {
		t.Errorf("Check refuses %v: %v", s, err)
	}
	if err := s.CheckFromServer(); err == nil {
		t.Errorf("CheckFromServer takes %v", s)
	}
}

// parsers are all parse functions in one form.
var parsers = map[frame.Type]func(frame.Header, []byte) (frame.Frame, error){
	frame.TypeData:           boxed(frame.ParseData),
	frame.TypeHeaders:        boxed(frame.ParseHeaders),
	frame.TypePriority:       boxed(frame.ParsePriority),
	frame.TypeRSTStream:      boxed(frame.ParseRSTStream),
	frame.TypeSettings:       boxed(frame.ParseSettings),
	frame.TypePushPromise:    boxed(frame.ParsePushPromise),
	frame.TypePing:           boxed(frame.ParsePing),
	frame.TypeGoAway:         boxed(frame.ParseGoAway),
	frame.TypeWindowUpdate:   boxed(frame.ParseWindowUpdate),
	frame.TypeContinuation:   boxed(frame.ParseContinuation),
	frame.TypeAltSvc:         boxed(frame.ParseAltSvc),
	frame.TypeOrigin:         boxed(frame.ParseOrigin),
	frame.TypePriorityUpdate: boxed(frame.ParsePriorityUpdate),
}

func boxed[F frame.Frame](parse func(frame.Header, []byte) (F, error)) func(frame.Header, []byte) (frame.Frame, error) {
	return func(h frame.Header, p []byte) (frame.Frame, error) { return parse(h, p) }
}

// TestParsersAreSafe calls every parser with headers that CheckHeader would refuse, among them headers of other types,
// and payloads that do not fit: none panics, and a payload that is too short for the parser's type is an error.
func TestParsersAreSafe(t *testing.T) {
	minimum := map[frame.Type]int{
		frame.TypePriority: 5, frame.TypeRSTStream: 4, frame.TypePushPromise: 4, frame.TypePing: 8,
		frame.TypeGoAway: 8, frame.TypeWindowUpdate: 4, frame.TypeAltSvc: 2, frame.TypePriorityUpdate: 4,
	}
	for typ, parse := range parsers {
		for other := range 17 {
			for flags := range 256 {
				for n := range 12 {
					h := frame.Header{Length: 7, Type: frame.Type(other), Flags: frame.Flags(flags), Stream: 1}
					_, err := parse(h, make([]byte, n))
					if err == nil && n < minimum[typ] {
						t.Fatalf("%v parser takes %d octets with %+v", typ, n, h)
					}
					if _, ok := errors.AsType[*frame.Error](err); err != nil && !ok {
						t.Fatalf("%v parser returns %T", typ, err)
					}
				}
			}
		}
	}
}

// TestParseChecksTheHeader: Parse alone is enough to refuse a frame, and counts the octets that it was given.
func TestParseChecksTheHeader(t *testing.T) {
	h := frame.Header{Length: 8, Type: frame.TypePing}
	if f, err := frame.Parse(h, make([]byte, 7)); f != nil || err == nil {
		t.Errorf("a PING of 7 octets is %v, %v", f, err)
	}
	if f, err := frame.Parse(frame.Header{Type: frame.TypeData}, nil); f != nil || err == nil {
		t.Errorf("DATA on stream 0 is %v, %v", f, err)
	}
}

func TestErrorText(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&frame.Error{Code: proto, Stream: 3, Reason: "why"}, "stream error: stream ID 3; PROTOCOL_ERROR: why"},
		{&frame.Error{Code: size, Reason: "why"}, "connection error: FRAME_SIZE_ERROR: why"},
		{&frame.Error{Code: 0xe, Reason: "why"}, "connection error: 0xe: why"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("want %s, got %s", tt.want, got)
		}
	}
}
