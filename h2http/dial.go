package h2http

import (
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"sync"
	"time"

	"example.com/h2flow"
)

// A dial makes one connection for all who wait for it. It ends early only if nobody waits any more.
type dial struct {
	pool    *pool
	host    *host
	waiters int // guarded by the pool's mu
	cancel  context.CancelFunc
	trace   *dialTrace // of the request that started it; may be nil

	done chan struct{} // closed once pc and err are set
	pc   *poolConn
	err  error
}

// run makes the connection and puts it into the pool.
func (d *dial) run(ctx context.Context, t *Transport) {
	pc, err := t.dialConn(ctx, d.host, nil)
	d.cancel()
	p := d.pool
	p.mu.Lock()
	if err != nil {
		p.counters.dialErrors.Add(1)
	}
	d.host.dialing--
	unwanted := d.waiters == 0 && t.DisableKeepAlives
	if d.host.dial == d {
		d.host.dial = nil
	}
	if err == nil && !t.DisableKeepAlives {
		d.host.conns = append(d.host.conns, pc)
		pc.armIdleTimer()
		pc.armAgeTimer()
	}
	if err != nil && d.waiters > 0 && len(d.host.conns)+d.host.dialing == 0 {
		d.host.failAllLocked(err)
	}
	p.forget(d.host)
	d.pc, d.err = pc, err
	p.mu.Unlock()
	close(d.done)
	if d.host.queued.Load() > 0 {
		p.serve(d.host)
	}
	if err != nil {
		return
	}
	if unwanted {
		pc.close()
		return
	}
	go pc.watch()
}

// wait returns the result of the dial, or leaves it when x is cancelled.
func (d *dial) wait(x *exchange) (*poolConn, error) {
	select {
	case <-d.done:
	case <-x.ctx.Done():
		d.leave(x)
		return nil, contextFailure(x.ctx)
	}
	if d.trace != nil {
		d.trace.stop(x)
	}
	return d.pc, d.err
}

func (d *dial) leave(x *exchange) {
	if d.trace != nil {
		d.trace.stop(x)
	}
	d.pool.mu.Lock()
	d.waiters--
	left := d.waiters == 0
	if left && d.host.dial == d {
		d.host.dial = nil
	}
	// Made for this request alone, and just then.
	unwanted := left && d.pc != nil && x.t.DisableKeepAlives
	d.pool.mu.Unlock()
	if left {
		d.cancel()
	}
	if unwanted {
		d.pc.close()
	}
}

// A dialTrace passes the hooks of a dial on to the request that started it, for as long as that waits.
type dialTrace struct {
	owner *exchange
	mu    sync.Mutex
	to    *httptrace.ClientTrace // nil once the owner has left
}

func (d *dialTrace) stop(x *exchange) {
	if x != d.owner {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.to = nil
}

// call runs f, which calls one hook if it is set.
func (d *dialTrace) call(f func(*httptrace.ClientTrace)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.to != nil {
		f(d.to)
	}
}

// attach replaces the trace in ctx by one that can be stopped.
func (d *dialTrace) attach(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(untraced{ctx}, &httptrace.ClientTrace{
		DNSStart: func(i httptrace.DNSStartInfo) {
			d.call(func(t *httptrace.ClientTrace) {
				if t.DNSStart != nil {
					t.DNSStart(i)
				}
			})
		},
		DNSDone: func(i httptrace.DNSDoneInfo) {
			d.call(func(t *httptrace.ClientTrace) {
				if t.DNSDone != nil {
					t.DNSDone(i)
				}
			})
		},
		ConnectStart: func(network, addr string) {
			d.call(func(t *httptrace.ClientTrace) {
				if t.ConnectStart != nil {
					t.ConnectStart(network, addr)
				}
			})
		},
		ConnectDone: func(network, addr string, err error) {
			d.call(func(t *httptrace.ClientTrace) {
				if t.ConnectDone != nil {
					t.ConnectDone(network, addr, err)
				}
			})
		},
		TLSHandshakeStart: func() {
			d.call(func(t *httptrace.ClientTrace) {
				if t.TLSHandshakeStart != nil {
					t.TLSHandshakeStart()
				}
			})
		},
		TLSHandshakeDone: func(s tls.ConnectionState, err error) {
			d.call(func(t *httptrace.ClientTrace) {
				if t.TLSHandshakeDone != nil {
					t.TLSHandshakeDone(s, err)
				}
			})
		},
	})
}

// untraced is a context without its trace; all other values stay.
type untraced struct{ context.Context }

func (u untraced) Value(key any) any {
	v := u.Context.Value(key)
	if _, ok := v.(*httptrace.ClientTrace); ok {
		return nil
	}
	return v
}

// dialConn makes a connection and starts HTTP/2 on it. changed, if not nil, is called with the connection locked when its
// state has changed.
func (t *Transport) dialConn(ctx context.Context, h *host, changed func()) (*poolConn, error) {
	nc, err := t.dialNet(ctx, h)
	if err != nil {
		return nil, err
	}
	pc := &poolConn{t: t, host: h, created: time.Now(), changed: changed}
	if s, ok := nc.(interface{ ConnectionState() tls.ConnectionState }); ok {
		state := s.ConnectionState()
		pc.tls = &state
	}
	cfg := t.engineConfig()
	cfg.OnStateChange = pc.stateChanged
	cfg.PingInterval = t.pool.calmInterval(h.key, cfg.PingInterval)
	if pc.cc, err = h2flow.NewClientConn(nc, cfg); err != nil {
		nc.Close()
		return nil, err
	}
	return pc, nil
}
