package h2flow_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/strategy"
)

// inBubble runs f in virtual time with a connection whose server end is plain octets, once for each way of reading.
// Under these tests no time passes and no call of the transport completes unless the test wants it.
func inBubble(t *testing.T, cfg h2flow.Config, f func(t *testing.T, c *h2flow.ClientConn, server net.Conn)) {
	t.Helper()
	for name, mode := range map[string]h2flow.ReaderMode{"shared": h2flow.ReaderShared, "background": h2flow.ReaderBackground} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := net.Pipe()
				cfg := cfg
				cfg.Reader = mode
				c, err := h2flow.NewClientConn(client, &cfg)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { server.Close(); c.Close(); synctest.Wait() }()
				f(t, c, server)
			})
		})
	}
}

// readExactly reads n octets of what the client sends.
func readExactly(t *testing.T, server net.Conn, n int) []byte {
	t.Helper()
	buf := make([]byte, n)
	server.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadFull(server, buf); err != nil {
		t.Fatalf("the client sent less than %d octets: %v", n, err)
	}
	return buf
}

// TestNothingUnaskedOnTheWire: an option that is not set changes no octet. With Fixed at the protocol's own window the
// connection begins with the magic and a SETTINGS frame that turns push off, and sends nothing else before a request.
func TestNothingUnaskedOnTheWire(t *testing.T) {
	inBubble(t, h2flow.Config{Flow: strategy.Fixed{Stream: 65535, Conn: 65535}}, func(t *testing.T, c *h2flow.ClientConn, server net.Conn) {
		want := "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + // the magic
			"\x00\x00\x06\x04\x00\x00\x00\x00\x00" + // SETTINGS, 6 octets
			"\x00\x02\x00\x00\x00\x00" // ENABLE_PUSH = 0
		if got := readExactly(t, server, len(want)); string(got) != want {
			t.Fatalf("the first octets are\n%q, want\n%q", got, want)
		}
		server.SetReadDeadline(time.Now().Add(5 * time.Second))
		if n, err := server.Read(make([]byte, 1)); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the client sent more than its preface: %v", err)
		}
	})
}

// TestCancelReturnsAtOnce cancels a call of each kind while the peer neither reads nor writes. No time may pass.
func TestCancelReturnsAtOnce(t *testing.T) {
	open := func(ctx context.Context, c *h2flow.ClientConn, end bool) (*h2flow.ClientStream, error) {
		return c.OpenStream(ctx, &h2flow.Request{Method: "POST", Scheme: "https", Authority: "a", Path: "/", EndStream: end})
	}
	calls := map[string]func(ctx context.Context, c *h2flow.ClientConn) error{
		"OpenStream in the queue": func(ctx context.Context, c *h2flow.ClientConn) error {
			if _, err := open(context.Background(), c, true); err != nil {
				return err
			}
			_, err := open(ctx, c, true)
			return err
		},
		"ReadHead": func(ctx context.Context, c *h2flow.ClientConn) error {
			s, err := open(ctx, c, true)
			if err == nil {
				_, err = s.ReadHead()
			}
			return err
		},
		"Read": func(ctx context.Context, c *h2flow.ClientConn) error {
			s, err := open(ctx, c, true)
			if err == nil {
				_, err = s.Read(make([]byte, 10))
			}
			return err
		},
		"Write": func(ctx context.Context, c *h2flow.ClientConn) error {
			s, err := open(ctx, c, false)
			if err == nil {
				_, err = s.Write(make([]byte, 1<<20))
			}
			return err
		},
		"Ping": func(ctx context.Context, c *h2flow.ClientConn) error {
			_, err := c.Ping(ctx)
			return err
		},
		"Shutdown": func(ctx context.Context, c *h2flow.ClientConn) error {
			if _, err := open(context.Background(), c, true); err != nil {
				return err
			}
			return c.Shutdown(ctx)
		},
	}
	cause := errors.New("the test has had enough")
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			cfg := h2flow.Config{MaxConcurrentStreams: 1}
			inBubble(t, cfg, func(t *testing.T, c *h2flow.ClientConn, server net.Conn) {
				ctx, cancel := context.WithCancelCause(context.Background())
				result := make(chan error)
				go func() { result <- call(ctx, c) }()
				synctest.Wait() // the call is blocked, and so is whatever writes to the peer
				start := time.Now()
				cancel(cause)
				if err := <-result; !errors.Is(err, cause) {
					t.Errorf("the call returned %v, want the cause of the cancellation", err)
				}
				if d := time.Since(start); d != 0 {
					t.Errorf("the call returned %v after the cancellation", d)
				}
			})
		})
	}
}

