package httpbench

import (
	"io"
	"net"

	"example.com/h2flow/frame"
)

// The answer of AnswerWithoutAllocating: fields that HPACK's static table has ready (:status 200, accept-encoding
// "gzip, deflate", and vary without a value), and two octets.
const (
	cannedBlock = "\x88\x90\xbb"
	CannedBody  = "ok"
)

// AnswerWithoutAllocating accepts one connection and answers every HTTP/2 request on it with CannedBody, until the
// connection ends. Once it runs it allocates nothing, so that all that a process allocates is the client's.
func AnswerWithoutAllocating(l net.Listener) error {
	nc, err := l.Accept()
	if err != nil {
		return err
	}
	defer nc.Close()
	block := []byte(cannedBlock)
	in, out := make([]byte, 64<<10), frame.MakeSettings().AppendTo(make([]byte, 0, 4<<10))
	if _, err := io.ReadFull(nc, in[:len(frame.ClientPreface)]); err != nil {
		return err
	}
	for have := 0; ; {
		if _, err := nc.Write(out); err != nil {
			return err
		}
		n, err := nc.Read(in[have:])
		if err != nil {
			return err
		}
		out = out[:0]
		rest := in[:have+n]
		for {
			h, ok := frame.ParseHeader(rest)
			if !ok || len(rest) < frame.HeaderLen+int(h.Length) {
				break
			}
			rest = rest[frame.HeaderLen+int(h.Length):]
			switch {
			case h.Type == frame.TypeSettings && !h.Flags.Has(frame.FlagAck):
				out = frame.AppendSettingsAck(out)
			case h.Type == frame.TypePing && !h.Flags.Has(frame.FlagAck):
				out = frame.AppendPing(out, true, [8]byte{})
			case h.Type == frame.TypeHeaders:
				out = frame.Headers{Stream: h.Stream, EndHeaders: true, Fragment: block}.AppendTo(out)
				out = append(frame.AppendDataHeader(out, h.Stream, uint32(len(CannedBody)), true), CannedBody...)
			}
		}
		have = copy(in, rest)
	}
}
