package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

const (
	// readSize is the most that is read at once, in octets.
	readSize = 64 << 10

	// kernelBuffer is the size of the socket buffers in front of the relay, in octets. Small, so that what waits does
	// so in the relay's queue, whose length is known, and large enough for any rate that loopback can do.
	kernelBuffer = 128 << 10

	// early is how much before its time a segment may leave. A segment is due when its last octet is; on a real link
	// its first one would have arrived earlier, and every sleep ends late.
	early = 250 * time.Microsecond
)

// Config says what a Relay does.
type Config struct {
	// Listen is the TCP address to listen on. Empty means a free port of 127.0.0.1.
	Listen string
	// Target is the TCP address that every accepted connection is connected to.
	Target string
	// Up is the path from the client to the target, Down the path back.
	Up, Down Path

	// Tap, if not nil, is called for every accepted connection. What the client sends is written to the Writer, in
	// order and unchanged, when it enters the path. Its errors are ignored.
	Tap func() io.Writer

	// OnMove, if not nil, is told when octets of the way down entered or left the path. It is called from the
	// relay's goroutines, also concurrently, and must be quick.
	OnMove func(Move)
}

// A Move says how far one connection's way down has come.
type Move struct {
	Now time.Time
	// Entered and Left count the octets since the connection began; the difference is on the path.
	Entered, Left int64
}

// A Relay is a listening socket behind an emulated path.
type Relay struct {
	config   Config
	listener net.Listener
	up, down link
	done     chan struct{}
	working  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]struct{}
}

// Listen starts a Relay. The caller closes it.
func Listen(config Config) (*Relay, error) {
	if config.Listen == "" {
		config.Listen = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", config.Listen)
	if err != nil {
		return nil, err
	}
	r := &Relay{
		config: config, listener: listener, done: make(chan struct{}), conns: make(map[net.Conn]struct{}),
		up: link{path: config.Up}, down: link{path: config.Down},
	}
	r.working.Go(r.accept)
	return r, nil
}

// Addr is the address that clients connect to.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// RTT is the round-trip time of the path without load.
func (r *Relay) RTT() time.Duration { return r.config.Up.Delay + r.config.Down.Delay }

// Close ends the relay and its connections, and waits until its goroutines have ended.
func (r *Relay) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	close(r.done)
	for c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	err := r.listener.Close()
	r.working.Wait()
	return err
}

// hold registers c to be closed with the relay; false if the relay is closed already.
func (r *Relay) hold(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.conns[c] = struct{}{}
	return true
}

func (r *Relay) drop(c net.Conn) {
	r.mu.Lock()
	delete(r.conns, c)
	r.mu.Unlock()
	c.Close()
}

func (r *Relay) accept() {
	for {
		c, err := r.listener.Accept()
		if err != nil {
			return
		}
		accepted := time.Now()
		if !r.hold(c) {
			c.Close()
			return
		}
		r.working.Go(func() {
			defer r.drop(c)
			r.connect(c, accepted)
		})
	}
}

// connect serves one accepted connection until both directions have ended.
func (r *Relay) connect(client net.Conn, accepted time.Time) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-r.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	server, err := new(net.Dialer).DialContext(ctx, "tcp", r.config.Target)
	if err != nil || !r.hold(server) {
		return
	}
	defer r.drop(server)
	for _, c := range []net.Conn{client, server} {
		if tcp, ok := c.(*net.TCPConn); ok {
			tcp.SetReadBuffer(kernelBuffer)
		}
	}

	// The client's kernel considers the connection open at once. On the path the client would know after one round
	// trip, and the server after one and a half.
	up := newPipe(&r.up, client, server, accepted.Add(r.RTT()))
	down := newPipe(&r.down, server, client, accepted.Add(r.RTT()+r.config.Up.Delay))
	if r.config.Tap != nil {
		up.tap = r.config.Tap()
	}
	down.onMove = r.config.OnMove

	var working sync.WaitGroup
	abort := func() {
		up.abort()
		down.abort()
	}
	defer abort()
	stop := context.AfterFunc(ctx, abort)
	defer stop()
	for _, work := range []func() error{up.fill, up.empty, down.fill, down.empty} {
		working.Go(func() {
			if work() != nil {
				abort()
			}
		})
	}
	working.Wait()
}

// A pipe is one direction of one connection: fill reads into the queue, empty writes from it.
type pipe struct {
	link     *link
	queue    *queue
	alarm    alarm // what empty sleeps by
	from, to net.Conn
	opened   time.Time // nothing enters the path earlier
	tap      io.Writer
	onMove   func(Move)
}

func newPipe(l *link, from, to net.Conn, opened time.Time) *pipe {
	return &pipe{link: l, queue: newQueue(l.path.limit()), alarm: newAlarm(), from: from, to: to, opened: opened}
}

// abort makes fill and empty return.
func (p *pipe) abort() {
	p.from.Close()
	p.to.Close()
	p.queue.fail()
	p.alarm.close()
}

var errBroken = errors.New("the other side is gone")

// fill reads until the sender ends. A nil error is an orderly end.
func (p *pipe) fill() error {
	for {
		space := p.queue.space()
		if space == nil {
			return errBroken
		}
		n, err := p.from.Read(space)
		now := time.Now()
		if p.tap != nil {
			p.tap.Write(space[:n])
		}
		at := now
		if at.Before(p.opened) {
			at = p.opened
		}
		for left := n; left > 0; {
			m := min(left, p.link.path.segment())
			p.queue.add(m, p.link.reserve(at, m))
			left -= m
		}
		if n > 0 {
			p.moved(now)
		}
		if err == io.EOF {
			p.queue.end(p.link.reserve(at, 0))
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// empty writes what is due until the end is due.
func (p *pipe) empty() error {
	for {
		due, ok := p.queue.next()
		if !ok {
			return errBroken
		}
		if !p.alarm.sleepUntil(due.Add(-early)) {
			return errBroken
		}
		out, last := p.queue.ready(time.Now().Add(early))
		if last {
			return p.closeWrite()
		}
		n, err := p.to.Write(out)
		p.queue.took(n)
		if err != nil {
			return err
		}
		p.moved(time.Now())
	}
}

func (p *pipe) moved(now time.Time) {
	if p.onMove != nil {
		in, out := p.queue.moved()
		p.onMove(Move{Now: now, Entered: in, Left: out})
	}
}

// closeWrite passes the sender's end on.
func (p *pipe) closeWrite() error {
	if tcp, ok := p.to.(*net.TCPConn); ok {
		return tcp.CloseWrite()
	}
	return p.to.Close()
}
