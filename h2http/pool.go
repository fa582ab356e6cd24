package h2http

import (
	"context"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
)

// A pool holds the connections of a Transport, by host.
//
// Model: mu guards everything below it, the fields of the hosts, and the counts of their connections. It is held
// neither while dialing nor while closing. A host is in the pool while it has a connection, a dial, or a request that
// waits. Whoever makes room (a stream that ends, a dial that succeeds, a limit that is raised) calls serve, which gives
// the room to those who wait, in order.
type pool struct {
	mu    sync.Mutex
	hosts map[hostKey]*host
	// spelled finds a host by the URL as it is spelled, so that the usual request builds no key.
	spelled map[hostKey]*host
	calmed  map[hostKey]uint8 // how often a host complained of too many PINGs

	counters counters
}

// A hostKey says which requests may share connections: the scheme, the address to dial, and the proxy to dial it by.
type hostKey struct{ scheme, addr, proxy string }

// A host is all that is known of one hostKey.
type host struct {
	t         *Transport
	key       hostKey
	proxy     *url.URL // nil: none
	spellings []hostKey
	conns     []*poolConn // that take new requests
	dial      *dial       // in progress, for whoever wants to share it
	dialing   int         // dials in progress
	single    bool        // of a ClientConn: not in the pool, and its one connection is its holder's to close

	queue   queue
	looking int          // requests that have left the queue to dial and have not begun to
	queued  atomic.Int32 // len of queue, for those who do not hold the lock

	states []ConnState // scratch, for the policy
	usable []*poolConn // likewise: the connection of each state
}

// streamsBeforeSettings is how many streams a server is assumed to allow while its SETTINGS are on their way: what
// every server should allow at least. See RFC 9113, Section 6.5.2.
const streamsBeforeSettings = 100

// get finds or makes a connection for x, and reserves a place on it that release gives back.
func (p *pool) get(x *exchange) (*poolConn, httptrace.GotConnInfo, error) {
	proxy, err := x.t.proxyFor(x.req)
	if err != nil {
		return nil, httptrace.GotConnInfo{}, err
	}
	if x.t.DisableKeepAlives {
		pc, err := p.dialAlone(x, proxy)
		return pc, httptrace.GotConnInfo{}, err
	}
	var made *poolConn
	for waited, front := false, false; ; {
		p.mu.Lock()
		h, err := p.lookup(x.t, x.req.URL, proxy)
		if err != nil {
			p.mu.Unlock()
			return nil, httptrace.GotConnInfo{}, err
		}
		if waited {
			h.looking--
			waited = false
			front = true
		}
		choice, pc, dead := Wait, (*poolConn)(nil), []*poolConn(nil)
		if front || h.queue.len() == 0 {
			choice, pc, dead = h.choose()
		}
		switch {
		case pc != nil:
			info := pc.reserveLocked(x.msg.lastOnConn)
			p.mu.Unlock()
			closeAll(dead)
			return pc, info, nil
		case made != nil && !made.cc.State().Available:
			// It was over before it could be used. Its error counts as an attempt; to dial at once would go on
			// for ever with a server that ends every connection.
			info := made.reserveLocked(true)
			p.mu.Unlock()
			closeAll(dead)
			return made, info, nil
		case choice == Wait:
			w, err := h.enqueueLocked(x.msg.lastOnConn, front)
			p.mu.Unlock()
			closeAll(dead)
			if err != nil {
				return nil, httptrace.GotConnInfo{}, err
			}
			pc, info, err := p.await(x, h, w)
			if pc != nil || err != nil {
				return pc, info, err
			}
			waited = true
		default:
			d := p.joinLocked(h, x, choice)
			p.mu.Unlock()
			closeAll(dead)
			if made, err = d.wait(x); err != nil {
				return nil, httptrace.GotConnInfo{}, err
			}
		}
	}
}

