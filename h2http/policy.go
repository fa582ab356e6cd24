package h2http

import (
	"cmp"
	"time"
)

// A Policy chooses the connection of each request. It is asked with the pool locked: it must be quick, must not call the
// Transport, and must not keep what it is given. One value may serve any number of Transports.
//
// Whatever a Policy says, the limits of the Transport hold: MaxConnsPerHost and StrictMaxConcurrentRequests turn a dial
// into a wait, and a request for which there is neither a connection nor a dial always causes one.
type Policy interface {
	// Choose says where the next request of a host goes.
	Choose(h HostState) Choice
}

// A HostState is what a Policy is told: the connections to one host, oldest first, that take new requests.
type HostState struct {
	// Scheme and Addr ("host:port") name the host.
	Scheme, Addr string
	Conns        []ConnState
	// Dialing is the number of dials in progress, Waiting that of the requests in the queue.
	Dialing, Waiting int
	// MaxConns is the Transport's MaxConnsPerHost; a dial beyond it becomes a wait.
	MaxConns int
}

// A ConnState is what a Policy is told of one connection.
type ConnState struct {
	// InFlight is the number of requests on it whose stream is open or about to be; Room is how many more it takes at
	// once. Room is negative if the server has lowered its limit.
	InFlight, Room int
	// Created is when the connection was made.
	Created time.Time
}

// A Choice is the index of a connection in HostState.Conns, where the request is sent at once or, without Room, waits
// in the queue of that connection; or one of the constants.
type Choice int

const (
	// Dial shares the dial in progress, or starts one if there is none.
	Dial Choice = -1
	// DialAnother starts a dial whatever others are in progress.
	DialAnother Choice = -2
	// Wait puts the request in the host's queue, from which requests go in order as streams end on any connection.
	Wait Choice = -3
)

// FewestConns fills the oldest connection before it uses the next, and opens another one only if all are at their limit
// of concurrent streams. It is the default: one connection shares one congestion window, one header table and one TLS
// session, and the others can become idle and be closed.
type FewestConns struct{}

// Choose takes the first connection with room.
func (FewestConns) Choose(h HostState) Choice {
	for i, c := range h.Conns {
		if c.Room > 0 {
			return Choice(i)
		}
	}
	return Dial
}

// MostConns spreads requests over several connections: behind a balancer of connections they reach several servers, on
// a path that loses packets one loss does not hold up everything, and with several processors one connection does not
// keep one of them busy.
type MostConns struct {
	// Conns is how many connections to open before any of them gets a second request at a time. Zero means
	// MaxConnsPerHost, and 4 if that is zero too.
	Conns int
}

// Choose takes an unused connection, then opens one, then takes the one with the fewest requests.
func (p MostConns) Choose(h HostState) Choice {
	best := Dial
	for i, c := range h.Conns {
		switch {
		case c.Room <= 0:
		case c.InFlight == 0:
			return Choice(i)
		case best < 0 || c.InFlight < h.Conns[best].InFlight:
			best = Choice(i)
		}
	}
	limit := cmp.Or(p.Conns, h.MaxConns, defaultMostConns)
	if h.MaxConns > 0 {
		limit = min(limit, h.MaxConns)
	}
	if len(h.Conns)+h.Dialing < limit {
		return DialAnother
	}
	return best
}

const defaultMostConns = 4
