package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"

	"example.com/h2flow"
)

// A rawGroup is one connection of the low-level API.
type rawGroup struct {
	s    *session
	open func() (*h2flow.ClientConn, error) // once
}

func (s *session) newRaw() group {
	return &rawGroup{s: s, open: sync.OnceValues(s.openRaw)}
}

func (s *session) openRaw() (*h2flow.ClientConn, error) {
	cfg := &h2flow.Config{
		Flow: s.spec.Flow, DialContext: s.dial, TLSConfig: s.tls,
		ReadBufferSize: int(s.spec.ReadBuffer), WriteBufferSize: int(s.spec.WriteBuffer),
		MaxReadFrameSize: uint32(s.spec.MaxFrame),
	}
	addr := s.url.Host
	if s.url.Port() == "" {
		port := "80"
		if s.tls != nil {
			port = "443"
		}
		addr = net.JoinHostPort(s.url.Hostname(), port)
	}
	if s.tls != nil {
		return h2flow.Dial(context.Background(), addr, cfg)
	}
	return h2flow.DialCleartext(context.Background(), addr, cfg)
}

func (g *rawGroup) close() {
	if c, err := g.open(); err == nil {
		c.Close()
	}
}

func (g *rawGroup) lane() lane {
	u := g.s.url
	return &rawLane{
		group: g, buf: make([]byte, g.s.spec.BodyBuffer),
		req: &h2flow.Request{
			Method: strings.ToUpper(g.s.spec.Op), Scheme: u.Scheme, Authority: u.Host, Path: u.RequestURI(),
			Header:    g.head(),
			EndStream: g.s.spec.Op == Get || g.s.spec.Size == 0,
		},
	}
}

// head are the fields that net/http's clients send too.
func (g *rawGroup) head() []h2flow.Field {
	fields := []h2flow.Field{{Name: "user-agent", Value: userAgent}}
	if g.s.spec.Op == Post && !g.s.spec.Chunked {
		fields = append(fields, h2flow.Field{Name: "content-length", Value: fmt.Sprint(g.s.spec.Size)})
	}
	return fields
}

// beside implements group.
func (g *rawGroup) beside(ctx context.Context) (int64, error) {
	c, err := g.open()
	if err != nil {
		return 0, err
	}
	u, err := url.Parse(g.s.spec.Beside)
	if err != nil {
		return 0, err
	}
	stream, err := c.OpenStream(ctx, &h2flow.Request{
		Method: "GET", Scheme: u.Scheme, Authority: u.Host, Path: u.RequestURI(), EndStream: true,
	})
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	head, err := stream.ReadHead()
	for err == nil && head.Interim() {
		head, err = stream.ReadHead()
	}
	if err != nil {
		return 0, err
	}
	return stream.WriteTo(g.s.besideCounter())
}

type rawLane struct {
	group *rawGroup
	req   *h2flow.Request
	buf   []byte
	body  zeros
	spoke bool
}

func (l *rawLane) do() (int64, error) {
	c, err := l.group.open()
	if err != nil {
		return 0, err
	}
	stream, err := c.OpenStream(context.Background(), l.req)
	if err != nil {
		return 0, err
	}
	n, err := l.exchange(stream)
	if err != nil {
		stream.Close()
		return n, err
	}
	if !l.spoke {
		l.spoke = true
		l.group.s.spoke(2)
	}
	return l.group.s.moved(n)
}

func (l *rawLane) exchange(stream *h2flow.ClientStream) (int64, error) {
	if !l.req.EndStream {
		l.body.left = l.group.s.spec.Size
		_, err := stream.ReadFrom(&l.body)
		if err == nil {
			err = stream.CloseWrite()
		}
		if err != nil && !errors.Is(err, h2flow.ErrWriteStopped) {
			return 0, err
		}
	}
	head, err := stream.ReadHead()
	for err == nil && head.Interim() {
		head, err = stream.ReadHead()
	}
	if err != nil {
		return 0, err
	}
	n, err := drain(stream, l.buf, l.group.s.spec.Pace)
	if err == nil && (head.Status < 200 || head.Status > 299) {
		err = fmt.Errorf("the server answered %d", head.Status)
	}
	return n, err
}
