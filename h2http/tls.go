package h2http

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"slices"

	"example.com/h2flow"
)

type tlsState = tls.ConnectionState

func (t *Transport) dialNet(ctx context.Context, h *host) (net.Conn, error) {
	key := h.key
	if key.scheme == "https" && t.DialTLSContext != nil && h.proxy == nil {
		nc, err := t.DialTLSContext(ctx, "tcp", key.addr)
		if err != nil {
			return nil, err
		}
		return t.secured(ctx, nc)
	}
	var nc net.Conn
	var err error
	if h.proxy != nil {
		nc, err = t.dialThrough(ctx, h.proxy, key.addr)
	} else {
		nc, err = t.dialPlain(ctx, key.addr)
	}
	if err != nil || key.scheme == "http" {
		return nc, err
	}
	return t.secured(ctx, tls.Client(nc, t.tlsConfigFor(key.addr, protocolName)))
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

// tlsConfigFor is the configuration for a connection to addr that speaks protocol, and offers nothing else.
func (t *Transport) tlsConfigFor(addr, protocol string) *tls.Config {
	cfg := &tls.Config{}
	if t.TLSClientConfig != nil {
		cfg = t.TLSClientConfig.Clone()
	}
	// Nothing but HTTP/2 is spoken to servers, so nothing else is offered. RFC 9113, Section 3.2.
	cfg.NextProtos = []string{protocol}
	// RFC 9113, Section 9.2.
	cfg.MinVersion = max(cfg.MinVersion, tls.VersionTLS12)
	cfg.Renegotiation = tls.RenegotiateNever // 9113-9.2.1-2
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
	switch {
	case err == nil:
	case limited.Err() == context.DeadlineExceeded:
		err = &TimeoutError{"the TLS handshake"}
	default:
		err = fmt.Errorf("h2http: TLS handshake with %v: %w", tc.RemoteAddr(), err)
	}
	if trace != nil && trace.TLSHandshakeDone != nil {
		trace.TLSHandshakeDone(tc.ConnectionState(), err)
	}
	return err
}

// checkTLS says whether HTTP/2 may be spoken over what the handshake agreed on. See RFC 9113, Sections 3.2 and 9.2.
func (t *Transport) checkTLS(s tls.ConnectionState) error {
	if s.NegotiatedProtocol != protocolName {
		return fmt.Errorf("%w: it chose %q", h2flow.ErrProtocolNotNegotiated, s.NegotiatedProtocol)
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