// TestDeadlines: a deadline ends the call and not the stream, and one in the past ends it at once.
func TestDeadlines(t *testing.T) {
	inBubble(t, h2flow.Config{}, func(t *testing.T, c *h2flow.ClientConn, server net.Conn) {
		s, err := c.OpenStream(context.Background(), &h2flow.Request{Method: "POST", Scheme: "https", Authority: "a", Path: "/"})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		s.SetDeadline(start.Add(3 * time.Second))
		if _, err := s.ReadHead(); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != 3*time.Second {
			t.Errorf("ReadHead: %v after %v", err, time.Since(start))
		}
		if _, err := s.Write(make([]byte, 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Write: %v", err)
		}
		s.SetReadDeadline(time.Time{})
		go io.Copy(io.Discard, server)
		go func() {
			server.Write(frame.MakeSettings().AppendTo(nil))
			server.Write(append(frame.AppendHeader(nil, frame.Header{Type: frame.TypeHeaders, Flags: frame.FlagEndHeaders | frame.FlagEndStream, Length: 1, Stream: 1}), 0x88))
		}()
		if head, err := s.ReadHead(); err != nil || head.Status != 200 || !head.EndStream {
			t.Errorf("ReadHead after the deadline was lifted: %+v, %v", head, err)
		}
	})
}

// TestB42PeerThatStopsReading: a peer that reads nothing freezes neither new requests, nor cancels, nor Close, and
// nothing is left behind.
func TestB42PeerThatStopsReading(t *testing.T) {
	inBubble(t, h2flow.Config{}, func(t *testing.T, c *h2flow.ClientConn, server net.Conn) {
		upload, err := c.OpenStream(context.Background(), &h2flow.Request{Method: "POST", Scheme: "https", Authority: "a", Path: "/"})
		if err != nil {
			t.Fatal(err)
		}
		uploaded := make(chan error, 1)
		go func() {
			_, err := upload.Write(make([]byte, 10<<20))
			uploaded <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		start := time.Now()
		s, err := c.OpenStream(ctx, &h2flow.Request{Method: "GET", Scheme: "https", Authority: "a", Path: "/", EndStream: true})
		if err == nil {
			_, err = s.ReadHead()
		}
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("the new request returned %v after %v", err, time.Since(start))
		}
		upload.Reset(frame.Cancel)
		if err := <-uploaded; !errors.Is(err, h2flow.ErrStreamClosed) || time.Since(start) != time.Second {
			t.Errorf("the cancelled upload returned %v after %v", err, time.Since(start))
		}
		c.Close()
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("Close returned after %v", d)
		}
	})
}

// TestB42WriteTimeout: a write that makes no progress for the timeout fails the connection.
//
// Contract: L3.
func TestB42WriteTimeout(t *testing.T) {
	inBubble(t, h2flow.Config{WriteTimeout: 7 * time.Second, PrefaceTimeout: -1}, func(t *testing.T, c *h2flow.ClientConn, server net.Conn) {
		start := time.Now()
		<-c.Done()
		if d := time.Since(start); d != 7*time.Second {
			t.Errorf("the connection ended after %v", d)
		}
		if err := c.Err(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
	})
}

// TestB44SilentServer: a server that never sends SETTINGS fails the requests when the time for it has passed.
func TestB44SilentServer(t *testing.T) {
	inBubble(t, h2flow.Config{}, func(t *testing.T, c *h2flow.ClientConn, server net.Conn) {
		go io.Copy(io.Discard, server)
		start := time.Now()
		s, err := c.OpenStream(context.Background(), &h2flow.Request{Method: "GET", Scheme: "https", Authority: "a", Path: "/", EndStream: true})
		if err == nil {
			_, err = s.ReadHead()
		}
		var ce *h2flow.ConnError
		if !errors.As(err, &ce) || ce.Code != frame.SettingsTimeout || time.Since(start) != 10*time.Second {
			t.Errorf("the request returned %v after %v", err, time.Since(start))
		}
	})
}
