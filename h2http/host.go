package h2http

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// asciiHost is a host, with or without port, as it goes on the wire and to the dialer: names outside ASCII in punycode.
// The error is a *RequestError.
func asciiHost(host string) (string, error) {
	if !isASCII(host) {
		punycode, err := punycodeHost(host)
		if err != nil {
			return "", &RequestError{"host " + strconv.Quote(host) + ": " + err.Error()}
		}
		host = punycode
	}
	return host, checkHost(host)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// dots are what stands for a full stop in host names of other scripts. See RFC 3490, Section 3.1.
var dots = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".")

// punycodeHost spells a host outside ASCII in punycode, in lower case; it does no further mapping of characters. See
// RFC 3492. The standard library does it only to the Host field of a request that it writes.
func punycodeHost(host string) (string, error) {
	// Nothing but the name reaches net/http: what is odd in ASCII is refused here as everywhere.
	for i := range len(host) {
		if c := host[i]; c < 0x80 && checkHost(string(c)) != nil {
			return "", &RequestError{"character " + strconv.QuoteRune(rune(c))}
		}
	}
	host = strings.ToLower(dots.Replace(host))
	var written bytes.Buffer
	r := &http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: "http", Host: host, Path: "/"}, Host: host}
	if err := r.Write(&written); err != nil {
		return "", err
	}
	parsed, err := http.ReadRequest(bufio.NewReader(&written))
	if err != nil {
		return "", err
	}
	return parsed.Host, nil
}

// checkHost says what is wrong with a host, with or without port, as a part of a URI. See RFC 3986, Section 3.2.2.
// Userinfo does not pass: "@" is not allowed. RFC 9113, Section 8.3.1.
func checkHost(host string) error {
	for i := range len(host) {
		switch c := host[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case strings.IndexByte("-._~%!$&'()*+,;=:[]", c) < 0:
			return &RequestError{"host " + strconv.Quote(host)}
		}
	}
	return nil
}

// hostPort is the address to dial for a URL whose host is in ASCII.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "443"
		if u.Scheme == "http" {
			port = "80"
		}
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// dialAddress is the address to dial for a URL.
func dialAddress(u *url.URL) (string, error) {
	host, err := asciiHost(u.Host)
	if err != nil {
		return "", err
	}
	if host != u.Host {
		u = &url.URL{Scheme: u.Scheme, Host: host}
	}
	return hostPort(u), nil
}
