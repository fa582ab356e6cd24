package h2http

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// proxyFor is the proxy for a request, or nil.
func (t *Transport) proxyFor(req *http.Request) (*url.URL, error) {
	if t.Proxy == nil {
		return nil, nil
	}
	proxy, err := t.Proxy(req)
	switch {
	case err != nil || proxy == nil:
		return nil, err
	case proxy.Scheme != "http" && proxy.Scheme != "https":
		return nil, &RequestError{"proxy scheme " + proxy.Scheme + "; http and https are supported"}
	}
	return proxy, nil
}

// proxyKey tells proxies apart, by their users too.
func proxyKey(proxy *url.URL) string {
	if proxy == nil {
		return ""
	}
	return proxy.String()
}

// A ProxyError is a proxy that did not make the connection it was asked for.
type ProxyError struct {
	// Proxy is the address of the proxy, Status what it answered, such as "407 Proxy Authentication Required".
	Proxy, Status string
	// Header is what it answered with.
	Header http.Header
}

// Error names the proxy and the status.
func (e *ProxyError) Error() string { return "h2http: proxy " + e.Proxy + " answered " + e.Status }

// maxProxyHead bounds what a proxy may say before the connection begins, in octets.
const maxProxyHead = 64 << 10

// dialThrough makes a connection to addr through an HTTP proxy, by CONNECT over HTTP/1.1. See RFC 9110, Section 9.3.6.
func (t *Transport) dialThrough(ctx context.Context, proxy *url.URL, addr string) (net.Conn, error) {
	proxyAddr, err := dialAddress(proxy)
	if err != nil {
		return nil, err
	}
	nc, err := t.dialPlain(ctx, proxyAddr)
	if err != nil {
		return nil, fmt.Errorf("h2http: proxy %s: %w", proxyAddr, err)
	}
	if proxy.Scheme == "https" {
		tc := tls.Client(nc, t.tlsConfigFor(proxyAddr, "http/1.1"))
		if err := t.handshake(ctx, tc); err != nil {
			nc.Close()
			return nil, err
		}
		nc = tc
	}
	// The proxy may wait for the target, or for ever: the end of the dial ends that too.
	stop := context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })
	err = t.askProxy(nc, proxy, addr)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		nc.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return nc, nil
}

// askProxy sends CONNECT and reads the answer, and not an octet more: what follows is the target's.
func (t *Transport) askProxy(nc net.Conn, proxy *url.URL, addr string) error {
	req := &http.Request{
		Method: http.MethodConnect, URL: &url.URL{Opaque: addr}, Host: addr, Header: t.ProxyConnectHeader.Clone(),
	}
	if req.Header == nil {
		req.Header = make(http.Header)
	}
	if u := proxy.User; u != nil && req.Header.Get("Proxy-Authorization") == "" {
		password, _ := u.Password()
		credentials := base64.StdEncoding.EncodeToString([]byte(u.Username() + ":" + password))
		req.Header.Set("Proxy-Authorization", "Basic "+credentials)
	}
	if err := req.Write(nc); err != nil {
		return fmt.Errorf("h2http: proxy %s: %w", proxy.Host, err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(&oneByOne{r: nc, left: maxProxyHead}), req)
	if err != nil {
		return fmt.Errorf("h2http: proxy %s: %w", proxy.Host, err)
	}
	if resp.StatusCode/100 != 2 {
		return &ProxyError{Proxy: proxy.Host, Status: strings.TrimSpace(resp.Status), Header: resp.Header}
	}
	return nil
}

// oneByOne gives one octet a Read, so that a bufio.Reader above it takes none that it does not need.
type oneByOne struct {
	r    net.Conn
	left int
}

func (o *oneByOne) Read(p []byte) (int, error) {
	if o.left--; o.left < 0 {
		return 0, errors.New("the answer to CONNECT is too long")
	}
	return o.r.Read(p[:min(len(p), 1)])
}
