package h2http

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"example.com/h2flow"
)

// A Tunnel is a stream that CONNECT has opened, as a net.Conn: octets go both ways under both flow-control windows. The
// end of one direction is the end of the stream for it, as FIN is in TCP. See RFC 9113, Section 8.5, and RFC 8441.
//
// One goroutine may read while another writes; Close and the deadlines may be called from anywhere.
type Tunnel struct {
	// Header are the fields that the server answered with.
	Header http.Header

	x       *exchange
	writing sync.Mutex
	closed  atomic.Bool
}

var _ net.Conn = (*Tunnel)(nil)

// A TunnelError is a server that did not open the tunnel.
type TunnelError struct {
	// Response is what it answered instead. Its body is in memory, 64 KiB of it at most, and need not be closed.
	Response *http.Response
}

// Error gives the status.
func (e *TunnelError) Error() string { return "h2http: CONNECT was answered by " + e.Response.Status }

// maxRefusal is how much of the body of a refusal is kept, in octets.
const maxRefusal = 64 << 10

// OpenTunnel sends a CONNECT request and returns the stream that it opens. Any final status but 2xx is a *TunnelError.
//
// For a tunnel to a host, req.Host is the target, "host:port", and req.URL names the proxy that is asked. For another
// protocol over HTTP/2, such as WebSocket, req.Header[":protocol"] is its name and req.URL what is asked for; the server
// must have allowed that in its SETTINGS, which are waited for, or the error matches conn.ErrExtendedConnect.
//
// req must have no body; its context governs the whole life of the tunnel. The caller must close the tunnel.
func (t *Transport) OpenTunnel(req *http.Request) (*Tunnel, error) { return t.openTunnel(req, nil) }

// OpenTunnel is as Transport.OpenTunnel, on this connection.
func (c *ClientConn) OpenTunnel(req *http.Request) (*Tunnel, error) { return c.pc.t.openTunnel(req, c) }

func (t *Transport) openTunnel(req *http.Request, single *ClientConn) (*Tunnel, error) {
	if req.Method != http.MethodConnect || hasBody(req) {
		return nil, &RequestError{"a tunnel is opened by CONNECT without a body"}
	}
	x, err := t.newExchange(req)
	if err != nil {
		return nil, err
	}
	x.single, x.tunnel = single, &Tunnel{x: x}
	x.msg.EndStream = false
	if _, err := x.run(); err != nil {
		return nil, err
	}
	return x.tunnel, nil
}

// established makes the tunnel from the final head, or an error of it.
func (x *exchange) established(head h2flow.Head) error {
	if head.Status/100 == 2 {
		x.tunnel.Header = makeHeader(head.Fields)
		return nil
	}
	x.respond(head)
	body, err := io.ReadAll(io.LimitReader(x.resp.Body, maxRefusal))
	x.resp.Body.Close()
	if err != nil {
		body = append(body, []byte("\n("+err.Error()+")")...)
	}
	x.resp.Body = io.NopCloser(bytes.NewReader(body))
	return &TunnelError{Response: &x.resp}
}

// Stream is the stream below, for its identifier and what is particular to HTTP/2.
func (t *Tunnel) Stream() *h2flow.ClientStream { return t.x.stream }

// Read reads what has come. It returns io.EOF when the other side has ended its direction.
func (t *Tunnel) Read(p []byte) (int, error) {
	n, err := t.x.stream.Read(p)
	return n, t.named(err)
}

// WriteTo writes everything that comes to w, until the other side ends.
func (t *Tunnel) WriteTo(w io.Writer) (int64, error) {
	n, err := t.x.stream.WriteTo(w)
	return n, t.named(err)
}

// Write sends p, as the windows allow.
func (t *Tunnel) Write(p []byte) (int, error) {
	t.writing.Lock()
	defer t.writing.Unlock()
	n, err := t.x.stream.Write(p)
	return n, t.named(err)
}

// ReadFrom sends everything that r gives.
func (t *Tunnel) ReadFrom(r io.Reader) (int64, error) {
	t.writing.Lock()
	defer t.writing.Unlock()
	n, err := t.x.stream.ReadFrom(r)
	return n, t.named(err)
}

// named gives errors their place: the end of the context comes before what it did to the stream.
func (t *Tunnel) named(err error) error {
	switch {
	case err == nil, err == io.EOF:
		return err
	case t.closed.Load():
		return net.ErrClosed
	case isContextEnd(t.x.ctx, err):
		return contextFailure(t.x.ctx)
	}
	return err
}

// CloseWrite ends this direction; the other one goes on.
func (t *Tunnel) CloseWrite() error {
	t.writing.Lock()
	defer t.writing.Unlock()
	return t.named(t.x.stream.CloseWrite())
}

// Close ends the tunnel. What was written before is sent; what the other side still sends is dropped. Calls in progress
// return net.ErrClosed.
func (t *Tunnel) Close() error {
	if t.closed.Swap(true) {
		return nil
	}
	if t.writing.TryLock() { // nobody is in the middle of a Write, whose octets would be cut
		t.x.stream.CloseWrite()
		t.writing.Unlock()
	}
	t.x.stream.Close()
	t.x.pc.release()
	if t.x.unwatch != nil {
		t.x.unwatch()
	}
	return nil
}

// LocalAddr and RemoteAddr are the addresses of the connection below.
func (t *Tunnel) LocalAddr() net.Addr  { return t.x.pc.cc.NetConn().LocalAddr() }
func (t *Tunnel) RemoteAddr() net.Addr { return t.x.pc.cc.NetConn().RemoteAddr() }

// SetDeadline, SetReadDeadline and SetWriteDeadline are as in net.Conn.
func (t *Tunnel) SetDeadline(at time.Time) error      { return t.x.stream.SetDeadline(at) }
func (t *Tunnel) SetReadDeadline(at time.Time) error  { return t.x.stream.SetReadDeadline(at) }
func (t *Tunnel) SetWriteDeadline(at time.Time) error { return t.x.stream.SetWriteDeadline(at) }

// StreamOf is the stream of a response while its body is being read: for its identifier, and to change its priority by
// ClientStream.UpdatePriority. It is nil if the body was replaced, as an http.Client with a Timeout does, and for
// responses without a body. Reading the stream itself breaks the body.
func StreamOf(resp *http.Response) *h2flow.ClientStream {
	switch body := resp.Body.(type) {
	case *exchange:
		return body.stream
	case *gunzipBody:
		return body.x.stream
	}
	return nil
}