// lookup returns the host of a URL, which is new if it has no connections yet. mu is held.
func (p *pool) lookup(t *Transport, u, proxy *url.URL) (*host, error) {
	spelled := hostKey{u.Scheme, u.Host, proxyKey(proxy)}
	if h := p.spelled[spelled]; h != nil {
		return h, nil
	}
	addr, err := dialAddress(u)
	if err != nil {
		return nil, err
	}
	key := hostKey{u.Scheme, strings.ToLower(addr), spelled.proxy}
	h := p.hosts[key]
	if h == nil {
		h = &host{t: t, key: key, proxy: proxy}
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

// forget drops a host without connections, dials, and requests that wait. mu is held.
func (p *pool) forget(h *host) {
	if len(h.conns) > 0 || h.dialing > 0 || h.queue.len() > 0 || h.looking > 0 || p.hosts[h.key] != h {
		return
	}
	delete(p.hosts, h.key)
	for _, s := range h.spellings {
		delete(p.spelled, s)
	}
}

// choose asks the policy for the next request, and holds it to the limits: it returns a connection, or which kind of
// dial to wait for, or Wait. It also takes out connections that accept no streams any more and returns those that
// nobody uses. The pool's mu is held.
func (h *host) choose() (Choice, *poolConn, []*poolConn) {
	if h.single {
		return h.chooseSingle()
	}
	dead := h.survey()
	var choice Choice
	if h.t.Policy == nil {
		choice = FewestConns{}.Choose(h.state())
	} else {
		choice = h.t.Policy.Choose(h.state())
	}
	switch {
	case choice >= 0 && int(choice) < len(h.usable):
		return choice, h.usable[choice], dead
	case len(h.usable)+h.dialing == 0:
		return Dial, nil, dead // nothing that it could wait for
	case choice == Dial && h.dial != nil:
		return Dial, nil, dead
	case choice == Wait || !h.mayDial():
		if h.dial != nil && len(h.usable) == 0 {
			return Dial, nil, dead
		}
		return Wait, nil, dead
	case choice == DialAnother:
		return DialAnother, nil, dead
	}
	return Dial, nil, dead
}

// mayDial says whether the limits allow another connection.
func (h *host) mayDial() bool {
	n := len(h.usable) + h.dialing
	if h.single || h.t.strictConcurrency() && n > 0 {
		return false
	}
	return h.t.MaxConnsPerHost <= 0 || n < h.t.MaxConnsPerHost
}

func (h *host) state() HostState {
	return HostState{
		Scheme: h.key.scheme, Addr: h.key.addr, Conns: h.states, Dialing: h.dialing, Waiting: h.queue.len(),
		MaxConns: h.t.MaxConnsPerHost,
	}
}

// survey brings usable and states up to date: the connections that take requests and are not in doubt.
func (h *host) survey() (dead []*poolConn) {
	h.usable, h.states = h.usable[:0], h.states[:0]
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
		inFlight, room := pc.room(state)
		h.usable = append(h.usable, pc)
		h.states = append(h.states, ConnState{InFlight: inFlight, Room: room, Created: pc.created})
	}
	return dead
}

func closeAll(conns []*poolConn) {
	for _, pc := range conns {
		pc.close()
	}
}

func (p *pool) closeIdle() {
	p.mu.Lock()
	var idle []*poolConn
	for _, h := range p.hosts {
		for i := len(h.conns) - 1; i >= 0; i-- {
			if pc := h.conns[i]; pc.active == 0 {
				pc.retireLocked()
				idle = append(idle, pc)
			}
		}
	}
	p.mu.Unlock()
	closeAll(idle)
}

// dialAlone makes a connection for one exchange.
func (p *pool) dialAlone(x *exchange, proxy *url.URL) (*poolConn, error) {
	p.mu.Lock()
	h, err := p.lookup(x.t, x.req.URL, proxy)
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

// joinLocked shares the host's dial, or starts one, and sees to it that the host has as many connections as it should
// have at least.
func (p *pool) joinLocked(h *host, x *exchange, choice Choice) *dial {
	d := h.dial
	if d != nil && choice != DialAnother {
		d.waiters++
		return d
	}
	d = p.startLocked(h, x)
	if h.dial == nil {
		h.dial = d
	}
	for len(h.conns)+h.dialing < x.t.MinConnsPerHost && h.mayDial() {
		p.startSpareLocked(h, x)
	}
	return d
}

func (p *pool) startLocked(h *host, x *exchange) *dial {
	d, ctx := p.newDialLocked(h, x)
	if x.trace != nil {
		d.trace = &dialTrace{to: x.trace, owner: x}
		ctx = d.trace.attach(ctx)
	}
	go d.run(ctx, x.t)
	return d
}

// startSpareLocked starts a dial that no request waits for.
func (p *pool) startSpareLocked(h *host, x *exchange) {
	d, ctx := p.newDialLocked(h, x)
	go d.run(untraced{ctx}, x.t)
}

func (p *pool) newDialLocked(h *host, x *exchange) (*dial, context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(x.ctx))
	h.dialing++
	p.counters.dials.Add(1)
	return &dial{pool: p, host: h, waiters: 1, cancel: cancel, done: make(chan struct{})}, ctx
}
