package h2flow_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/pipe"
)

// TestNotProcessedIsTrue ends a stream in every way while its request head is packed and waits behind a write that the
// transport does not take. Then the server reads all that still comes. A head that reached it must not have been called
// unprocessed, since the server may act on it and the caller send it again; one that did not reach it must have been
// where the transport failed.
func TestNotProcessedIsTrue(t *testing.T) {
	const id = 1
	for name, end := range map[string]func(c *h2flow.ClientConn, server *pipe.Conn){
		"closed":             func(c *h2flow.ClientConn, _ *pipe.Conn) { go c.Close() },
		"connection error":   func(_ *h2flow.ClientConn, server *pipe.Conn) { say(server, frame.Data{Stream: 99}) },
		"reset":              func(_ *h2flow.ClientConn, server *pipe.Conn) { say(server, frame.RSTStream{Stream: id}) },
		"malformed response": func(_ *h2flow.ClientConn, server *pipe.Conn) { say(server, frame.Data{Stream: id, Data: []byte("x")}) },
		"server stops sending": func(_ *h2flow.ClientConn, server *pipe.Conn) {
			server.CloseWrite()
		},
		"server goes away and stops sending": func(_ *h2flow.ClientConn, server *pipe.Conn) {
			say(server, frame.GoAway{LastStream: id})
			server.CloseWrite()
		},
	} {
		for _, mode := range []h2flow.ReaderMode{h2flow.ReaderShared, h2flow.ReaderBackground} {
			t.Run(fmt.Sprintf("%s/reader=%d", name, mode), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					client, server := pipe.New(pipe.Link{Queue: 16})
					defer server.Close()
					c, err := h2flow.NewClientConn(client, &h2flow.Config{Reader: mode})
					if err != nil {
						t.Fatal(err)
					}
					defer c.Close()
					synctest.Wait() // the preface is stuck
					s, err := c.OpenStream(context.Background(), &h2flow.Request{
						Method: "GET", Scheme: "http", Authority: "a", Path: "/", EndStream: true})
					if err != nil {
						t.Fatal(err)
					}
					go func() {
						say(server, frame.MakeSettings())
						end(c, server)
					}()
					if _, err = s.ReadHead(); err == nil {
						t.Fatal("the stream did not fail")
					}
					synctest.Wait()
					arrived := headArrives(server, c)
					if arrived && h2flow.Retryable(err) {
						t.Errorf("the server has the request, but it failed with: %v", err)
					}
					if !arrived && !h2flow.Retryable(err) {
						t.Errorf("the head never left, but the request failed with: %v", err)
					}
				})
			})
		}
	}
}

// say writes frames as the server.
func say(server *pipe.Conn, frames ...frame.Frame) {
	for _, f := range frames {
		server.Write(f.AppendTo(nil))
	}
}

// headArrives reads to the end of what the client sends and reports whether a HEADERS frame was there.
func headArrives(server *pipe.Conn, c *h2flow.ClientConn) (arrived bool) {
	if _, err := io.CopyN(io.Discard, server, int64(len(frame.ClientPreface))); err != nil {
		return false
	}
	r := frame.NewReader(server, frame.MaxMaxFrameSize)
	go func() {
		synctest.Wait()
		c.Close() // where the stream alone has ended
	}()
	for {
		h, _, err := r.Next()
		if err != nil {
			return arrived
		}
		arrived = arrived || h.Type == frame.TypeHeaders
	}
}
