package h2http

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptrace"
	"slices"
	"sync"

	"example.com/h2flow"
)

type tlsState = tls.ConnectionState

// A dial makes one connection for all who wait for it. It ends early only if nobody waits any more.
type dial struct {
	pool    *pool
	host    *host
	waiters int // guarded by the pool's mu
	cancel  context.CancelFunc
	trace   *dialTrace // of the request that started it; may be nil

	done chan struct{} // closed once pc and err are set
	pc   *poolConn
	err  error
}

// run makes the connection and puts it into the pool.
func (d *dial) run(ctx context.Context, t *Transport) {
	pc, err := t.dialConn(ctx, d.host)
	d.cancel()
	p := d.pool
	p.mu.Lock()
	d.host.dialing--
	unwanted := d.waiters == 0 && t.DisableKeepAlives
	if d.host.dial == d {
		d.host.dial = nil
	}
	if err == nil && !t.DisableKeepAlives {
		d.host.conns = append(d.host.conns, pc)
		pc.armIdleTimer()
	}
	p.forget(d.host)
	d.pc, d.err = pc, err
	p.mu.Unlock()
	close(d.done)
	if err != nil {
		return
	}
	if unwanted {
		pc.cc.Close()
		return
	}
	go pc.watch()
}

// wait returns the result of the dial, or leaves it when x is cancelled.
func (d *dial) wait(x *exchange) (*poolConn, error) {
	select {
	case <-d.done:
	case <-x.ctx.Done():
		d.leave(x)
		return nil, contextFailure(x.ctx)
	}
	if d.trace != nil {
		d.trace.stop(x)
	}
	return d.pc, d.err
}

func (d *dial) leave(x *exchange) {
	if d.trace != nil {
		d.trace.stop(x)
	}
	d.pool.mu.Lock()
	d.waiters--
	left := d.waiters == 0
	if left && d.host.dial == d {
		d.host.dial = nil
	}
	// Made for this request alone, and just then.
	unwanted := left && d.pc != nil && x.t.DisableKeepAlives
	d.pool.mu.Unlock()
	if left {
		d.cancel()
	}
	if unwanted {
		d.pc.cc.Close()
	}
}

// A dialTrace passes the hooks of a dial on to the request that started it, for as long as that waits.
type dialTrace struct {
	owner *exchange
	mu    sync.Mutex
	to    *httptrace.ClientTrace // nil once the owner has left
}

