package h2flow_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

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
