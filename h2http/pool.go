package h2http

import (
	"context"
	"net"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/h2flow"
)

// A pool holds the connections of a Transport, by host.
//
// Model: mu guards everything below it, the fields of the hosts, and the counts of their connections. It is held
// neither while dialing nor while closing. A host is in the pool while it has a connection or a dial.
type pool struct {
	mu    sync.Mutex
	hosts map[hostKey]*host
	// spelled finds a host by the URL as it is spelled, so that the usual request builds no key.
	spelled map[hostKey]*host
}

// A hostKey says which requests may share connections: the scheme and the address to dial.
type hostKey struct{ scheme, addr string }

// A host is all that is known of one hostKey.
type host struct {
	key       hostKey
	spellings []hostKey
	conns     []*poolConn // that take new requests
	dial      *dial       // in progress, for whoever wants to share it
	dialing   int         // dials in progress
}

// A poolConn is one connection and what uses it.
type poolConn struct {
	cc   *h2flow.ClientConn
	tls  *tlsState
	t    *Transport
	host *host // nil: not in the pool

	// Guarded by the pool's mu.
	active    int  // exchanges in progress
	used      bool // there was an exchange
	retired   bool // takes no new request
	idleSince time.Time
	idleTimer *time.Timer
	idleArmed bool
	doubt     doubt
}

// streamsBeforeSettings is how many streams a server is assumed to allow while its SETTINGS are on their way: what
// every server should allow at least. See RFC 9113, Section 6.5.2.
const streamsBeforeSettings = 100

// get finds or makes a connection for x, and reserves a place on it that release gives back.
func (p *pool) get(x *exchange) (*poolConn, httptrace.GotConnInfo, error) {
	t := x.t
	if t.DisableKeepAlives {
		pc, err := p.dialAlone(x)
		return pc, httptrace.GotConnInfo{}, err
	}
	var made *poolConn
	for {
		p.mu.Lock()
		h, err := p.lookup(x.req.URL)
		if err != nil {
			p.mu.Unlock()
			return nil, httptrace.GotConnInfo{}, err
		}
		if pc, dead := h.pick(t); pc != nil {
			info := pc.reserveLocked(x.msg.lastOnConn)
			p.mu.Unlock()
			closeAll(dead)
			return pc, info, nil
		} else if made != nil && !made.cc.State().Available {
			// It was over before it could be used. Its error counts as an attempt; to dial at once would go on
			// for ever with a server that ends every connection.
			info := made.reserveLocked(true)
			p.mu.Unlock()
			closeAll(dead)
			return made, info, nil
		} else {
			d := p.joinLocked(h, x)
			p.mu.Unlock()
			closeAll(dead)
			if made, err = d.wait(x); err != nil {
				return nil, httptrace.GotConnInfo{}, err
			}
		}
	}
}

// lookup returns the host of a URL, which is new if it has no connections yet. mu is held.
func (p *pool) lookup(u *url.URL) (*host, error) {
	spelled := hostKey{u.Scheme, u.Host}
	if h := p.spelled[spelled]; h != nil {
		return h, nil
	}
	if err := checkHost(u.Host); err != nil {
		return nil, err
	}
	key := hostKey{u.Scheme, strings.ToLower(hostPort(u))}
	h := p.hosts[key]
	if h == nil {
		h = &host{key: key}
		if p.hosts == nil {
			p.hosts, p.spelled = make(map[hostKey]*host), make(map[hostKey]*host)
		}
		p.hosts[key] = h
	}
	if len(h.spellings) < maxSpellings {
		h.spellings = append(h.spellings, spelled)
		p.spelled[spelled] = h
	}
	return h, nil
}

// maxSpellings bounds what is remembered of one host: EXAMPLE.org, Example.org:443, and so on.
const maxSpellings = 8

// hostPort is the address to dial for a URL.
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

// forget drops a host without connections and dials. mu is held.
func (p *pool) forget(h *host) {
	if len(h.conns) > 0 || h.dialing > 0 || p.hosts[h.key] != h {
		return
	}
	delete(p.hosts, h.key)
	for _, s := range h.spellings {
		delete(p.spelled, s)
	}
}

// pick returns the connection that the next request should use: the first with a free stream; if no other may be
// opened, the one with the fewest requests, where it waits for its turn. It also takes out connections that accept no
// streams any more and returns those that nobody uses. The pool's mu is held.
func (h *host) pick(t *Transport) (best *poolConn, dead []*poolConn) {
	full := t.strictConcurrency() || t.MaxConnsPerHost > 0 && h.trusted()+h.dialing >= t.MaxConnsPerHost
	for i := 0; i < len(h.conns); i++ {
		pc := h.conns[i]
		state := pc.cc.State()
		if !state.Available {
			if pc.retireLocked(); pc.active == 0 {
				dead = append(dead, pc)
			}
			i--
			continue
		}
		if pc.doubt.holds(state.LastReceived) {
			continue
		}
		limit := state.MaxConcurrent
		if !state.SettingsReceived {
			limit = min(limit, streamsBeforeSettings)
		}
		if int64(pc.active) < int64(limit) {
			return pc, dead
		}
		if full && (best == nil || pc.active < best.active) {
			best = pc
		}
	}
	return best, dead
}

