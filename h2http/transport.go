package h2http

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/flow"
)

// A Transport is an http.RoundTripper that speaks HTTP/2. The zero value is ready to use; fields must not be changed
// once it is in use, and it must not be copied. All methods may be called from any number of goroutines.
//
// Unless a field says otherwise, a timeout of zero means the value that http.DefaultTransport has, and a negative one
// means none.
type Transport struct {
	// Flow is the flow-control strategy: it decides how much the server may send, on each stream and on the
	// connection. Each connection gets a fresh strategy from it. Nil means the engine's default, which grows both
	// windows as the path needs.
	//
	// A download moves at most one window per round trip, and the lower of the two windows counts: raising only the
	// stream window does not lift the ceiling while the connection window stays at the protocol's 65,535 octets, and
	// the connection window is shared by all streams. Fixed large windows are no free cure either: every connection
	// may then hold that much memory, and a server that abuses it will. Prefer a strategy that grows both.
	Flow flow.Config

	// ReadBufferSize and WriteBufferSize are the sizes of a connection's buffers, in octets. Zero means the engine's
	// defaults, 64 KiB or more.
	ReadBufferSize, WriteBufferSize int

	// MaxReadFrameSize is the largest frame to receive, in octets, sent as SETTINGS_MAX_FRAME_SIZE. Zero means
	// DefaultMaxReadFrameSize; negative sends no setting, which allows 16,384 octets.
	MaxReadFrameSize int64

	// MaxHeaderListSize limits a response head, counted as name + value + 32 octets for each field, and is sent as
	// SETTINGS_MAX_HEADER_LIST_SIZE. Zero means MaxResponseHeaderBytes, or DefaultMaxHeaderListSize if that is zero
	// too; negative sends no setting, and the engine's own limit holds.
	MaxHeaderListSize int64

	// MaxResponseHeaderBytes is the name that http.Transport has for MaxHeaderListSize; it counts if that is zero.
	MaxResponseHeaderBytes int64

	// TLSClientConfig configures TLS. It is cloned; the protocol offered is always h2 alone, the version at least
	// TLS 1.2, and the server name, if empty, the host of the URL.
	TLSClientConfig *tls.Config

	// TLSHandshakeTimeout limits the TLS handshake.
	TLSHandshakeTimeout time.Duration

	// DialContext makes the connections below TLS, and those of http URLs. Nil means a net.Dialer with the settings
	// of http.DefaultTransport. Its context carries the values of the request that caused the dial, but not its
	// deadline: the dial is shared, and is cancelled when no request waits for it any more.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)

	// DialTLSContext makes the connections of https URLs; TLSClientConfig, TLSHandshakeTimeout and DialContext are
	// not used then. A connection that can tell its ConnectionState must have agreed on h2.
	DialTLSContext func(ctx context.Context, network, addr string) (net.Conn, error)

	// AllowHTTP permits http URLs. They are spoken to in cleartext HTTP/2 without asking the server first ("prior
	// knowledge"), which fails with a server that speaks HTTP/1 only.
	AllowHTTP bool

	// DisableCompression stops the Transport from asking for gzip, and from undoing it, of its own accord.
	DisableCompression bool

	// DisableKeepAlives gives each request a connection of its own, which is closed after it.
	DisableKeepAlives bool

	// Policy chooses the connection of each request. Nil means FewestConns.
	Policy Policy

	// MaxConnsPerHost limits the connections to one host, dials included. Requests above the limit of concurrent
	// streams of all of them wait in order for a stream to end. Zero means no limit: another connection is opened.
	// 1 keeps every request of a host on a single connection, as long as that shows life. With DisableKeepAlives it
	// does not count.
	MaxConnsPerHost int

	// MinConnsPerHost is how many connections to one host are opened, in the background, when the first is, and kept
	// although they are idle. It counts less than MaxConnsPerHost. Zero means that none is opened before it is needed.
	MinConnsPerHost int

	// StrictMaxConcurrentRequests makes requests above the limit of concurrent streams wait where otherwise another
	// connection would be opened.
	StrictMaxConcurrentRequests bool

	// IdleConnTimeout is how long a connection without requests is kept.
	IdleConnTimeout time.Duration

	// MaxIdleConns limits the connections without requests, to all hosts together: above it, the one that has been idle
	// longest is closed. Zero means no limit.
	MaxIdleConns int

	// MaxConnAge is how long a connection takes requests. Up to a fifth less, at random, it takes no new ones, and is
	// closed when its last one has ended, so that load spreads anew over servers that come and go. Zero means no limit.
	MaxConnAge time.Duration

	// Proxy returns the proxy for a request, nil for none. Connections to all hosts, of http URLs too, go through it by
	// CONNECT; its URL is http or https, with user and password if it asks for them. DialContext is what makes the
	// connection to it, and DialTLSContext is not used. Nil means no proxy; http.ProxyFromEnvironment does what the
	// environment says, and is the only way to have that read.
	Proxy func(*http.Request) (*url.URL, error)

	// ProxyConnectHeader are fields to send to proxies.
	ProxyConnectHeader http.Header

	// RetryIdempotent also sends requests again that the server may have acted on, if they are idempotent: by their
	// method, or because they have a field Idempotency-Key or X-Idempotency-Key. It concerns those whose connection broke,
	// fell silent or was ended before any of the response came; a stream that is reset alone is never tried again. Without
	// it only requests are that the server says, or cannot but have, not acted on.
	RetryIdempotent bool

	// Budget, if not nil, bounds the memory that all connections of the Transport together promise to their servers, and
	// those of other Transports that share it. See h2flow.Budget: n connections hold at most n x 65,535 octets and its
	// Max, however slowly their responses are read.
	Budget *h2flow.Budget

	// ResponseHeaderTimeout limits the wait for the response head once the request, its body included, was sent.
	ResponseHeaderTimeout time.Duration

	// ExpectContinueTimeout is how long a request with "Expect: 100-continue" waits for the server's word before
	// its body is sent all the same. Negative sends the body at once.
	ExpectContinueTimeout time.Duration

	// MaxConcurrentStreams is our own cap of streams open at once on one connection. The lower of it and the server's
	// SETTINGS_MAX_CONCURRENT_STREAMS counts. Zero means the server's alone.
	MaxConcurrentStreams uint32

	// AdvertiseMaxConcurrentStreams is the value of SETTINGS_MAX_CONCURRENT_STREAMS that is sent to the server. It
	// concerns streams that the server would open, that is, pushes, which are off: it limits nothing. Some servers
	// look at it all the same. Zero sends nothing.
	AdvertiseMaxConcurrentStreams uint32

	// StallTimeout is how long a response body may make no progress, and nothing be granted to the server, before a
	// read that could never go on fails with the state of both windows. Zero means 10 seconds, negative never.
	StallTimeout time.Duration

	// PingInterval is how long nothing may arrive, while requests are in progress, before a PING asks whether the
	// server is alive. Zero means 30 seconds, negative never.
	PingInterval time.Duration

	// PingTimeout is how long to wait for the answer before the connection is given up. Zero means 15 seconds.
	PingTimeout time.Duration

	// WriteTimeout is how long a write to the network may make no progress before the connection is given up. Zero
	// means the engine's default.
	WriteTimeout time.Duration

	// HTTP2 is accepted as http.Transport has it, so that code moves over unchanged. A field of the Transport that is
	// set counts more than the field here that means the same. MaxReceiveBufferPerConnection and
	// MaxReceiveBufferPerStream are constant windows (see Flow, whose warning applies), SendPingTimeout is
	// PingInterval, WriteByteTimeout is WriteTimeout; StrictMaxConcurrentRequests waits for a stream to end where
	// otherwise another connection would be opened. MaxConcurrentStreams concerns servers and is not used.
	HTTP2 *http.HTTP2Config

	// Logger, if not nil, is told about connections, at level Debug, and what went wrong on them, at level Warn; see
	// trace.Slog. Nil is silent.
	Logger *slog.Logger

	// OnEvent, if not nil, is told what happens on any connection, from several goroutines: its life, its streams, every
	// frame, and every decision of the flow control. What it is given is borrowed for the call. It must not call the
	// Transport. Package trace has functions for log/slog and qlog.
	OnEvent func(h2flow.Event)

	// OnFrame, if not nil, is told of every frame sent or received, on any connection, from several goroutines. What
	// it is given is borrowed for the call. It must not call the Transport.
	OnFrame func(h2flow.FrameTrace)

	pool pool
}

