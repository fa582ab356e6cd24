package interop

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"

	"example.com/h2flow"
	"example.com/h2flow/flow"
	"example.com/h2flow/h2http"
)

// A client is a way of making requests, all on one connection.
type client struct {
	name string
	dial func(t *testing.T, to target, with options) transfer
}

// options are what varies of the clients that are ours. The zero value is their default.
type options struct {
	flow     flow.Config
	maxFrame uint32 // octets
}

// A target is one address of a server under test.
type target struct {
	scheme string // "http" or "https"
	addr   string
	trust  *tls.Config
}

// A transfer sends one request, hands the response body to read, and gives up what read leaves. A request with a nil
// body is a GET, any other a POST of size octets. It fails unless the status is 200 and the protocol HTTP/2. Transfers
// of one client may overlap.
type transfer func(ctx context.Context, path string, body io.Reader, size int64, read func(io.Reader) error) error

var clients = []client{
	{name: "h2http", dial: dialH2HTTP},
	{name: "h2flow", dial: dialStreams},
}

// method is what a transfer with that body is.
func method(body io.Reader) string {
	if body == nil {
		return http.MethodGet
	}
	return http.MethodPost
}

// dialNetHTTP is the control: Go's own client.
func dialNetHTTP(t *testing.T, to target, _ options) transfer {
	transport := &http.Transport{TLSClientConfig: to.trust.Clone(), Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP2(true)
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	return roundTrip(transport, to)
}

// dialH2HTTP is h2http.Transport.
func dialH2HTTP(t *testing.T, to target, with options) transfer {
	return roundTrip(oneConnection(t, to, with), to)
}

// oneConnection is a Transport for the requests to one server, over a single connection.
func oneConnection(t *testing.T, to target, with options) *h2http.Transport {
	transport := &h2http.Transport{
		Flow:             with.flow,
		MaxReadFrameSize: int64(with.maxFrame),
		TLSClientConfig:  to.trust,
		AllowHTTP:        true,
		MaxConnsPerHost:  1,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// roundTrip makes transfers through any http.RoundTripper.
func roundTrip(transport http.RoundTripper, to target) transfer {
	return func(ctx context.Context, path string, body io.Reader, size int64, read func(io.Reader) error) error {
		req, err := http.NewRequestWithContext(ctx, method(body), to.scheme+"://"+to.addr+path, body)
		if err != nil {
			return err
		}
		req.ContentLength = size
		resp, err := transport.RoundTrip(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK || resp.Proto != "HTTP/2.0" {
			return fmt.Errorf("%s %s, want HTTP/2.0 200", resp.Proto, resp.Status)
		}
		return read(resp.Body)
	}
}

// dialStreams is the low-level API, without net/http.
func dialStreams(t *testing.T, to target, with options) transfer {
	dial := h2flow.DialCleartext
	if to.scheme == "https" {
		dial = h2flow.Dial
	}
	c, err := dial(t.Context(), to.addr, &h2flow.Config{
		Flow: with.flow, MaxReadFrameSize: with.maxFrame, TLSConfig: to.trust,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return streamTransfer(c, to)
}

// streamTransfer makes transfers over one connection.
func streamTransfer(c *h2flow.ClientConn, to target) transfer {
	return func(ctx context.Context, path string, body io.Reader, size int64, read func(io.Reader) error) error {
		s, err := c.OpenStream(ctx, streamRequest(to, path, body, size))
		if err != nil {
			return err
		}
		defer s.Close()
		if body != nil {
			if _, err := s.ReadFrom(body); err != nil {
				return err
			}
			if err := s.CloseWrite(); err != nil {
				return err
			}
		}
		for {
			head, err := s.ReadHead()
			switch {
			case err != nil:
				return err
			case head.Interim():
				continue
			case head.Status != http.StatusOK:
				return fmt.Errorf("status %d, want 200", head.Status)
			}
			return read(s)
		}
	}
}

// streamRequest is the request of one transfer.
func streamRequest(to target, path string, body io.Reader, size int64) *h2flow.Request {
	req := &h2flow.Request{
		Method:    method(body),
		Scheme:    to.scheme,
		Authority: to.addr,
		Path:      path,
		EndStream: body == nil,
	}
	if body != nil {
		req.Header = []h2flow.Field{{Name: "content-length", Value: strconv.FormatInt(size, 10)}}
	}
	return req
}
