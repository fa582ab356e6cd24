package pipe

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// backlog is how many connections may wait to be accepted.
const backlog = 128

// A Listener makes connections in memory for whoever dials it.
type Listener struct {
	link   Link
	queue  chan *Conn
	once   sync.Once
	closed chan struct{}
}

var _ net.Listener = (*Listener)(nil)

// Listen returns a Listener whose connections have the given link. In a bubble of testing/synctest, call it there.
func Listen(l Link) *Listener {
	return &Listener{link: l, queue: make(chan *Conn, backlog), closed: make(chan struct{})}
}

// Dial returns the client's end of a new connection. It takes no time unless many wait to be accepted. It fails with
// ECONNREFUSED once the Listener is closed.
func (l *Listener) Dial() (net.Conn, error) {
	return l.DialContext(context.Background(), "pipe", "server")
}

// DialContext is Dial in the form that transports ask for; network and address are not looked at.
func (l *Listener) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := New(l.link)
	err := error(syscall.ECONNREFUSED)
	select {
	case <-l.closed:
		return nil, client.wrap("dial", err)
	default:
	}
	select {
	case l.queue <- server:
		select {
		case <-l.closed:
			l.drain() // Close may not have seen it
		default:
		}
		return client, nil
	case <-l.closed:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return nil, client.wrap("dial", err)
}

// Accept returns the server's end of the next connection. It fails with net.ErrClosed after Close.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
	default:
		select {
		case c := <-l.queue:
			return c, nil
		case <-l.closed:
		}
	}
	return nil, &net.OpError{Op: "accept", Net: "pipe", Addr: l.Addr(), Err: net.ErrClosed}
}

// Close ends Accept and Dial, and closes the connections that wait to be accepted. Others stay.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	l.drain()
	return nil
}

// drain closes what waits to be accepted.
func (l *Listener) drain() {
	for {
		select {
		case c := <-l.queue:
			_ = c.Close()
		default:
			return
		}
	}
}

// Addr is the address of every server's end.
func (l *Listener) Addr() net.Addr { return Addr("server") }
