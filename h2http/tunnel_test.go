package h2http_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"github.com/google/go-cmp/cmp"
)

var extendedConnect = frame.Setting{ID: frame.SettingEnableConnectProtocol, Value: 1}

// webSocket asks for another protocol.
func webSocket(t *testing.T) *http.Request {
	req := newRequest(t, http.MethodConnect, "http://a.example/chat?room=1", nil)
	req.Header[":protocol"] = []string{"websocket"}
	req.Header.Set("Sec-WebSocket-Version", "13")
	return req
}

// TestAnExtendedConnectIsANetConn, once the server has said that it may be asked for.
//
// Contract: R14.
func TestAnExtendedConnectIsANetConn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, func(s *peer.Server) {
			s.Ignore = peer.IgnoreWindowUpdates
			time.Sleep(time.Second) // the client has to wait for the server's SETTINGS
			s.Greet(extendedConnect)
			h := s.WantHeaders("the request")
			want := fields(":method", "CONNECT", ":protocol", "websocket", ":scheme", "http", ":authority", "a.example",
				":path", "/chat?room=1", "sec-websocket-version", "13", "user-agent", "h2flow/1")
			if diff := cmp.Diff(want, h.Fields); diff != "" {
				s.Fail("(-want +got):\n%s", diff)
			}
			s.Send(head(h.Stream, "200", "sec-websocket-protocol", "chat"))
			s.Want("octets go up", data(h.Stream, "ping"))
			s.Send(data(h.Stream, "pong"))
			s.Want("one direction ends", lastData(h.Stream, ""))
			s.Send(lastData(h.Stream, "bye"))
			untilClosed(s)
		})
		start := time.Now()
		c, err := tr.OpenTunnel(webSocket(t))
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != time.Second || c.Header.Get("Sec-WebSocket-Protocol") != "chat" {
			t.Errorf("open after %v, with %v", took, c.Header)
		}
		var nc net.Conn = c
		if _, err := nc.Write([]byte("ping")); err != nil {
			t.Error(err)
		}
		buf := make([]byte, 10)
		if n, err := nc.Read(buf); string(buf[:n]) != "pong" || err != nil {
			t.Errorf("%q, %v", buf[:n], err)
		}
		nc.SetReadDeadline(time.Now().Add(time.Second))
		if err := c.CloseWrite(); err != nil {
			t.Error(err)
		}
		if rest, err := io.ReadAll(nc); string(rest) != "bye" || err != nil {
			t.Errorf("%q, %v", rest, err)
		}
		if nc.Close(); nc.LocalAddr() == nil || nc.RemoteAddr() == nil || c.Stream().ID() != 1 {
			t.Error("no addresses, or another stream")
		}
		if _, err := nc.Read(buf); !errors.Is(err, net.ErrClosed) && err != io.EOF {
			t.Errorf("Read after Close: %v", err)
		}
	})
}

// TestTunnelCalls end with deadlines, the context, and Close, and the connection is free for others.
func TestTunnelCalls(t *testing.T) {
	ends := []struct {
		name string
		end  func(c *h2http.Tunnel, cancel context.CancelFunc)
		want error
	}{
		{"deadline", func(c *h2http.Tunnel, _ context.CancelFunc) { c.SetDeadline(time.Now()) }, os.ErrDeadlineExceeded},
		{"context", func(_ *h2http.Tunnel, cancel context.CancelFunc) { cancel() }, context.Canceled},
		{"Close", func(c *h2http.Tunnel, _ context.CancelFunc) { c.Close() }, net.ErrClosed},
	}
	for _, tt := range ends {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, _ := scripted(t, &h2http.Transport{}, func(s *peer.Server) {
					s.Ignore = peer.IgnoreWindowUpdates
					s.Greet(extendedConnect)
					h := s.WantHeaders("the request")
					s.Send(head(h.Stream, "200"))
					untilClosed(s)
				})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				c, err := tr.OpenTunnel(webSocket(t).WithContext(ctx))
				if err != nil {
					t.Fatal(err)
				}
				results := make(chan error, 2)
				go func() { _, err := c.Read(make([]byte, 1)); results <- err }()
				go func() { _, err := io.Copy(c, endless{}); results <- err }()
				synctest.Wait()
				tt.end(c, cancel)
				for range 2 {
					if err := <-results; !errors.Is(err, tt.want) {
						t.Errorf("error %v, want %v", err, tt.want)
					}
				}
				c.Close()
				if active := tr.Stats().Hosts[0].Conns[0].Active; active != 0 {
					t.Errorf("%d requests are in progress after Close", active)
				}
			})
		})
	}
}

// TestARefusedTunnel keeps what the server said; a server that allows no other protocols is not asked.
func TestARefusedTunnel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, func(s *peer.Server) {
			s.Ignore = peer.IgnoreWindowUpdates
			s.Greet()
			h := s.WantHeaders("the request for a tunnel, and no other")
			if value(h, ":authority") != "target.example:22" || value(h, ":path") != "(none)" {
				s.Fail("%v", h)
			}
			s.Send(head(h.Stream, "403"), lastData(h.Stream, "not there"))
			untilClosed(s)
		})
		if _, err := tr.OpenTunnel(webSocket(t)); !errors.Is(err, conn.ErrExtendedConnect) {
			t.Errorf("error %v, want ErrExtendedConnect", err)
		}
		req := connect(t, "target.example:22", nil)
		req.URL.Host = "a.example" // as the first
		_, err := tr.OpenTunnel(req)
		var refused *h2http.TunnelError
		if !errors.As(err, &refused) {
			t.Fatalf("error %v, want a *TunnelError", err)
		}
		body, err := io.ReadAll(refused.Response.Body)
		if refused.Response.StatusCode != 403 || string(body) != "not there" || err != nil {
			t.Errorf("%v %q, %v", refused, body, err)
		}
		if _, err := tr.OpenTunnel(newRequest(t, "GET", "http://a.example/", nil)); err == nil {
			t.Error("a GET opened a tunnel")
		}
	})
}

// TestPriorities: the field passes as it is, and PRIORITY_UPDATE follows while the response is being read.
//
// Contract: R13.
func TestPriorities(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, greeted(func(s *peer.Server) {
			h := s.WantHeaders("the request")
			if got := value(h, "priority"); got != "u=5, i" {
				s.Fail("priority %q", got)
			}
			s.Send(head(h.Stream, "200"))
			s.Want("the response matters more now", frame.PriorityUpdate{Prioritized: h.Stream, Value: []byte("u=0")})
			s.Send(lastData(h.Stream, "done"))
			untilClosed(s)
		}, frame.Setting{ID: frame.SettingNoRFC7540Priorities, Value: 1}))
		req := newRequest(t, "GET", "http://a.example/", nil)
		req.Header.Set("Priority", "u=5, i")
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if !h2http.StreamOf(resp).UpdatePriority("u=0") {
			t.Error("the server was not told")
		}
		if body, err := io.ReadAll(resp.Body); string(body) != "done" || err != nil {
			t.Errorf("%q, %v", body, err)
		}
		if h2http.StreamOf(&http.Response{Body: http.NoBody}) != nil {
			t.Error("a response without a body has a stream")
		}
	})
}
