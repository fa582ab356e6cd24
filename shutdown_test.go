package h2flow_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/pipe"
)

// TestShutdownLetsTheUploadArrive has the end of a request body be the last thing that happens on a connection which
// shuts down, while an earlier write is still in progress: the transport may be closed only after both have left.
func TestShutdownLetsTheUploadArrive(t *testing.T) {
	for _, end := range []string{"with the last piece", "on its own", "by trailers"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := pipe.New(pipe.Link{Queue: 16})
				defer server.Close()
				c, err := h2flow.NewClientConn(client, nil)
				if err != nil {
					t.Fatal(err)
				}
				s, err := c.OpenStream(context.Background(), &h2flow.Request{
					Method: "POST", Scheme: "http", Authority: "a", Path: "/"})
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					say(server, frame.MakeSettings(),
						frame.Headers{Stream: 1, EndHeaders: true, EndStream: true, Fragment: []byte{0x88}}) // :status 200
				}()
				if _, err := s.ReadHead(); err != nil {
					t.Fatal(err)
				}
				go c.Shutdown(context.Background())
				synctest.Wait()
				go uploadOf(s, make([]byte, 50000), end)
				synctest.Wait()

				octets, ended := bodyArrives(t, server)
				if octets != 50000 || !ended {
					t.Errorf("the server got %d octets, end: %v", octets, ended)
				}
				<-c.Done()
			})
		})
	}
}

func uploadOf(s *h2flow.ClientStream, body []byte, end string) {
	switch end {
	case "with the last piece":
		s.WriteEnd(body)
	case "on its own":
		s.Write(body)
		s.CloseWrite()
	case "by trailers":
		s.Write(body)
		s.CloseWriteTrailers([]h2flow.Field{{Name: "sum", Value: "1"}})
	}
}

// bodyArrives reads to the end of what the client sends, and returns the octets of body and whether a stream ended.
func bodyArrives(t *testing.T, server *pipe.Conn) (octets int, ended bool) {
	t.Helper()
	server.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.CopyN(io.Discard, server, int64(len(frame.ClientPreface))); err != nil {
		t.Fatal(err)
	}
	r := frame.NewReader(server, frame.MaxMaxFrameSize)
	for {
		h, payload, err := r.Next()
		if err != nil {
			return octets, ended
		}
		switch h.Type {
		case frame.TypeData:
			octets += len(payload)
			ended = ended || h.Flags.Has(frame.FlagEndStream)
		case frame.TypeHeaders:
			ended = ended || h.Flags.Has(frame.FlagEndStream)
		}
	}
}
