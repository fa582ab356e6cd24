package frame_test

import (
	"io"
	"testing"

	"golang.org/x/net/http2"

	"example.com/h2flow/frame"
)

// The frames that the benchmarks read and write, one of each kind that a busy connection sees.
var benchFrames = []struct {
	name  string
	frame frame.Frame
}{
	{"DATA16k", frame.Data{Stream: 1, Data: make([]byte, frame.MinMaxFrameSize)}},
	{"HEADERS", frame.Headers{Stream: 1, EndHeaders: true, Fragment: make([]byte, 60)}},
	{"SETTINGS", frame.MakeSettings(
		frame.Setting{ID: frame.SettingMaxConcurrentStreams, Value: 100},
		frame.Setting{ID: frame.SettingInitialWindowSize, Value: 65535},
		frame.Setting{ID: frame.SettingMaxFrameSize, Value: 16384})},
	{"WINDOW_UPDATE", frame.WindowUpdate{Stream: 1, Increment: 65535}},
	{"PING", frame.Ping{Data: [8]byte{1, 2, 3, 4, 5, 6, 7, 8}}},
	{"RST_STREAM", frame.RSTStream{Stream: 1, Code: frame.Cancel}},
}

// repeat is an endless source of the same octets; limited to whole frames it never blocks.
type repeat struct {
	wire []byte
	off  int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := copy(p, r.wire[r.off:])
	r.off = (r.off + n) % len(r.wire)
	return n, nil
}

// BenchmarkParse takes one frame apart in memory: header, check, payload.
func BenchmarkParse(b *testing.B) {
	b.Run("codec=h2flow", func(b *testing.B) {
		for _, tt := range benchFrames {
			b.Run("frame="+tt.name, func(b *testing.B) {
				wire := tt.frame.AppendTo(nil)
				b.ReportAllocs()
				for b.Loop() {
					h, _ := frame.ParseHeader(wire)
					if err := frame.CheckHeader(h, frame.MinMaxFrameSize); err != nil {
						b.Fatal(err)
					}
					if err := parseOne(h, wire[frame.HeaderLen:]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}

// parseOne is the switch of a connection over the types in benchFrames.
func parseOne(h frame.Header, p []byte) (err error) {
	switch h.Type {
	case frame.TypeData:
		_, err = frame.ParseData(h, p)
	case frame.TypeHeaders:
		_, err = frame.ParseHeaders(h, p)
	case frame.TypeSettings:
		_, err = frame.ParseSettings(h, p)
	case frame.TypeWindowUpdate:
		_, err = frame.ParseWindowUpdate(h, p)
	case frame.TypePing:
		_, err = frame.ParsePing(h, p)
	case frame.TypeRSTStream:
		_, err = frame.ParseRSTStream(h, p)
	}
	return err
}

// BenchmarkRead reads frames from an io.Reader whose reads cost next to nothing, so that it does not matter that our
// Reader reads ahead and x/net's Framer reads each header and each payload apart. Both copy every payload once. The
// Framer is told to reuse frames, which it does for DATA.
func BenchmarkRead(b *testing.B) {
	for _, tt := range benchFrames {
		wire := tt.frame.AppendTo(nil)
		b.Run("codec=h2flow/frame="+tt.name, func(b *testing.B) {
			r := frame.NewReader(&repeat{wire: wire}, frame.MinMaxFrameSize)
			b.SetBytes(int64(len(wire)))
			b.ReportAllocs()
			for b.Loop() {
				h, p, err := r.Next()
				if err == nil {
					err = frame.CheckHeader(h, frame.MinMaxFrameSize)
				}
				if err == nil {
					err = parseOne(h, p)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("codec=xnet/frame="+tt.name, func(b *testing.B) {
			fr := http2.NewFramer(io.Discard, &repeat{wire: wire})
			fr.SetReuseFrames()
			b.SetBytes(int64(len(wire)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := fr.ReadFrame(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAppend puts one frame into a buffer that is large enough; x/net's Framer writes each to an io.Writer that
// drops it.
func BenchmarkAppend(b *testing.B) {
	buf := make([]byte, 0, 1<<15)
	data := make([]byte, frame.MinMaxFrameSize)
	block := make([]byte, 60)
	fr := http2.NewFramer(io.Discard, nil)
	for _, tt := range []struct {
		name   string
		h2flow func()
		xnet   func() error
	}{
		{
			"DATA16k", func() { buf = append(frame.AppendDataHeader(buf[:0], 1, uint32(len(data)), false), data...) },
			func() error { return fr.WriteData(1, false, data) },
		},
		{
			"HEADERS", func() { buf = frame.Headers{Stream: 1, EndHeaders: true, Fragment: block}.AppendTo(buf[:0]) },
			func() error {
				return fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true, BlockFragment: block})
			},
		},
		{
			"WINDOW_UPDATE", func() { buf = frame.AppendWindowUpdate(buf[:0], 1, 65535) },
			func() error { return fr.WriteWindowUpdate(1, 65535) },
		},
		{
			"PING", func() { buf = frame.AppendPing(buf[:0], true, [8]byte{1}) },
			func() error { return fr.WritePing(true, [8]byte{1}) },
		},
		{
			"RST_STREAM", func() { buf = frame.AppendRSTStream(buf[:0], 1, frame.Cancel) },
			func() error { return fr.WriteRSTStream(1, http2.ErrCodeCancel) },
		},
	} {
		b.Run("codec=h2flow/frame="+tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tt.h2flow()
			}
		})
		b.Run("codec=xnet/frame="+tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := tt.xnet(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
