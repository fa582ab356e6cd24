package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"example.com/h2flow/h2http"
)

// transporter is what the clients with net/http's interface have in common.
type transporter interface {
	http.RoundTripper
	CloseIdleConnections()
}

// An httpGroup is a client with net/http's interface.
type httpGroup struct {
	s  *session
	rt transporter
}

func (s *session) newHTTP1() group {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	t := &http.Transport{
		Protocols: &protocols, TLSClientConfig: s.tls.Clone(), DialContext: s.dial, DisableCompression: true,
		MaxConnsPerHost: s.perGroup(), MaxIdleConnsPerHost: s.perGroup(),
		ReadBufferSize: int(s.spec.ReadBuffer), WriteBufferSize: int(s.spec.WriteBuffer),
	}
	return &httpGroup{s, t}
}

func (s *session) newNetH2() group {
	var protocols http.Protocols
	if s.tls != nil {
		protocols.SetHTTP2(true)
	} else {
		protocols.SetUnencryptedHTTP2(true)
	}
	t := &http.Transport{
		Protocols: &protocols, TLSClientConfig: s.tls.Clone(), DialContext: s.dial, DisableCompression: true,
		ReadBufferSize: int(s.spec.ReadBuffer), WriteBufferSize: int(s.spec.WriteBuffer),
		// One connection, as many streams as the server allows; the others wait.
		HTTP2: &http.HTTP2Config{StrictMaxConcurrentRequests: true, MaxReadFrameSize: int(s.spec.MaxFrame)},
	}
	return &httpGroup{s, t}
}

func (s *session) newH2flow() group {
	t := &h2http.Transport{
		AllowHTTP: true, TLSClientConfig: s.tls, DialContext: s.dial, DisableCompression: true, MaxConnsPerHost: 1,
		Flow:           s.spec.Flow,
		ReadBufferSize: int(s.spec.ReadBuffer), WriteBufferSize: int(s.spec.WriteBuffer),
		MaxReadFrameSize: s.spec.MaxFrame,
	}
	return &httpGroup{s, t}
}

func (g *httpGroup) close() { g.rt.CloseIdleConnections() }

func (g *httpGroup) lane() lane {
	l := &httpLane{s: g.s, rt: g.rt, buf: make([]byte, g.s.spec.BodyBuffer)}
	l.req = &http.Request{
		Method: strings.ToUpper(g.s.spec.Op), URL: g.s.url, Host: g.s.url.Host, Header: g.s.header(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if g.s.spec.Op == Post && g.s.spec.Size > 0 {
		l.body = new(zeros)
		l.req.ContentLength = g.s.spec.Size
		if g.s.spec.Chunked {
			l.req.ContentLength = -1
		}
	}
	return l
}

// beside implements group.
func (g *httpGroup) beside(ctx context.Context) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.s.spec.Beside, nil)
	if err != nil {
		return 0, err
	}
	req.Header = g.s.header()
	resp, err := g.rt.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	return io.Copy(g.s.besideCounter(), resp.Body)
}

// An httpLane uses one request after the other; net/http allows that once the body of the response is closed.
type httpLane struct {
	s     *session
	rt    transporter
	req   *http.Request
	body  *zeros // nil: none
	buf   []byte
	spoke bool
}

func (l *httpLane) do() (int64, error) {
	if l.body != nil {
		l.body = &zeros{left: l.s.spec.Size} // a new one, since the old one may still be read after an early answer
		l.req.Body = l.body
	}
	resp, err := l.rt.RoundTrip(l.req)
	if err != nil {
		return 0, err
	}
	n, err := drain(resp.Body, l.buf, l.s.spec.Pace)
	resp.Body.Close()
	if err != nil {
		return n, err
	}
	if !l.spoke {
		l.spoke = true
		l.s.spoke(resp.ProtoMajor)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return n, fmt.Errorf("the server answered %s", resp.Status)
	}
	return l.s.moved(n)
}