func closeAll(conns []*poolConn) {
	for _, pc := range conns {
		pc.close()
	}
}

// close ends the connection in the background: GOAWAY leaves if the server takes it in time, which nobody waits for.
func (pc *poolConn) close() { go pc.cc.Close() }

// reserveLocked takes a place on the connection for one exchange; last says that it is the connection's last.
func (pc *poolConn) reserveLocked(last bool) httptrace.GotConnInfo {
	info := httptrace.GotConnInfo{Reused: pc.used, WasIdle: pc.used && pc.active == 0}
	if info.WasIdle && !pc.idleSince.IsZero() {
		info.IdleTime = time.Since(pc.idleSince)
	}
	pc.used = true
	pc.active++
	if last {
		pc.retireLocked()
	}
	return info
}

func (pc *poolConn) reserve() httptrace.GotConnInfo {
	pc.t.pool.mu.Lock()
	defer pc.t.pool.mu.Unlock()
	return pc.reserveLocked(false)
}

// retireLocked takes the connection out of the pool; what it serves goes on.
func (pc *poolConn) retireLocked() {
	if pc.retired || pc.host == nil {
		return
	}
	pc.retired = true
	if i := slices.Index(pc.host.conns, pc); i >= 0 {
		pc.host.conns = slices.Delete(pc.host.conns, i, i+1)
	}
}

// release gives back the place of one exchange. A connection that takes no other is closed with its last.
func (pc *poolConn) release() {
	p := &pc.t.pool
	p.mu.Lock()
	pc.active--
	idle := pc.active == 0 && pc.host != nil
	if idle && !pc.retired && !pc.cc.State().Available {
		pc.retireLocked()
	}
	closing := idle && pc.retired
	if idle && !closing {
		pc.armIdleTimer()
	}
	p.mu.Unlock()
	if closing {
		pc.close()
	}
}

// armIdleTimer notes that the connection is idle from now on. The timer is left running while requests come and go,
// and looks at the time stamp when it fires, so that a request costs no change of a timer.
func (pc *poolConn) armIdleTimer() {
	limit := timeout(pc.t.IdleConnTimeout, defaultIdleConnTimeout)
	pc.idleSince = time.Now()
	switch {
	case limit == 0 || pc.idleArmed:
		return
	case pc.idleTimer == nil:
		pc.idleTimer = time.AfterFunc(limit, pc.idleCheck)
	default:
		pc.idleTimer.Reset(limit)
	}
	pc.idleArmed = true
}

func (pc *poolConn) idleCheck() {
	limit := timeout(pc.t.IdleConnTimeout, defaultIdleConnTimeout)
	p := &pc.t.pool
	p.mu.Lock()
	pc.idleArmed = false
	closing := false
	if pc.active == 0 && !pc.retired {
		if rest := limit - time.Since(pc.idleSince); rest > 0 {
			pc.idleTimer.Reset(rest)
			pc.idleArmed = true
		} else {
			pc.retireLocked()
			closing = true
		}
	}
	p.mu.Unlock()
	if closing {
		pc.close()
	}
}

// watch takes the connection out of the pool when it ends, so that one that nobody uses is not kept in memory.
func (pc *poolConn) watch() {
	<-pc.cc.Done()
	p := &pc.t.pool
	p.mu.Lock()
	pc.retireLocked()
	p.forget(pc.host)
	if pc.idleTimer != nil {
		pc.idleTimer.Stop()
	}
	p.mu.Unlock()
}

func (p *pool) closeIdle() {
	p.mu.Lock()
	var idle []*poolConn
	for _, h := range p.hosts {
		for _, pc := range slices.Clone(h.conns) {
			if pc.active == 0 {
				pc.retireLocked()
				idle = append(idle, pc)
			}
		}
	}
	p.mu.Unlock()
	closeAll(idle)
}

// dialAlone makes a connection for one exchange.
func (p *pool) dialAlone(x *exchange) (*poolConn, error) {
	p.mu.Lock()
	h, err := p.lookup(x.req.URL)
	if err != nil {
		p.mu.Unlock()
		return nil, err
	}
	d := p.startLocked(h, x)
	p.mu.Unlock()
	pc, err := d.wait(x)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	pc.reserveLocked(true)
	return pc, nil
}

// joinLocked shares the host's dial, or starts it.
func (p *pool) joinLocked(h *host, x *exchange) *dial {
	if h.dial != nil {
		h.dial.waiters++
		return h.dial
	}
	h.dial = p.startLocked(h, x)
	return h.dial
}

func (p *pool) startLocked(h *host, x *exchange) *dial {
	ctx, cancel := context.WithCancel(context.WithoutCancel(x.ctx))
	d := &dial{pool: p, host: h, waiters: 1, cancel: cancel, done: make(chan struct{})}
	if x.trace != nil {
		d.trace = &dialTrace{to: x.trace, owner: x}
		ctx = d.trace.attach(ctx)
	}
	h.dialing++
	go d.run(ctx, x.t)
	return d
}
