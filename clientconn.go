package h2flow

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"time"

	"example.com/h2flow/conn"
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
)

// A ClientConn is one HTTP/2 connection. Its methods may be called from any number of goroutines.
//
// Model: one mutex guards the core and everything beside it, and is never held across I/O. A goroutine that needs
// something to arrive waits in await, where it may be the one that reads the transport (readrole.go). Whatever is to
// be sent is packed by a goroutine that exists while there is something to send (driver.go), so that no caller ever
// waits for the transport: cancelling is a change of state.
type ClientConn struct {
	nc  net.Conn
	cfg Config

	mu       sync.Mutex
	core     *conn.Conn
	streams  map[frame.StreamID]*ClientStream
	pings    map[[8]byte]*pingWait
	pingSeq  uint64
	awaiting []*waiter // for the peer's SETTINGS
	reader   reader
	writer   writer
	wakes    []chan struct{} // for waiters to come
	socket   *socket         // nil: what nc is, is not known
	timer    *time.Timer
	timerAt  time.Time
	over     bool  // the core gave its last event
	err      error // why; nil after a graceful end
	goAway   error // the peer's GOAWAY

	started time.Time

	strategyOver func() // to be called when the connection is over

	events   *events // nil: nobody is told
	lastOpen int     // open streams when OnStateChange was last called for

	done chan struct{} // closed when the connection is over and its transport is closed
}

// NewClientConn speaks HTTP/2 over nc, which from now on belongs to the connection. A *tls.Conn must have chosen h2 by
// ALPN; its handshake is done here if it was not. Over any other net.Conn the peer is known to speak HTTP/2. nc may
// refuse deadlines, as the channels of SSH do.
//
// The preface is sent at once, in the background. On an error nc is closed.
func NewClientConn(nc net.Conn, cfg *Config) (*ClientConn, error) {
	if cfg == nil {
		cfg = &Config{}
	}
	if nc == nil {
		return nil, errors.New("h2flow: NewClientConn needs a net.Conn")
	}
	if tc, ok := nc.(*tls.Conn); ok {
		if err := checkTLS(tc, timeoutOr(cfg.TLSHandshakeTimeout, defaultHandshakeTimeout)); err != nil {
			nc.Close()
			return nil, err
		}
	}
	c := &ClientConn{
		nc:      nc,
		cfg:     *cfg,
		streams: make(map[frame.StreamID]*ClientStream),
		done:    make(chan struct{}),
		events:  newEvents(cfg),
		started: time.Now(),
	}
	c.cfg.ReadBufferSize, c.cfg.WriteBufferSize = bufferSize(cfg.ReadBufferSize), bufferSize(cfg.WriteBufferSize)
	c.events.opened(nc)
	strategy, over := cfg.newStrategy(c.events)
	c.strategyOver = over
	c.core = conn.New(c.started, cfg.coreConfig(strategy, c.events))
	c.reader.init(nc, cfg.Reader, &c.mu)
	c.socket = socketOf(nc)
	c.writer.run = c.write
	c.mu.Lock()
	if rtt := c.socket.roundTrip(); rtt > 0 {
		c.core.RTTSample(c.started, flow.SourceKernel, rtt)
	}
	c.unlock()
	return c, nil
}

// clock is the present time. It asks for less than time.Now does, which asks for the time of day as well.
func (c *ClientConn) clock() time.Time { return c.started.Add(time.Since(c.started)) }

// A Request is the head of a request.
type Request struct {
	Method    string
	Scheme    string // left out for CONNECT without Protocol
	Authority string
	Path      string // likewise
	Protocol  string // the :protocol of an extended CONNECT, which waits for the peer's SETTINGS; see RFC 8441
	// Header are the further fields, names in lower case. They are read until the stream is over and must not change.
	Header []Field
	// EndStream says that no body follows.
	EndStream bool
}

// fieldPool holds the slices in which request heads are put together.
var fieldPool = sync.Pool{New: func() any { s := make([]Field, 0, 16); return &s }}

// fields appends the whole head to dst.
func (r *Request) fields(dst []Field) []Field {
	dst = append(dst, Field{Name: ":method", Value: r.Method})
	for _, f := range [...]Field{
		{Name: ":protocol", Value: r.Protocol}, {Name: ":scheme", Value: r.Scheme},
		{Name: ":authority", Value: r.Authority}, {Name: ":path", Value: r.Path},
	} {
		if f.Value != "" {
			dst = append(dst, f)
		}
	}
	return append(dst, r.Header...)
}