// What a Transport tells the server by default, in octets.
const (
	// DefaultMaxReadFrameSize is the value of SETTINGS_MAX_FRAME_SIZE: the cost of a frame is the same whatever its
	// size, so larger frames make a fast path cheaper.
	DefaultMaxReadFrameSize = 64 << 10
	// DefaultMaxHeaderListSize is the value of SETTINGS_MAX_HEADER_LIST_SIZE.
	DefaultMaxHeaderListSize = 256 << 10
)

// The timeouts that http.DefaultTransport has.
const (
	defaultDialTimeout           = 30 * time.Second
	defaultTLSHandshakeTimeout   = 10 * time.Second
	defaultIdleConnTimeout       = 90 * time.Second
	defaultExpectContinueTimeout = time.Second
)

var _ http.RoundTripper = (*Transport)(nil)

// RoundTrip sends one request and returns the response once its head has arrived. The caller must close the body of
// the response; closing it early cancels what is left of the exchange, the request body included.
//
// The error of a request that the server did not act on satisfies errors.Is(err, h2flow.ErrNotProcessed). Errors of
// the protocol are *h2flow.StreamError, *h2flow.ConnError or *h2flow.GoAwayError; errors of this package are
// *RequestError or *TimeoutError; a request that its context ended gives an error that is the context's error.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.pool.counters.requests.Add(1)
	x, err := t.newExchange(req)
	if err != nil {
		t.pool.counters.failures.Add(1)
		return nil, err
	}
	resp, err := x.run()
	if err != nil {
		t.pool.counters.failures.Add(1)
	}
	return resp, err
}

