package h2flow_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/rows"
)

// TestGoAwayIsOnTheWireBeforeTheClose breaks a rule while the server goes on sending, over a real TCP connection. Octets
// that the client has not read when it closes make TCP reset the connection, which can overtake what was sent before:
// the GOAWAY with the right code has to arrive all the same, every time.
func TestGoAwayIsOnTheWireBeforeTheClose(t *testing.T) {
	rows.Cover(t, "9113-5.4.1-1", "9113-5.4.1-2", "9113-5.4.1-3", "9113-9.1-3", "9113-6.8-5")
	for _, mode := range []h2flow.ReaderMode{h2flow.ReaderShared, h2flow.ReaderBackground} {
		for range 25 {
			brokenRule(t, mode)
		}
	}
}

func brokenRule(t *testing.T, mode h2flow.ReaderMode) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	codes := make(chan frame.ErrCode, 1)
	go func() {
		defer close(codes)
		nc, err := listener.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		nc.SetDeadline(time.Now().Add(10 * time.Second))
		go func() {
			b := frame.MakeSettings().AppendTo(nil)
			b = frame.Data{Stream: 99, Data: make([]byte, 100)}.AppendTo(b) // a stream that was never opened
			for range 20 {
				b = frame.Data{Stream: 1, Data: make([]byte, 1000)}.AppendTo(b)
			}
			nc.Write(b)
		}()
		io.CopyN(io.Discard, nc, int64(len(frame.ClientPreface)))
		r := frame.NewReader(nc, frame.MaxMaxFrameSize)
		for {
			h, payload, err := r.Next()
			if err != nil {
				return
			}
			if h.Type == frame.TypeGoAway {
				if f, err := frame.ParseGoAway(h, payload); err == nil {
					codes <- f.Code
				}
			}
		}
	}()
	c, err := h2flow.DialCleartext(context.Background(), listener.Addr().String(), &h2flow.Config{Reader: mode})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := c.OpenStream(context.Background(), &h2flow.Request{Method: "GET", Scheme: "http", Authority: "a", Path: "/", EndStream: true})
	if err == nil {
		_, err = s.ReadHead()
	}
	var ce *h2flow.ConnError
	if !errors.As(err, &ce) && !errors.As(c.Err(), &ce) || ce.Code != frame.ProtocolError {
		t.Errorf("the request failed with %v", err)
	}
	if code, ok := <-codes; !ok || code != frame.ProtocolError {
		t.Errorf("the server got GOAWAY: %v, code %v; want PROTOCOL_ERROR", ok, code)
	}
}
