package h2flow_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"example.com/h2flow"
)

// noDeadlines is a net.Conn that refuses deadlines, as the channel of an SSH connection does.
type noDeadlines struct{ net.Conn }

var errNoDeadline = errors.New("deadlines are not supported")

func (noDeadlines) SetDeadline(time.Time) error      { return errNoDeadline }
func (noDeadlines) SetReadDeadline(time.Time) error  { return errNoDeadline }
func (noDeadlines) SetWriteDeadline(time.Time) error { return errNoDeadline }

// TestConnWithoutDeadlines downloads, cancels and closes over a transport that refuses deadlines.
func TestConnWithoutDeadlines(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: testHandler(t), Protocols: new(http.Protocols)}
	srv.Protocols.SetUnencryptedHTTP2(true)
	go srv.Serve(listener)
	defer srv.Close()
	nc, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := h2flow.NewClientConn(noDeadlines{nc}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := get(t, c, "/bytes/3000000"); !bytes.Equal(got, testBody(3000000)) {
		t.Errorf("%d octets came back wrong", len(got))
	}
	ctx, cancel := context.WithCancel(context.Background())
	s, err := c.OpenStream(ctx, &h2flow.Request{Method: "POST", Scheme: "http", Authority: "x", Path: "/echo"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReadHead(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := io.ReadAll(s); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled read returned %v", err)
	}
	if got := get(t, c, "/bytes/1000"); !bytes.Equal(got, testBody(1000)) {
		t.Errorf("%d octets came back wrong after a cancel", len(got))
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	<-c.Done()
}
