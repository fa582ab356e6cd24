package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"

	"example.com/h2flow"
)

// Held is what connections cost that do nothing: the difference to the process before it opened any, after the garbage
// was collected and free memory was given back, for each of Conns connections. What a platform can't tell is nil.
type Held struct {
	Conns int
	// IdleRSS is resident memory in octets, of connections that have had one response each.
	IdleRSS        *float64
	IdleGoroutines float64
	// WaitingRSS and WaitingGoroutines come on top of it once each connection has a stream whose body has begun and
	// goes on later.
	WaitingRSS        *float64
	WaitingGoroutines float64
}

// Hold opens spec.Conns connections, one after the other, with one request of spec.URL each, and then one stream on each
// that waits for the rest of the body at spec.Beside.
func Hold(ctx context.Context, spec Spec) (*Held, error) {
	s, err := newSession(spec)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, s.abort)
	defer stop()
	begin := atRest()
	groups := make([]group, spec.Conns)
	for i := range groups {
		groups[i] = s.newGroup()
		defer groups[i].close()
		if _, err := groups[i].lane().do(); err != nil {
			return nil, fmt.Errorf("connection %d: %w", i+1, err)
		}
	}
	idle := atRest()
	waiting := make([]io.Closer, len(groups))
	for i, g := range groups {
		if waiting[i], err = g.hold(ctx); err != nil {
			return nil, fmt.Errorf("the stream on connection %d: %w", i+1, err)
		}
		defer waiting[i].Close()
	}
	held := atRest()
	runtime.KeepAlive(waiting)
	n := float64(len(groups))
	return &Held{
		Conns: len(groups), IdleRSS: idle.rssAbove(begin, n), IdleGoroutines: float64(idle.goroutines-begin.goroutines) / n,
		WaitingRSS: held.rssAbove(idle, n), WaitingGoroutines: float64(held.goroutines-idle.goroutines) / n,
	}, nil
}

// A rest is the state of the process while nothing goes on.
type rest struct {
	rss        *int64
	goroutines int
}

// atRest looks at the process once it has given back what it can. Connections have had their time to notice that they
// are idle: the collections take longer than that.
func atRest() rest {
	for range 3 { // the second empties what pools keep
		runtime.GC()
		debug.FreeOSMemory()
	}
	return rest{presentRSS(), runtime.NumGoroutine()}
}

// rssAbove is how much more r has, for each of n.
func (r rest) rssAbove(before rest, n float64) *float64 {
	if r.rss == nil || before.rss == nil {
		return nil
	}
	each := float64(*r.rss-*before.rss) / n
	return &each
}

// hold implements group.
func (g *httpGroup) hold(ctx context.Context) (io.Closer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.s.spec.Beside, nil)
	if err != nil {
		return nil, err
	}
	req.Header = g.s.header()
	resp, err := g.rt.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if _, err := resp.Body.Read(make([]byte, 16)); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp.Body, nil
}

// hold implements group.
func (g *rawGroup) hold(ctx context.Context) (io.Closer, error) {
	c, err := g.open()
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(g.s.spec.Beside)
	if err != nil {
		return nil, err
	}
	stream, err := c.OpenStream(ctx, &h2flow.Request{
		Method: "GET", Scheme: u.Scheme, Authority: u.Host, Path: u.RequestURI(), Header: g.head(), EndStream: true,
	})
	if err != nil {
		return nil, err
	}
	if _, err = stream.ReadHead(); err == nil {
		_, err = stream.Read(make([]byte, 16))
	}
	if err != nil {
		stream.Close()
		return nil, err
	}
	return stream, nil
}