// OpenStream sends the head of a request and returns its stream. If as many streams are open as may be, it waits for
// its turn.
//
// ctx governs the whole life of the stream: when it ends, the stream is reset with CANCEL and every blocked call
// returns context.Cause(ctx) at once. An error that matches ErrNotProcessed says that nothing was sent and that
// another connection may serve.
func (c *ClientConn) OpenStream(ctx context.Context, req *Request) (*ClientStream, error) {
	if req == nil {
		return nil, errors.New("h2flow: OpenStream needs a Request")
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if req.Protocol != "" {
		if err := c.AwaitSettings(ctx); err != nil {
			return nil, err
		}
	}
	s := &ClientStream{c: c}
	s.fields = fieldPool.Get().(*[]Field)
	*s.fields = req.fields((*s.fields)[:0])
	c.mu.Lock()
	now := c.clock()
	id, err := c.core.Open(now, *s.fields, req.EndStream)
	if err != nil {
		s.putFields()
		err = openError(err, c.endError())
		c.unlock()
		return nil, err
	}
	s.id, s.sendOver = id, req.EndStream
	c.streams[id] = s
	c.packNow(now)
	if ctx.Done() != nil {
		s.stop = context.AfterFunc(ctx, func() { s.cancel(context.Cause(ctx)) })
	}
	for !s.opened && s.err == nil {
		c.await(&s.reader, nil)
	}
	err = s.err
	c.endSection()
	c.flush(c.core.OpenStreams() > 1)
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return s, nil
}

// endError is why no stream can be opened any more.
func (c *ClientConn) endError() error {
	if c.err != nil {
		return c.err
	}
	return c.goAway
}

// pingWait is a Ping that waits for its answer.
type pingWait struct {
	waiter
	answered bool
	rtt      time.Duration
}

// Ping asks the peer for a sign of life and returns the time that it took.
func (c *ClientConn) Ping(ctx context.Context) (time.Duration, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	w := new(pingWait)
	c.mu.Lock()
	c.pingSeq++
	data := [8]byte{'p', 'i', 'n', 'g'}
	binary.BigEndian.PutUint32(data[4:], uint32(c.pingSeq))
	if c.pings == nil {
		c.pings = make(map[[8]byte]*pingWait)
	}
	c.pings[data] = w
	c.core.Ping(time.Now(), data)
	stop := context.AfterFunc(ctx, func() { c.mu.Lock(); c.wake(&w.waiter); c.unlock() })
	for !w.answered && !c.over && ctx.Err() == nil {
		c.await(&w.waiter, nil)
	}
	delete(c.pings, data)
	err := c.err
	if c.over && err == nil {
		err = ErrConnClosed
	}
	c.unlock()
	stop()
	switch {
	case w.answered:
		return w.rtt, nil
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	}
	return 0, err
}

// Shutdown ends the connection gracefully: the peer is told, no stream can be opened any more, those that are open
// finish, and the transport is closed. It returns when that is done, or with context.Cause(ctx) when ctx ends first;
// the connection then goes on ending, and Close ends it at once.
func (c *ClientConn) Shutdown(ctx context.Context) error {
	c.mu.Lock()
	c.core.Shutdown(time.Now())
	c.unlock()
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// closeGrace is how long Close waits for GOAWAY to leave.
const closeGrace = 200 * time.Millisecond

// Close ends the connection at once: streams that are open fail, GOAWAY is sent if the transport takes it, and the
// transport is closed. It is safe to call it more than once.
func (c *ClientConn) Close() error {
	c.mu.Lock()
	c.core.Close(time.Now())
	c.unlock()
	grace := time.NewTimer(closeGrace)
	defer grace.Stop()
	select {
	case <-c.done:
	case <-grace.C:
		c.nc.Close()
		<-c.done
	}
	return nil
}

// Done is closed when the connection is over and its transport is closed.
func (c *ClientConn) Done() <-chan struct{} { return c.done }

// Err is why the connection failed: a *ConnError or a *GoAwayError; nil while it works and after a graceful end.
func (c *ClientConn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// NetConn is the transport. Reading or writing it breaks the connection.
func (c *ClientConn) NetConn() net.Conn { return c.nc }

// A ConnState is a look at a connection.
type ConnState struct {
	// Open is the number of streams that are open, Queued that of those that wait for a slot.
	Open, Queued int
	// MaxConcurrent is the limit of Open in force: the lower of the Config's and the peer's; 2^32-1 means none.
	MaxConcurrent uint32
	// Available says that new streams may be opened.
	Available bool
	// SettingsReceived says that the peer's SETTINGS have come, ExtendedConnect that they allow RFC 8441.
	SettingsReceived bool
	ExtendedConnect  bool
	// LastReceived is when octets last arrived. Until some have since the first of the open streams was opened, it is
	// when that was.
	LastReceived time.Time
	// GoAway is the peer's GOAWAY, a *GoAwayError, or nil.
	GoAway error
}

// State returns the present state.
func (c *ClientConn) State() ConnState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return ConnState{
		Open: c.core.OpenStreams(), Queued: c.core.QueuedStreams(), MaxConcurrent: c.core.MaxConcurrentStreams(),
		Available: !c.over && c.core.Available(), SettingsReceived: c.core.SettingsReceived(),
		ExtendedConnect: c.core.ExtendedConnect(), LastReceived: c.core.LastReceived(), GoAway: c.goAway,
	}
}
