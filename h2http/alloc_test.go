//go:build !race

package h2http_test

import (
	"context"
	"io"
	"net"
	"testing"

	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
)

// maxWarmGet is what a GET on a connection that exists may allocate in all, the engine's part included.
const maxWarmGet = 12

// Contract: O1, T28.
func TestAWarmGetAllocatesLittle(t *testing.T) {
	l := listen(t)
	go answerWithoutAllocating(l)
	tr := &h2http.Transport{AllowHTTP: true}
	defer tr.CloseIdleConnections()
	req := newRequest(t, "GET", "http://"+l.Addr().String()+"/", nil)
	req = req.WithContext(context.Background())
	buf := make([]byte, 512)
	do := func() {
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for err == nil {
			var k int
			k, err = resp.Body.Read(buf)
			n += k
		}
		if err != io.EOF || n != 2 || resp.Header["Accept-Encoding"] == nil {
			t.Fatal(err, n, resp.Header)
		}
		resp.Body.Close()
	}
	do()
	got := testing.AllocsPerRun(200, do)
	t.Logf("%v allocations", got)
	if got > maxWarmGet {
		t.Errorf("%v allocations, want at most %d", got, maxWarmGet)
	}
}

// answerWithoutAllocating serves one connection: every request gets the same head, of fields that HPACK has ready, and
// two octets.
func answerWithoutAllocating(l net.Listener) {
	nc, err := l.Accept()
	if err != nil {
		return
	}
	defer nc.Close()
	block := []byte{0x88, 0x90, 0xbb} // :status 200, accept-encoding "gzip, deflate", vary ""
	body := []byte("ok")
	in, out := make([]byte, 64<<10), make([]byte, 0, 4<<10)
	out = frame.MakeSettings().AppendTo(out)
	if _, err := io.ReadFull(nc, in[:len(frame.ClientPreface)]); err != nil {
		return
	}
	for n := 0; ; {
		if _, err := nc.Write(out); err != nil {
			return
		}
		out = out[:0]
		k, err := nc.Read(in[n:])
		if err != nil {
			return
		}
		n += k
		rest := in[:n]
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
				out = append(frame.AppendDataHeader(out, h.Stream, uint32(len(body)), true), body...)
			}
		}
		n = copy(in, rest)
	}
}
