package httpbench

import (
	"fmt"
	"io"
	"net/http"
)

// BodyBuffer is the size of the buffer that clients read bodies into, in octets.
const BodyBuffer = 128 << 10

// A Client does requests over connections that it keeps. Its methods are called from several goroutines.
type Client interface {
	// Get asks for path, reads the body by means of buf and returns the number of its octets.
	Get(path string, buf []byte) (int64, error)
	// Post sends a body of size octets to path and reads the response.
	Post(path string, size int64, buf []byte) error
	// Close ends the connections.
	Close()
}

// RoundTripper makes a Client of what net/http calls a transport. base is the server's URL, without a path.
func RoundTripper(rt http.RoundTripper, base string) Client { return &roundTripper{rt, base} }

type roundTripper struct {
	http.RoundTripper
	base string
}

func (c *roundTripper) Get(path string, buf []byte) (int64, error) {
	req, err := http.NewRequest("GET", c.base+path, nil)
	if err != nil {
		return 0, err
	}
	return c.do(req, buf)
}

func (c *roundTripper) Post(path string, size int64, buf []byte) error {
	req, err := http.NewRequest("POST", c.base+path, Zeros(size))
	if err != nil {
		return err
	}
	req.ContentLength = size
	_, err = c.do(req, buf)
	return err
}

func (c *roundTripper) do(req *http.Request, buf []byte) (int64, error) {
	resp, err := c.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("the server answered %s", resp.Status)
	}
	return Drain(resp.Body, buf)
}

func (c *roundTripper) Close() {
	if idle, ok := c.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}

// Drain reads r to its end by means of buf and returns how many octets came.
func Drain(r io.Reader, buf []byte) (int64, error) {
	var total int64
	for {
		n, err := r.Read(buf)
		total += int64(n)
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// Zeros is a body of n octets that costs nothing to read.
func Zeros(n int64) io.ReadCloser { return &zeros{n} }

type zeros struct{ left int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), z.left)
	z.left -= n
	return int(n), nil
}

func (z *zeros) Close() error { return nil }

// netHTTP is one of net/http's own clients.
func netHTTP(base string, h2 bool) Client {
	var protocols http.Protocols
	protocols.SetHTTP1(!h2)
	protocols.SetUnencryptedHTTP2(h2)
	return RoundTripper(&http.Transport{
		Protocols: &protocols, DisableCompression: true, MaxIdleConnsPerHost: concurrency,
	}, base)
}
