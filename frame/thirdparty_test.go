package frame_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/rows"
)

// vectorsDir is the folder of third-party test data, one folder for each origin, that H2FLOW_VECTORS names.
func vectorsDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("H2FLOW_VECTORS")
	if dir == "" {
		t.Skip("H2FLOW_VECTORS is not set: it names the folder that holds http2-frame-test-case and other test data")
	}
	return dir
}

// A foreignVector is one file of http2-frame-test-case: one frame, and either its fields or the codes that decoding it
// may end with.
type foreignVector struct {
	Description string
	Wire        string
	Error       []frame.ErrCode
	Frame       *foreignFrame
}

type foreignFrame struct {
	Length  uint32
	Type    frame.Type
	Flags   frame.Flags
	Stream  frame.StreamID `json:"stream_identifier"`
	Payload struct {
		Fragment      string         `json:"header_block_fragment"`
		PaddingLength uint8          `json:"padding_length"`
		Padding       string         `json:"padding"`
		DependsOn     frame.StreamID `json:"stream_dependency"`
		Weight        int            `json:"weight"`
		Exclusive     bool           `json:"exclusive"`
		ErrorCode     frame.ErrCode  `json:"error_code"`
		Promised      frame.StreamID `json:"promised_stream_id"`
		OpaqueData    string         `json:"opaque_data"`
		LastStream    frame.StreamID `json:"last_stream_id"`
		DebugData     string         `json:"additional_debug_data"`
		Increment     uint32         `json:"window_size_increment"`
	} `json:"frame_payload"`
}

// value is the frame as this package would hold it. The files have legal frames of these seven types only.
func (f *foreignFrame) value(t *testing.T) frame.Frame {
	p := f.Payload
	padded, end := f.Flags.Has(frame.FlagPadded), f.Flags.Has(frame.FlagEndHeaders)
	// The weight in the files is the one that RFC 7540 speaks of, ours is the octet on the wire.
	priority := frame.PriorityParam{Exclusive: p.Exclusive, DependsOn: p.DependsOn, Weight: uint8(p.Weight - 1)}
	switch f.Type {
	case frame.TypeHeaders:
		h := frame.Headers{Stream: f.Stream, EndStream: f.Flags.Has(frame.FlagEndStream), EndHeaders: end,
			Padded: padded, PadLength: p.PaddingLength, Fragment: []byte(p.Fragment)}
		if f.Flags.Has(frame.FlagPriority) {
			h.HasPriority, h.Priority = true, priority
		}
		return h
	case frame.TypeRSTStream:
		return frame.RSTStream{Stream: f.Stream, Code: p.ErrorCode}
	case frame.TypePushPromise:
		return frame.PushPromise{Stream: f.Stream, EndHeaders: end, Padded: padded, PadLength: p.PaddingLength,
			Promised: p.Promised, Fragment: []byte(p.Fragment)}
	case frame.TypePing:
		return frame.Ping{Ack: f.Flags.Has(frame.FlagAck), Data: [8]byte([]byte(p.OpaqueData))}
	case frame.TypeGoAway:
		return frame.GoAway{LastStream: p.LastStream, Code: p.ErrorCode, Debug: []byte(p.DebugData)}
	case frame.TypeWindowUpdate:
		return frame.WindowUpdate{Stream: f.Stream, Increment: p.Increment}
	case frame.TypeContinuation:
		return frame.Continuation{Stream: f.Stream, EndHeaders: end, Fragment: []byte(p.Fragment)}
	}
	t.Fatalf("the file has a frame of type %v", f.Type)
	return nil
}

// TestHTTP2FrameTestCase runs the files of http2-frame-test-case. They come from the time of RFC 7540, and
// two of their habits differ from ours; no expectation is overruled:
//
//   - their padding is text, while ours is always zero (9113-6.1-6), so padding is cleared before octets are compared;
//   - their weight is one more than the octet on the wire, as in RFC 7540, Section 6.3.
//
// The vector with an oversized DATA frame has fewer octets than it announces: its header alone is the error.
func TestHTTP2FrameTestCase(t *testing.T) {
	rows.Cover(t, "9113-6.1-6")
	files, err := filepath.Glob(filepath.Join(vectorsDir(t), "http2-frame-test-case", "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of http2-frame-test-case in H2FLOW_VECTORS (%v)", err)
	}
	valid, invalid := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var v foreignVector
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		wire, err := hex.DecodeString(v.Wire)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		t.Run(v.Description, func(t *testing.T) {
			if v.Frame == nil {
				invalid++
				e, ok := errors.AsType[*frame.Error](judge(t, wire))
				if !ok || !slices.Contains(v.Error, e.Code) {
					t.Errorf("want one of %v, got %v", v.Error, e)
				}
				return
			}
			valid++
			checkForeign(t, v.Frame, wire)
		})
	}
	t.Logf("%d frames and %d errors of http2-frame-test-case", valid, invalid)
}

func checkForeign(t *testing.T, want *foreignFrame, wire []byte) {
	h, payload, rest, ok := frame.Cut(wire)
	if !ok || len(rest) != 0 {
		t.Fatalf("Cut: ok %v, %d octets left", ok, len(rest))
	}
	header := frame.Header{Length: want.Length, Type: want.Type, Flags: want.Flags, Stream: want.Stream}
	if diff := cmp.Diff(header, h); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	got, err := frame.Parse(h, payload)
	if err != nil {
		t.Fatal(err)
	}
	value := want.value(t)
	if diff := cmp.Diff(value, got); diff != "" {
		t.Errorf("frame (-want +got):\n%s", diff)
	}
	clear(wire[len(wire)-len(want.Payload.Padding):])
	if octets := value.AppendTo(nil); !bytes.Equal(octets, wire) {
		t.Errorf("octets: want %x, got %x", wire, octets)
	}
}

// TestServerRecordings takes apart what 14 servers sent: every frame is legal, every octet belongs to one, and each
// recording answers the four requests on streams 1, 3, 5 and 7.
func TestServerRecordings(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(vectorsDir(t), "server-recordings", "*.bin"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in H2FLOW_VECTORS (%v)", err)
	}
	frames := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			octets, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var ended []frame.StreamID
			for rest, first := octets, true; len(rest) > 0; first = false {
				h, _, next, ok := frame.Cut(rest)
				if !ok {
					t.Fatalf("%d octets at the end are no whole frame", len(rest))
				}
				if err := judge(t, rest[:len(rest)-len(next)]); err != nil {
					t.Errorf("%v: %v", h, err)
				}
				if first && h.Type != frame.TypeSettings {
					t.Errorf("the recording begins with %v", h)
				}
				if (h.Type == frame.TypeData || h.Type == frame.TypeHeaders) && h.Flags.Has(frame.FlagEndStream) {
					ended = append(ended, h.Stream)
				}
				rest = next
				frames++
			}
			if diff := cmp.Diff([]frame.StreamID{1, 3, 5, 7}, ended); diff != "" {
				t.Errorf("streams that ended (-want +got):\n%s", diff)
			}
		})
	}
	t.Logf("%d frames in %d recordings", frames, len(files))
}
