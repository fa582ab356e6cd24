package conformance

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
)

// NewHTTPClient makes a Client of any http.RoundTripper, which has to reach the server of the case at base, such as
// "http://127.0.0.1:8080". Since most of them connect only when they have something to say, the first request of c
// begins at once.
func NewHTTPClient(rt http.RoundTripper, base string, c Case) Client {
	a := &httpClient{rt: rt, base: base}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	a.first = a.begin(c.requests[0])
	return a
}

type httpClient struct {
	rt     http.RoundTripper
	base   string
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	first  <-chan httpResult
}

type httpResult struct {
	status, n int
	err       error
}

func (a *httpClient) Request(i int, r Request, done func(status, bodyLength int, err error)) {
	results := a.first
	if i > 0 {
		results = a.begin(r)
	}
	a.wg.Go(func() {
		res := <-results
		done(res.status, res.n, res.err)
	})
}

func (a *httpClient) begin(r Request) <-chan httpResult {
	results := make(chan httpResult, 1)
	a.wg.Go(func() {
		status, n, err := a.do(r)
		results <- httpResult{status, n, err}
	})
	return results
}

func (a *httpClient) do(r Request) (status, n int, err error) {
	var body io.Reader
	if r.Method == http.MethodPost {
		body = bytes.NewReader(make([]byte, BodyLength))
	}
	req, err := http.NewRequestWithContext(a.ctx, r.Method, a.base+r.Path, body)
	if err != nil {
		return 0, 0, err
	}
	resp, err := a.rt.RoundTrip(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	if r.Unread() {
		<-a.ctx.Done()
		return 0, 0, a.ctx.Err()
	}
	length, err := io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, int(length), err
}

func (a *httpClient) Close() {
	a.cancel()
	a.wg.Wait()
}
