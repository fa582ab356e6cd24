package cli

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"sync"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
)

// The clients that demo compares, by the names in its output.
const (
	clientHTTP1  = "http1"
	clientNetH2  = "net/http-h2"
	clientH2flow = "h2flow"
)

// A contender is one row of the demo: a client, for h2flow with a strategy.
type contender struct {
	client   string
	strategy flow.Config // h2flow's; nil for the others
	coldOnly bool        // measured on new connections only, since it takes long
}

// strategyName is the strategy as --strategy takes it, or empty.
func (c contender) strategyName() string {
	if c.strategy == nil {
		return ""
	}
	return c.strategy.String()
}

// title names the client to people.
func (c contender) title() string {
	switch c.client {
	case clientHTTP1:
		return "net/http HTTP/1.1"
	case clientNetH2:
		return "net/http HTTP/2"
	}
	return c.client
}

// label is the client with its strategy.
func (c contender) label() string { return strings.TrimSpace(c.title() + " " + c.strategyName()) }

// major is the version of HTTP that the contender must have spoken.
func (c contender) major() int {
	if c.client == clientHTTP1 {
		return 1
	}
	return 2
}

// phases are those that the contender is measured in.
func (c contender) phases() []string {
	if c.coldOnly {
		return []string{phaseCold}
	}
	return []string{phaseCold, phaseWarm}
}

// transporter is what the clients have in common.
type transporter interface {
	http.RoundTripper
	CloseIdleConnections()
}

// newTransport returns a client without connections. meter, for h2flow, measures the connection that it will open.
func (c contender) newTransport(o *origin, meter *runMeter) transporter {
	if c.client == clientH2flow {
		return &h2http.Transport{
			AllowHTTP: true, DisableCompression: true, TLSClientConfig: o.tls("h2"),
			Flow: flow.Observe(c.strategy, func() flow.Observer { return meter }),
		}
	}
	var protocols http.Protocols
	var config *tls.Config
	switch {
	case c.client == clientHTTP1:
		protocols.SetHTTP1(true)
		config = o.tls("http/1.1")
	case o.roots != nil:
		protocols.SetHTTP2(true)
		config = o.tls("h2")
	default:
		protocols.SetUnencryptedHTTP2(true)
	}
	return &http.Transport{Protocols: &protocols, TLSClientConfig: config, DisableCompression: true}
}

// A frameCounter counts the frames that an HTTP/2 client sends, from its octets in cleartext.
type frameCounter struct {
	mu     sync.Mutex
	skip   int64 // octets of the preface or a payload that are still to come
	header []byte
	counts map[frame.Type]int64
}

var _ io.Writer = (*frameCounter)(nil)

func newFrameCounter() *frameCounter {
	return &frameCounter{skip: int64(len(frame.ClientPreface)), counts: make(map[frame.Type]int64)}
}

// Write takes the next octets of the connection, in any chunking.
func (c *frameCounter) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		if c.skip > 0 {
			m := min(c.skip, int64(len(p)))
			c.skip -= m
			p = p[m:]
			continue
		}
		m := min(frame.HeaderLen-len(c.header), len(p))
		c.header = append(c.header, p[:m]...)
		p = p[m:]
		if h, ok := frame.ParseHeader(c.header); ok {
			c.skip = int64(h.Length)
			c.header = c.header[:0]
			// An acknowledgement answers the server's PING and is none of the client's own.
			if h.Type != frame.TypePing || !h.Flags.Has(frame.FlagAck) {
				c.counts[h.Type]++
			}
		}
	}
	return n, nil
}

// count returns how many frames of type t were sent.
func (c *frameCounter) count(t frame.Type) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[t]
}