func (d *dialTrace) stop(x *exchange) {
	if x != d.owner {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.to = nil
}

// call runs f, which calls one hook if it is set.
func (d *dialTrace) call(f func(*httptrace.ClientTrace)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.to != nil {
		f(d.to)
	}
}

// attach replaces the trace in ctx by one that can be stopped.
func (d *dialTrace) attach(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(untraced{ctx}, &httptrace.ClientTrace{
		DNSStart: func(i httptrace.DNSStartInfo) {
			d.call(func(t *httptrace.ClientTrace) {
				if t.DNSStart != nil {
					t.DNSStart(i)
				}
			})
		},
		DNSDone: func(i httptrace.DNSDoneInfo) {
			d.call(func(t *httptrace.ClientTrace) {
				if t.DNSDone != nil {
					t.DNSDone(i)
				}
			})
		},
		ConnectStart: func(network, addr string) {
			d.call(func(t *httptrace.ClientTrace) {
				if t.ConnectStart != nil {
					t.ConnectStart(network, addr)
				}
			})
		},
		ConnectDone: func(network, addr string, err error) {
			d.call(func(t *httptrace.ClientTrace) {
				if t.ConnectDone != nil {
					t.ConnectDone(network, addr, err)
				}
			})
		},
		TLSHandshakeStart: func() {
			d.call(func(t *httptrace.ClientTrace) {
				if t.TLSHandshakeStart != nil {
					t.TLSHandshakeStart()
				}
			})
		},
		TLSHandshakeDone: func(s tls.ConnectionState, err error) {
			d.call(func(t *httptrace.ClientTrace) {
				if t.TLSHandshakeDone != nil {
					t.TLSHandshakeDone(s, err)
				}
			})
		},
	})
}

// untraced is a context without its trace; all other values stay.
type untraced struct{ context.Context }

func (u untraced) Value(key any) any {
	v := u.Context.Value(key)
	if _, ok := v.(*httptrace.ClientTrace); ok {
		return nil
	}
	return v
}

// dialConn makes a connection and starts HTTP/2 on it.
func (t *Transport) dialConn(ctx context.Context, h *host) (*poolConn, error) {
	nc, err := t.dialNet(ctx, h.key)
	if err != nil {
		return nil, err
	}
	pc := &poolConn{t: t, host: h}
	if s, ok := nc.(interface{ ConnectionState() tls.ConnectionState }); ok {
		state := s.ConnectionState()
		pc.tls = &state
	}
	if pc.cc, err = h2flow.NewClientConn(nc, t.engineConfig()); err != nil {
		nc.Close()
		return nil, err
	}
	return pc, nil
}

func (t *Transport) dialNet(ctx context.Context, key hostKey) (net.Conn, error) {
	if key.scheme == "http" {
		return t.dialPlain(ctx, key.addr)
	}
	if t.DialTLSContext != nil {
		nc, err := t.DialTLSContext(ctx, "tcp", key.addr)
		if err != nil {
			return nil, err
		}
		return t.secured(ctx, nc)
	}
	nc, err := t.dialPlain(ctx, key.addr)
	if err != nil {
		return nil, err
	}
	return t.secured(ctx, tls.Client(nc, t.tlsConfig(key.addr)))
}

func (t *Transport) dialPlain(ctx context.Context, addr string) (net.Conn, error) {
	if t.DialContext != nil {
		return t.DialContext(ctx, "tcp", addr)
	}
	d := net.Dialer{Timeout: defaultDialTimeout}
	return d.DialContext(ctx, "tcp", addr)
}

// protocolName is the name of HTTP/2 over TLS in ALPN. See RFC 9113, Section 3.2.
const protocolName = "h2"

func (t *Transport) tlsConfig(addr string) *tls.Config {
	cfg := &tls.Config{}
	if t.TLSClientConfig != nil {
		cfg = t.TLSClientConfig.Clone()
	}
	// Nothing but HTTP/2 is spoken here, so nothing else is offered. RFC 9113, Section 3.2.
	cfg.NextProtos = []string{protocolName}
	// RFC 9113, Section 9.2.
	cfg.MinVersion = max(cfg.MinVersion, tls.VersionTLS12)
	if cfg.ServerName == "" {
		cfg.ServerName, _, _ = net.SplitHostPort(addr)
	}
	return cfg
}

// secured finishes the TLS handshake and checks what was agreed, before an octet of HTTP/2 is sent. A connection that
// cannot tell is taken on trust.
func (t *Transport) secured(ctx context.Context, nc net.Conn) (net.Conn, error) {
	if tc, ok := nc.(*tls.Conn); ok && !tc.ConnectionState().HandshakeComplete {
		if err := t.handshake(ctx, tc); err != nil {
			nc.Close()
			return nil, err
		}
	}
	if s, ok := nc.(interface{ ConnectionState() tls.ConnectionState }); ok {
		if err := t.checkTLS(s.ConnectionState()); err != nil {
			nc.Close()
			return nil, err
		}
	}
	return nc, nil
}

func (t *Transport) handshake(ctx context.Context, tc *tls.Conn) error {
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.TLSHandshakeStart != nil {
		trace.TLSHandshakeStart()
	}
	limited := ctx
	limit := timeout(t.TLSHandshakeTimeout, defaultTLSHandshakeTimeout)
	if limit > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	err := tc.HandshakeContext(limited)
	if err != nil && limited.Err() == context.DeadlineExceeded {
		err = &TimeoutError{"the TLS handshake"}
	}
	if trace != nil && trace.TLSHandshakeDone != nil {
		trace.TLSHandshakeDone(tc.ConnectionState(), err)
	}
	return err
}

// errNoALPN says that the peer did not agree on HTTP/2.
func errNoALPN(agreed string) error {
	if agreed == "" {
		agreed = "no protocol"
	}
	return errors.New("h2http: the server does not agree to HTTP/2 over TLS (ALPN h2); it chose " + agreed)
}

// checkTLS says whether HTTP/2 may be spoken over what the handshake agreed on. See RFC 9113, Sections 3.2 and 9.2.
func (t *Transport) checkTLS(s tls.ConnectionState) error {
	if s.NegotiatedProtocol != protocolName {
		return errNoALPN(s.NegotiatedProtocol)
	}
	if s.Version < tls.VersionTLS12 {
		return errors.New("h2http: HTTP/2 needs TLS 1.2 or higher, not " + tls.VersionName(s.Version))
	}
	// TLS 1.2 has suites that HTTP/2 prohibits. All but those with ephemeral keys and AEAD are on the list.
	// RFC 9113, Section 9.2.2 and Appendix A.
	if s.Version == tls.VersionTLS12 && !slices.Contains(permittedSuites, s.CipherSuite) &&
		!t.permitProhibitedCipherSuites() {
		return errors.New("h2http: INADEQUATE_SECURITY: the server chose the cipher suite " +
			tls.CipherSuiteName(s.CipherSuite) + ", which HTTP/2 prohibits")
	}
	return nil
}

// permittedSuites are the TLS 1.2 suites of crypto/tls that HTTP/2 allows.
var permittedSuites = []uint16{
	tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
}
