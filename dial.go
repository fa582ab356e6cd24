package h2flow

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

// Dial connects to addr, "host:port", by TCP and TLS 1.2 or newer, offers HTTP/2 alone, and returns the connection
// once the handshake is done. The peer's SETTINGS are not waited for, so that the first request needs no further round
// trip. A peer that does not choose HTTP/2 is an error that matches ErrProtocolNotNegotiated. See RFC 9113, Section 3.2.
func Dial(ctx context.Context, addr string, cfg *Config) (*ClientConn, error) {
	if cfg == nil {
		cfg = &Config{}
	}
	nc, err := cfg.dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	tc := tls.Client(nc, cfg.tlsConfig(addr))
	if d := timeoutOr(cfg.TLSHandshakeTimeout, defaultHandshakeTimeout); d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d, errors.New("TLS handshake timeout"))
		defer cancel()
	}
	if err := tc.HandshakeContext(ctx); err != nil {
		nc.Close()
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, fmt.Errorf("h2flow: TLS handshake with %s: %w", addr, err)
	}
	c, err := NewClientConn(tc, cfg)
	if err != nil {
		nc.Close()
		return nil, err
	}
	return c, nil
}

// DialCleartext connects to addr, "host:port", by TCP without TLS, and speaks HTTP/2 at once: the caller has to know
// that the peer does. See RFC 9113, Section 3.3.
func DialCleartext(ctx context.Context, addr string, cfg *Config) (*ClientConn, error) {
	if cfg == nil {
		cfg = &Config{}
	}
	nc, err := cfg.dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	return NewClientConn(nc, cfg)
}

func (cfg *Config) dial(ctx context.Context, addr string) (net.Conn, error) {
	dial := cfg.DialContext
	if dial == nil {
		dial = (&net.Dialer{Timeout: 30 * time.Second}).DialContext
	}
	nc, err := dial(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("h2flow: %w", err)
	}
	return nc, nil
}

// tlsConfig offers h2 and nothing else: h2c has no place in ALPN, and this package speaks no HTTP/1. RFC 9113,
// Section 3.2 (9113-3.2-1). TLS is 1.2 or newer. RFC 9113, Section 9.2 (9113-9.2-1).
func (cfg *Config) tlsConfig(addr string) *tls.Config {
	var t *tls.Config
	if cfg.TLSConfig != nil {
		t = cfg.TLSConfig.Clone()
	} else {
		t = &tls.Config{}
	}
	t.NextProtos = []string{"h2"}
	t.MinVersion = max(t.MinVersion, tls.VersionTLS12)
	t.Renegotiation = tls.RenegotiateNever // 9113-9.2.1-2
	if t.ServerName == "" {
		if host, _, err := net.SplitHostPort(addr); err == nil {
			t.ServerName = host
		}
	}
	return t
}

// checkTLS finishes the handshake of a TLS connection that the caller made, and demands that HTTP/2 was chosen: not a
// single octet is sent otherwise. RFC 9113, Section 3.3 (9113-3.3-1).
func checkTLS(tc *tls.Conn, timeout time.Duration) error {
	ctx := context.Background()
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	if err := tc.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("h2flow: TLS handshake: %w", err)
	}
	switch proto := tc.ConnectionState().NegotiatedProtocol; proto {
	case "h2":
		return nil
	case "":
		return fmt.Errorf("%w: it chose no protocol", ErrProtocolNotNegotiated)
	default:
		return fmt.Errorf("%w: it chose %q", ErrProtocolNotNegotiated, proto)
	}
}
