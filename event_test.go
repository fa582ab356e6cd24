package h2flow_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/strategy"
	"github.com/google/go-cmp/cmp"
)

// An eventLog keeps what a hook is told, but for the flow control's decisions, as lines.
type eventLog struct {
	mu        sync.Mutex
	lines     []string
	decisions int
	conns     map[uint64]bool
}

func (l *eventLog) add(ev h2flow.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conns == nil {
		l.conns = map[uint64]bool{}
	}
	l.conns[ev.Conn] = true
	line := ev.Kind.String()
	switch ev.Kind {
	case h2flow.FlowDecided:
		l.decisions++
		return
	case h2flow.FrameSent, h2flow.FrameReceived:
		line += " " + ev.Frame.Header.Type.String()
	case h2flow.FlowOpened:
		line += fmt.Sprintf(" %d %d", ev.Windows.Stream, ev.Windows.Conn)
	case h2flow.StreamHead:
		line += fmt.Sprintf(" %d %d %v", ev.Status, ev.N, ev.End)
	case h2flow.AltSvcReceived:
		line += fmt.Sprintf(" %s %s", ev.AltSvc.Origin, ev.AltSvc.Value)
	case h2flow.OriginReceived:
		for o := range ev.Origins.All() {
			line += " " + string(o)
		}
	}
	if ev.Stream != 0 {
		line += fmt.Sprintf(" stream=%d", ev.Stream)
	}
	if ev.Err != nil {
		line += " err=" + ev.Err.Error()
	}
	l.lines = append(l.lines, line)
}

func (l *eventLog) taken() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// TestEventsTellTheLifeOfAConnection, in order, from its beginning to its end.
//
// Contract: O1, O6.
func TestEventsTellTheLifeOfAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		done := peer.Serve(server, peer.HPACK, func(s *peer.Server) {
			s.Greet()
			h := s.WantHeaders("the request")
			s.Send(frame.AltSvc{Origin: []byte("https://a.example"), Value: []byte(`h3=":443"`)})
			s.Send(frame.MakeOrigin("https://b.example"))
			s.Send(peer.Headers{Stream: h.Stream, Fields: []frame.Field{{Name: ":status", Value: "200"}}})
			s.Send(frame.Data{Stream: h.Stream, Data: []byte("body"), EndStream: true})
			s.WantHeaders("the second request")
			s.Send(frame.GoAway{LastStream: 1, Code: frame.EnhanceYourCalm})
			io.Copy(io.Discard, s.Conn())
		})
		var log eventLog
		c, err := h2flow.NewClientConn(client, &h2flow.Config{Flow: strategy.Fixed{}, OnEvent: log.add})
		if err != nil {
			t.Fatal(err)
		}
		req := &h2flow.Request{Method: "GET", Scheme: "http", Authority: "a.example", Path: "/", EndStream: true}
		s, err := c.OpenStream(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(s); string(body) != "body" || err != nil {
			t.Errorf("%q, %v", body, err)
		}
		s.Close()
		s2, err := c.OpenStream(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s2.ReadHead(); !errors.Is(err, h2flow.ErrNotProcessed) {
			t.Error(err)
		}
		<-c.Done()
		if err := <-done; err != nil {
			t.Error(err)
		}
		calm := "the peer sent GOAWAY; last stream 1; ENHANCE_YOUR_CALM"
		want := []string{
			"ConnOpened", "FlowOpened 65535 65535",
			"FrameSent HEADERS stream=1", "StreamOpened stream=1", "ConnSettings",
			"FrameReceived ALTSVC", "AltSvcReceived https://a.example h3=\":443\"",
			"FrameReceived ORIGIN", "OriginReceived https://b.example",
			"FrameReceived HEADERS stream=1", "StreamHead 200 -1 false stream=1",
			"FrameReceived DATA stream=1", "StreamClosed stream=1",
			"FrameSent HEADERS stream=3", "StreamOpened stream=3",
			"FrameReceived GOAWAY", "ConnGoAway err=" + calm,
			"StreamClosed stream=3 err=stream error: stream ID 3; ENHANCE_YOUR_CALM; received from peer: " + calm +
				" (not processed by the peer; safe to send again)",
			"ConnClosed", "FrameSent GOAWAY",
		}
		got := log.taken()
		var kept []string
		for _, l := range got { // window updates come when the strategy likes, acknowledgements when the writer runs
			if !strings.Contains(l, "WINDOW_UPDATE") && !strings.Contains(l, " SETTINGS") {
				kept = append(kept, l)
			}
		}
		if diff := cmp.Diff(want, kept); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if log.decisions == 0 || len(log.conns) != 1 {
			t.Errorf("%d decisions of the flow control, on %d connections", log.decisions, len(log.conns))
		}
	})
}

// TestStateChangesAreTold when a stream ends, when SETTINGS come, and when the connection is over.
func TestStateChangesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		done := peer.Serve(server, peer.HPACK, func(s *peer.Server) {
			s.Ignore = peer.IgnoreWindowUpdates
			s.Greet()
			h := s.WantHeaders("the request")
			s.Send(peer.Headers{Stream: h.Stream, EndStream: true, Fields: []frame.Field{{Name: ":status", Value: "200"}}})
			io.Copy(io.Discard, s.Conn())
		})
		var mu sync.Mutex
		told := 0
		c, err := h2flow.NewClientConn(client, &h2flow.Config{OnStateChange: func() { mu.Lock(); told++; mu.Unlock() }})
		if err != nil {
			t.Fatal(err)
		}
		took := func() int { mu.Lock(); defer mu.Unlock(); n := told; told = 0; return n }
		if err := c.AwaitSettings(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took() == 0 {
			t.Error("nothing was told about SETTINGS")
		}
		s, err := c.OpenStream(t.Context(), &h2flow.Request{
			Method: "GET", Scheme: "http", Authority: "a", Path: "/", EndStream: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for range c.Streams() {
			n++
		}
		if _, err := s.ReadHead(); err != nil || n != 1 {
			t.Errorf("error %v, %d streams, want 1", err, n)
		}
		if took() == 0 {
			t.Error("nothing was told about the end of a stream")
		}
		c.Close()
		if took() == 0 {
			t.Error("nothing was told about the end of the connection")
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestAwaitSettings ends with the context, and with the connection.
func TestAwaitSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		go io.Copy(io.Discard, server)
		c, err := h2flow.NewClientConn(client, &h2flow.Config{PrefaceTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.AwaitSettings(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the context's", err)
		}
		if err := c.AwaitSettings(t.Context()); !errors.Is(err, h2flow.ErrConnClosed) {
			t.Errorf("error %v, want ErrConnClosed", err)
		}
		c.Close()
		server.Close()
	})
}

// TestNilArgumentsAreErrors, not panics.
func TestNilArgumentsAreErrors(t *testing.T) {
	if _, err := h2flow.NewClientConn(nil, nil); err == nil || !strings.Contains(err.Error(), "net.Conn") {
		t.Errorf("NewClientConn(nil): %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		go io.Copy(io.Discard, server)
		c, err := h2flow.NewClientConn(client, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.OpenStream(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "Request") {
			t.Errorf("OpenStream(nil): %v", err)
		}
		c.Close()
		server.Close()
	})
}
