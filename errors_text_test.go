package h2flow_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow"
)

// An error says what happened, and what can be done about it.

// Contract: E25.
func TestErrorOfAClosedConnectionSaysWhatToDo(t *testing.T) {
	client, server := net.Pipe()
	defer server.Close()
	c, err := h2flow.NewClientConn(client, nil)
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	c.Close()
	_, err = c.OpenStream(context.Background(), &h2flow.Request{Method: "GET", Scheme: "http", Authority: "a", Path: "/", EndStream: true})
	if !h2flow.Retryable(err) || !strings.Contains(err.Error(), "safe to send on another connection") {
		t.Errorf("error %v", err)
	}
}

func TestErrorOfAPeerThatSaysNothingNamesHTTP2(t *testing.T) {
	client, server := net.Pipe()
	c, err := h2flow.NewClientConn(client, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	server.Read(make([]byte, 1))
	server.Close() // as a TLS server does with octets that are no TLS
	<-c.Done()
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "does not speak HTTP/2") {
		t.Errorf("error %v", err)
	}
}

// A writer that takes less than it is given without an error loses nothing silently.
func TestWriteToReportsAShortWrite(t *testing.T) {
	_, dial := server(t, false)
	s, err := dial(nil).OpenStream(context.Background(), &h2flow.Request{Method: "GET", Scheme: "http", Authority: "x", Path: "/bytes/1000", EndStream: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var took halfWriter
	if n, err := s.WriteTo(&took); !errors.Is(err, io.ErrShortWrite) || n != int64(took.b.Len()) {
		t.Errorf("%d octets, %v; the writer took %d", n, err, took.b.Len())
	}
}

type halfWriter struct{ b bytes.Buffer }

func (w *halfWriter) Write(p []byte) (int, error) { return w.b.Write(p[:len(p)/2]) }

// TestErrorsNameTheirStream: one that was closed, on either side, and one whose deadline has passed.
func TestErrorsNameTheirStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		go io.Copy(io.Discard, server)
		c, err := h2flow.NewClientConn(client, nil)
		if err != nil {
			t.Fatal(err)
		}
		var streams []*h2flow.ClientStream
		for range 2 {
			s, err := c.OpenStream(t.Context(), &h2flow.Request{Method: "POST", Scheme: "http", Authority: "a", Path: "/"})
			if err != nil {
				t.Fatal(err)
			}
			streams = append(streams, s)
		}
		s := streams[1]
		want := func(what string, err, is error, text string) {
			t.Helper()
			var timeout net.Error
			if !errors.Is(err, is) || err.Error() != text || !errors.As(err, &timeout) ||
				timeout.Timeout() != (is == os.ErrDeadlineExceeded) {
				t.Errorf("%s: %v, want %q", what, err, text)
			}
		}
		s.SetDeadline(time.Now())
		_, err = s.Read(make([]byte, 1))
		want("Read", err, os.ErrDeadlineExceeded, "h2flow: stream 3: i/o timeout")
		_, err = s.ReadHead()
		want("ReadHead", err, os.ErrDeadlineExceeded, "h2flow: stream 3: i/o timeout")
		_, err = s.Write([]byte("x"))
		want("Write", err, os.ErrDeadlineExceeded, "h2flow: stream 3: i/o timeout")
		s.CloseWrite()
		_, err = s.Write([]byte("x"))
		want("Write after CloseWrite", err, h2flow.ErrStreamClosed, "h2flow: stream 3: the stream is closed")
		want("trailers after CloseWrite", s.CloseWriteTrailers(nil), h2flow.ErrStreamClosed,
			"h2flow: stream 3: the stream is closed")
		s.Close()
		_, err = s.Read(make([]byte, 1))
		want("Read after Close", err, h2flow.ErrStreamClosed, "h2flow: stream 3: the stream is closed")
		c.Close()
		server.Close()
	})
}