// CloseIdleConnections closes the connections that serve no request.
func (t *Transport) CloseIdleConnections() { t.pool.closeIdle() }

// Clone returns a Transport with the same configuration and no connections.
func (t *Transport) Clone() *Transport {
	c := &Transport{
		Flow:                          t.Flow,
		ReadBufferSize:                t.ReadBufferSize,
		WriteBufferSize:               t.WriteBufferSize,
		MaxReadFrameSize:              t.MaxReadFrameSize,
		MaxHeaderListSize:             t.MaxHeaderListSize,
		MaxResponseHeaderBytes:        t.MaxResponseHeaderBytes,
		TLSHandshakeTimeout:           t.TLSHandshakeTimeout,
		DialContext:                   t.DialContext,
		DialTLSContext:                t.DialTLSContext,
		AllowHTTP:                     t.AllowHTTP,
		DisableCompression:            t.DisableCompression,
		DisableKeepAlives:             t.DisableKeepAlives,
		MaxConnsPerHost:               t.MaxConnsPerHost,
		IdleConnTimeout:               t.IdleConnTimeout,
		ResponseHeaderTimeout:         t.ResponseHeaderTimeout,
		ExpectContinueTimeout:         t.ExpectContinueTimeout,
		MaxConcurrentStreams:          t.MaxConcurrentStreams,
		AdvertiseMaxConcurrentStreams: t.AdvertiseMaxConcurrentStreams,
		StallTimeout:                  t.StallTimeout,
		PingInterval:                  t.PingInterval,
		PingTimeout:                   t.PingTimeout,
		WriteTimeout:                  t.WriteTimeout,
		OnFrame:                       t.OnFrame,
		Policy:                        t.Policy,
		MinConnsPerHost:               t.MinConnsPerHost,
		StrictMaxConcurrentRequests:   t.StrictMaxConcurrentRequests,
		MaxIdleConns:                  t.MaxIdleConns,
		MaxConnAge:                    t.MaxConnAge,
		RetryIdempotent:               t.RetryIdempotent,
		Proxy:                         t.Proxy,
		ProxyConnectHeader:            t.ProxyConnectHeader.Clone(),
		Budget:                        t.Budget,
		Logger:                        t.Logger,
		OnEvent:                       t.OnEvent,
	}
	if t.TLSClientConfig != nil {
		c.TLSClientConfig = t.TLSClientConfig.Clone()
	}
	if t.HTTP2 != nil {
		h := *t.HTTP2
		c.HTTP2 = &h
	}
	return c
}

// timeout reads a field whose zero means def and whose negative values mean none, which is 0 in the result.
func timeout(field, def time.Duration) time.Duration {
	switch {
	case field == 0:
		return def
	case field < 0:
		return 0
	}
	return field
}
