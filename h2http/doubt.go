package h2http

import (
	"context"
	"errors"
	"time"
)

// A doubt is a connection that may be dead: a request on it timed out and nothing at all has arrived since it was
// sent. Until something arrives no new request is put on it, so that not each of them has to time out in its turn, and
// a PING asks the server for a sign of life. Without an answer the connection is closed.
//
// Model: raised is when the doubt arose, and zero without one; proven is when a PING of this kind was last answered.
// All is guarded by the pool's mu.
type doubt struct {
	raised time.Time
	proven time.Time
}

const (
	// doubtPause is how long an answer to a PING is taken for granted: servers count the PINGs of clients, and a
	// caller with short timeouts must not make one for each.
	doubtPause = 10 * time.Second
	// doubtTimeout is how long to wait for the answer if Transport.PingTimeout does not say.
	doubtTimeout = 15 * time.Second
)

// holds says whether nothing has arrived since the doubt arose.
func (d *doubt) holds(lastReceived time.Time) bool {
	return !d.raised.IsZero() && !lastReceived.After(d.raised)
}

// timedOut is told that a request timed out that was sent at the given time and had no answer.
func (pc *poolConn) timedOut(sent time.Time) {
	if pc.host.single || pc.cc.State().LastReceived.After(sent) {
		return
	}
	p := &pc.t.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if pc.retired || !pc.doubt.raised.IsZero() || now.Sub(pc.doubt.proven) < doubtPause {
		return
	}
	pc.doubt.raised = now
	go pc.probe(now)
}

// probe asks the server for a sign of life and closes the connection if there is none since raised.
func (pc *poolConn) probe(raised time.Time) {
	limit := pc.t.engineConfig().PingTimeout
	if limit <= 0 {
		limit = doubtTimeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_, err := pc.cc.Ping(ctx)
	alive := err == nil || pc.cc.State().LastReceived.After(raised)
	p := &pc.t.pool
	p.mu.Lock()
	pc.doubt = doubt{}
	if alive {
		pc.doubt.proven = time.Now()
	} else {
		pc.retireLocked()
	}
	p.mu.Unlock()
	if !alive {
		pc.close()
	}
	p.serve(pc.host)
}

// isTimeout says whether a request ended because its time was over, rather than because nobody wanted it any more.
// An http.Client with a Timeout closes Request.Cancel for it.
func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout() || errors.Is(err, errRequestCanceled)
}
