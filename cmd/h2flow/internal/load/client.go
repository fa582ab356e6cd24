package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
)

// userAgent is sent by all clients, so that their requests are of one size.
const userAgent = "h2flow-bench"

// A group is one connection with its lanes; for HTTP/1.1 as many connections as lanes.
type group interface {
	// lane returns a lane for one goroutine.
	lane() lane
	// beside downloads the Spec's Beside once and returns the number of its octets.
	beside(ctx context.Context) (int64, error)
	// hold opens a stream for Spec.Beside and returns it once a little of the body has come.
	hold(ctx context.Context) (io.Closer, error)
	// close ends the connections that are idle.
	close()
}

// A lane does one request at a time. do returns the octets of body that were moved.
type lane interface {
	do() (n int64, err error)
}

// A session is what the groups of one run have in common.
type session struct {
	spec Spec
	url  *url.URL
	tls  *tls.Config // nil in cleartext

	mu    sync.Mutex
	conns []net.Conn // for the end of an interrupted run
	over  bool
	proto string

	besideBytes atomic.Int64
}

func newSession(spec Spec) (*session, error) {
	u, err := spec.check()
	if err != nil {
		return nil, err
	}
	spec.BodyBuffer = spec.bodyBuffer()
	s := &session{spec: spec, url: u}
	if u.Scheme == "https" {
		s.tls = &tls.Config{InsecureSkipVerify: spec.Insecure, ServerName: u.Hostname()}
		if spec.CACert != "" {
			s.tls.RootCAs = x509.NewCertPool()
			if !s.tls.RootCAs.AppendCertsFromPEM([]byte(spec.CACert)) {
				return nil, errors.New("the certificates to trust contain none in PEM")
			}
		}
	}
	return s, nil
}

// newGroup returns the next connection, which its lanes open when they need it.
func (s *session) newGroup() group {
	switch s.spec.Client {
	case H2flow:
		return s.newH2flow()
	case H2flowRaw:
		return s.newRaw()
	case NetH2:
		return s.newNetH2()
	}
	return s.newHTTP1()
}

// dial makes every connection of the run. What it returns is the plain TCP connection: a wrapper would hide from
// the clients what it can do.
func (s *session) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if s.spec.Dial != "" {
		addr = s.spec.Dial
	}
	nc, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		nc.Close()
		return nil, net.ErrClosed
	}
	s.conns = append(s.conns, nc)
	return nc, nil
}

// abort closes all connections, so that everybody who waits fails.
func (s *session) abort() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for _, nc := range s.conns {
		nc.Close()
	}
}

// spoke notes what the server speaks, from a response's major version.
func (s *session) spoke(major int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proto = "HTTP/1.1"
	if major == 2 {
		s.proto = "HTTP/2"
	}
}

// perGroup is how many connections HTTP/1.1 needs in each group.
func (s *session) perGroup() int {
	if s.spec.Beside != "" {
		return s.spec.Streams + 1
	}
	return s.spec.Streams
}

// besideCounter counts and throws away.
func (s *session) besideCounter() io.Writer { return (*byteCounter)(&s.besideBytes) }

type byteCounter atomic.Int64

func (c *byteCounter) Write(p []byte) (int, error) {
	(*atomic.Int64)(c).Add(int64(len(p)))
	return len(p), nil
}

// header is the head of every request for net/http's types.
func (s *session) header() http.Header { return http.Header{"User-Agent": {userAgent}} }

// moved is what a request counts for: the octets of its own body, or those of the response, which must be as many as
// the Spec says.
func (s *session) moved(received int64) (int64, error) {
	switch {
	case s.spec.Op == Post:
		return s.spec.Size, nil
	case s.spec.Size != AnySize && received != s.spec.Size:
		return received, &sizeError{want: s.spec.Size, got: received}
	}
	return received, nil
}
