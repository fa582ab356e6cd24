package h2http

import (
	"context"
	"net/http"

	"example.com/h2flow"
)

// A ClientConn is one connection that its holder, not the pool, chooses for each request.
type ClientConn struct{ pc *poolConn }

var _ http.RoundTripper = (*ClientConn)(nil)

// NewClientConn makes a connection to address, "host:port", for URLs of scheme, "https" or "http". It is not shared
// with RoundTrip, and the caller must close it.
func (t *Transport) NewClientConn(ctx context.Context, scheme, address string) (*ClientConn, error) {
	if scheme != "https" && !(scheme == "http" && t.AllowHTTP) {
		return nil, &RequestError{"unsupported scheme " + scheme}
	}
	pc, err := t.dialConn(ctx, &host{key: hostKey{scheme, address}})
	if err != nil {
		return nil, err
	}
	pc.host = nil
	return &ClientConn{pc: pc}, nil
}

// RoundTrip is as Transport.RoundTrip, on this connection, whatever the host in the URL. At the limit of concurrent
// streams it waits for one to end.
func (c *ClientConn) RoundTrip(req *http.Request) (*http.Response, error) {
	x, err := c.pc.t.newExchange(req)
	if err != nil {
		return nil, err
	}
	x.single = c.pc
	return x.run()
}

// Conn is the connection below, for PING, Shutdown, and its state.
func (c *ClientConn) Conn() *h2flow.ClientConn { return c.pc.cc }

// Err is why the connection cannot be used any more; nil while it can.
func (c *ClientConn) Err() error { return c.pc.cc.Err() }

// Close closes the connection. Requests in progress fail.
func (c *ClientConn) Close() error { return c.pc.cc.Close() }
