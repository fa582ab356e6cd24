package frame_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/rows"
)

// TestReader reads all vectors in one go and octet by octet.
func TestReader(t *testing.T) {
	var stream []byte
	var want []string
	for _, v := range vectors {
		stream = append(stream, unhex(v.wire)...)
		want = append(want, v.text)
	}
	// A frame larger than the first buffer, then one that was read ahead with its end.
	big := frame.Data{Stream: 1, Data: bytes.Repeat([]byte("0123456789"), 1600)}
	small := frame.Ping{Data: [8]byte{1}}
	stream = small.AppendTo(big.AppendTo(stream))
	want = append(want, "DATA stream=1 len=16000", "PING data=0100000000000000")

	for _, tt := range []struct {
		name string
		r    io.Reader
	}{
		{"whole", bytes.NewReader(stream)},
		{"octet by octet", iotest.OneByteReader(bytes.NewReader(stream))},
		{"halves", iotest.HalfReader(bytes.NewReader(stream))},
		{"the end with the last octets", iotest.DataErrReader(bytes.NewReader(stream))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := frame.NewReader(tt.r, frame.MinMaxFrameSize)
			var got []string
			var again []byte
			for {
				h, payload, err := r.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				f, err := frame.Parse(h, payload)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, f.String())
				again = f.AppendTo(again)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("frames (-want +got):\n%s", diff)
			}
			if !bytes.Equal(again, stream) {
				t.Error("the frames appended again are not what was read")
			}
			if _, _, err := r.Next(); err != io.EOF {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}

func TestReaderErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	for _, tt := range []struct {
		name string
		r    io.Reader
		want error
	}{
		{"nothing", bytes.NewReader(nil), io.EOF},
		{"end within a header", bytes.NewReader(unhex("000000 00 00 000000")), io.ErrUnexpectedEOF},
		{"end after a header", bytes.NewReader(unhex("000001 00 00 00000001")), io.ErrUnexpectedEOF},
		{"end within a payload", bytes.NewReader(unhex("000002 00 00 00000001 61")), io.ErrUnexpectedEOF},
		{"error of the source", iotest.ErrReader(broken), broken},
		{"error within a frame", io.MultiReader(bytes.NewReader(unhex("000002 00")), iotest.ErrReader(broken)), broken},
		{"a source that never gives anything", zeroReader{}, io.ErrNoProgress},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := frame.NewReader(tt.r, frame.MinMaxFrameSize)
			for range 2 {
				if _, _, err := r.Next(); err != tt.want {
					t.Errorf("want %v, got %v", tt.want, err)
				}
			}
		})
	}
}

type zeroReader struct{}

func (zeroReader) Read([]byte) (int, error) { return 0, nil }

func TestReaderLimit(t *testing.T) {
	rows.Cover(t, "9113-3.4-7")
	// An HTTP/1.1 response read as a frame announces 4,740,180 octets (9113-3.4-7).
	const response = "HTTP/1.1 400 Bad Request\r\n\r\n"
	r := frame.NewReader(bytes.NewReader([]byte(response)), frame.MinMaxFrameSize)
	h, payload, err := r.Next()
	if want := (frame.Header{Length: 0x485454, Type: 'P', Flags: '/', Stream: 0x312e3120}); h != want || payload != nil {
		t.Errorf("header %+v, payload %q", h, payload)
	}
	want := &frame.Error{
		Code: frame.FrameSizeError, Stream: 0x312e3120, Reason: "0x50 payload of 4740180 octets is above the limit of 16384",
	}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	if got := string(r.Buffered()); got != response {
		t.Errorf("Buffered: %q", got)
	}
	if _, _, again := r.Next(); again != err {
		t.Errorf("second error: %v", again)
	}
}
