package peer_test

//lint:file-ignore SA1019 x/net's client and server are here as somebody else's, which take a net.Conn as it is.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"
)

// transport is another implementation's client over nc.
func transport(t *testing.T, nc net.Conn) *http2.ClientConn {
	t.Helper()
	cc, err := (&http2.Transport{StrictMaxConcurrentStreams: true}).NewClientConn(nc)
	if err != nil {
		t.Fatal(err)
	}
	return cc
}

func post(rt http.RoundTripper, body string) (string, error) {
	req, err := http.NewRequest("POST", "http://a.example/p", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	res, err := rt.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	return fmt.Sprint(res.StatusCode, " ", string(got)), err
}

// socketPair is a TCP connection to ourselves.
func socketPair(t *testing.T) (client, server net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

func TestServerAgainstAnotherClient(t *testing.T) {
	client, server := socketPair(t)
	upload := strings.Repeat("0123456789", 20000) // more than the windows of the start
	done := peer.Serve(server, peer.HPACK, func(s *peer.Server) {
		s.Ignore = peer.IgnoreWindowUpdates
		s.Greet(frame.Setting{ID: frame.SettingMaxConcurrentStreams, Value: 10})
		h := s.WantHeaders("the request opens a stream")
		if h.Stream != 1 || h.Fields[0] != (frame.Field{Name: ":authority", Value: "a.example"}) {
			s.Fail("request %v", h)
		}
		body, trailers := s.Body(1)
		if string(body) != upload || trailers != nil {
			s.Fail("%d octets of body, trailers %v", len(body), trailers)
		}
		s.Send(
			peer.Headers{Stream: 1, Fields: []frame.Field{{Name: ":status", Value: "103"}}},
			peer.Headers{Stream: 1, Fields: []frame.Field{{Name: ":status", Value: "200"}}, Continuations: 2},
			frame.Data{Stream: 1, Data: []byte("well"), Padded: true, PadLength: 8},
			peer.Headers{Stream: 1, Fields: []frame.Field{{Name: "x", Value: "y"}}, EndStream: true},
		)
		if s.Check() != nil || s.Settled() != nil {
			s.Fail("settled: %v", s.Settled())
		}
	})
	got, err := post(transport(t, client), upload)
	if err != nil || got != "200 well" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestServerFindsFailures(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script func(s *peer.Server)
		want   string
	}{
		{"silence", func(s *peer.Server) { s.Read(); s.Read() }, "timeout"},
		{"another value", func(s *peer.Server) { s.Want("a PING comes first", frame.Ping{}) },
			"a PING comes first:\n  want PING"},
		{"no field section", func(s *peer.Server) { s.WantHeaders("a request comes first") }, "got  SETTINGS"},
		{"no close", func(s *peer.Server) { s.Read(); s.WantClose("the client leaves") }, "the connection stays open"},
		{"something before the close", func(s *peer.Server) { s.WantClose("the client leaves") }, "got  SETTINGS"},
		{"own reason", func(s *peer.Server) { s.Fail("reason %d", 7) }, "reason 7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, server := socketPair(t)
			if _, err := client.Write(octets([]any{peer.Raw(frame.ClientPreface), frame.MakeSettings()})); err != nil {
				t.Fatal(err)
			}
			err := <-peer.Serve(server, peer.Plain, func(s *peer.Server) {
				s.Timeout = 50 * time.Millisecond
				tt.script(s)
			})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestServerReportsViolations(t *testing.T) {
	client, server := socketPair(t)
	done := peer.Serve(server, peer.Plain, func(s *peer.Server) { s.Read(); s.WantClose("the client leaves") })
	_, err := client.Write(octets([]any{peer.Raw(frame.ClientPreface), frame.MakeSettings(), pong}))
	if err = errors.Join(err, client.Close()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "got  PING") ||
		!strings.Contains(err.Error(), "answers nothing") || !strings.Contains(err.Error(), ">  PING") {
		t.Errorf("got %v", err)
	}
}

func TestServerAnswersPings(t *testing.T) {
	client, server := socketPair(t)
	done := peer.Serve(server, peer.Plain, func(s *peer.Server) {
		s.Greet()
		s.Want("another request comes", request(3))
	})
	_, err := client.Write(octets([]any{peer.Raw(frame.ClientPreface), frame.MakeSettings(), ping, request(1), ack, ack}))
	if err != nil {
		t.Fatal(err)
	}
	// Greet keeps the request for the script; it is not the one that is wanted.
	if err := <-done; err == nil || !strings.Contains(err.Error(), "got  HEADERS stream=1 ") {
		t.Errorf("got %v", err)
	}
	got, err := io.ReadAll(client)
	want := octets([]any{frame.MakeSettings(), ack, pong})
	if err != nil && !bytes.Equal(got, want) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the server wrote (-want +got)\n%s", diff)
	}
}

// A tap shows the octets of a server's connection to a Shadow.
type tap struct {
	net.Conn
	mu     *sync.Mutex
	shadow *peer.Shadow
}

func (t tap) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shadow.FromClient(p[:n])
	return n, err
}

func (t tap) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.shadow.FromServer(p)
	t.mu.Unlock()
	return t.Conn.Write(p)
}

// Between a client and a server of other people, with many requests at once, the Shadow has nothing to complain of.
func TestShadowHasNoFalseAlarm(t *testing.T) {
	client, server := socketPair(t)
	var mu sync.Mutex
	shadow := peer.NewShadow(peer.HPACK)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		(&http2.Server{MaxConcurrentStreams: 5}).ServeConn(tap{server, &mu, shadow}, &http2.ServeConnOpts{
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(w, r.Body)
			}),
		})
	}()
	rt := transport(t, client)
	// Its answer says that the limit of streams has arrived.
	if err := rt.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	body := strings.Repeat("x", 300_000)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got, err := post(rt, body); err != nil || got != "200 "+body {
				t.Errorf("%d octets, %v", len(got), err)
			}
		})
	}
	wg.Wait()
	client.Close()
	<-ended
	if err := shadow.Check(); err != nil {
		t.Error(err)
	}
	if n := shadow.OpenStreams(); n != 0 {
		t.Errorf("%d streams are open", n)
	}
}
