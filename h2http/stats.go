package h2http

import (
	"sync/atomic"
	"time"

	"example.com/h2flow"
)

// counters count what a Transport did.
type counters struct {
	requests, retries, failures, dials, dialErrors atomic.Uint64
}

// Stats are the counters of a Transport, and a look at its connections; see Transport.Stats.
type Stats struct {
	// Requests is the number of calls of RoundTrip, Failures that of those which gave an error, and Retries how often a
	// request was sent again.
	Requests, Failures, Retries uint64
	// Dials is the number of connections that were begun, DialErrors that of those which failed.
	Dials, DialErrors uint64
	// Hosts are the hosts with a connection, a dial, or a request that waits, in no particular order.
	Hosts []HostStats
}

// HostStats tells of one host.
type HostStats struct {
	// Scheme, Addr ("host:port") and Proxy (without a password, empty for none) say which.
	Scheme, Addr, Proxy string
	// Dialing is the number of dials in progress, Waiting that of the requests in the queue at present.
	Dialing, Waiting int
	// Waited is how many requests have left the queue, after WaitTotal together and WaitMax at most.
	Waited             uint64
	WaitTotal, WaitMax time.Duration
	// Conns are the connections that take requests, oldest first.
	Conns []ConnStats
}

// ConnStats tells of one connection.
type ConnStats struct {
	// Remote is the address at the other end.
	Remote string
	// Created is when it was made, Requests how many requests it was chosen for, Active how many of them are in
	// progress, their bodies included.
	Created  time.Time
	Requests uint64
	Active   int
	// State is the state of the connection.
	State h2flow.ConnState
}

// Stats returns the counters as they are now. It may be called at any time; it locks the pool for a moment.
func (t *Transport) Stats() Stats {
	p := &t.pool
	c := &p.counters
	s := Stats{
		Requests: c.requests.Load(), Failures: c.failures.Load(), Retries: c.retries.Load(),
		Dials: c.dials.Load(), DialErrors: c.dialErrors.Load(),
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.hosts {
		s.Hosts = append(s.Hosts, h.stats())
	}
	return s
}

func (h *host) stats() HostStats {
	s := HostStats{
		Scheme: h.key.scheme, Addr: h.key.addr, Dialing: h.dialing, Waiting: h.queue.len(),
		Waited: h.queue.waited, WaitTotal: h.queue.waitTotal, WaitMax: h.queue.waitMax,
	}
	if h.proxy != nil {
		s.Proxy = h.proxy.Redacted()
	}
	for _, pc := range h.conns {
		c := ConnStats{Created: pc.created, Requests: pc.requests, Active: pc.active, State: pc.cc.State()}
		if a := pc.cc.NetConn().RemoteAddr(); a != nil {
			c.Remote = a.String()
		}
		s.Conns = append(s.Conns, c)
	}
	return s
}
