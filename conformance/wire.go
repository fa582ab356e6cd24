package conformance

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
)

// errTimeout is what next returns when the client says nothing in time.
var errTimeout = errors.New("the client says nothing")

// A wire is the server's end of the connection.
//
// Model: one goroutine reads and one writes, so that neither side can block the other however much is said at once;
// everything else belongs to the goroutine that plays the case. A write that fails is no news, since the client may
// have closed the connection, which is for the next expectation to tell.
type wire struct {
	*peer.Peer
	nc      net.Conn
	timeout time.Duration

	in      chan []byte // closed at the end of what the client says
	end     error       // why, once in is closed
	inEnded bool        // in is closed and drained
	early   []fmt.Stringer

	mu      sync.Mutex
	changed sync.Cond
	out     []byte
	closing bool // close the transport once out is written
	wg      sync.WaitGroup
	done    chan struct{}
}

func newWire(nc net.Conn, timeout time.Duration) *wire {
	w := &wire{Peer: peer.New(peer.HPACK), nc: nc, timeout: timeout, in: make(chan []byte), done: make(chan struct{})}
	w.Lenient = true
	w.changed.L = &w.mu
	start := time.Now()
	w.Elapsed = func() time.Duration { return time.Since(start) }
	w.wg.Go(w.read)
	w.wg.Go(w.write)
	return w
}

func (w *wire) read() {
	defer close(w.in)
	for {
		buf := make([]byte, 64<<10)
		n, err := w.nc.Read(buf)
		if n > 0 {
			select {
			case w.in <- buf[:n]:
			case <-w.done:
				return
			}
		}
		if err != nil {
			w.end = err
			return
		}
	}
}

func (w *wire) write() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.out) == 0 && !w.closing {
			w.changed.Wait()
		}
		out := w.out
		w.out = nil
		if len(out) == 0 {
			w.nc.Close()
			return
		}
		w.mu.Unlock()
		// What a client does not take in time it will not answer either.
		_ = w.nc.SetWriteDeadline(time.Now().Add(w.timeout))
		_, err := w.nc.Write(out)
		w.mu.Lock()
		if err != nil {
			w.out, w.closing = nil, w.closing || isTimeout(err)
		}
	}
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// send queues items. It may be called until close.
func (w *wire) send(items ...any) { w.sendOctets(w.Encode(nil, items...)) }

func (w *wire) sendOctets(octets []byte) {
	w.mu.Lock()
	w.out = append(w.out, octets...)
	w.mu.Unlock()
	w.changed.Signal()
}

// finish closes the transport after what is queued.
func (w *wire) finish() {
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	w.changed.Signal()
}

// close closes the transport and waits for the goroutines.
func (w *wire) close() {
	w.mu.Lock()
	w.out, w.closing = nil, true
	w.mu.Unlock()
	w.changed.Signal()
	close(w.done)
	w.nc.Close()
	w.wg.Wait()
}

// first returns the first thing that the client says after the preface. It is not answered.
func (w *wire) first(deadline <-chan time.Time) (fmt.Stringer, error) {
	for {
		if v, ok := w.Next(); ok {
			return v, nil
		}
		if w.inEnded {
			return nil, w.end
		}
		if err := w.Check(); err != nil {
			return nil, err
		}
		select {
		case octets, ok := <-w.in:
			w.feed(octets, ok)
		case <-deadline:
			return nil, errTimeout
		}
	}
}

// next returns the next thing that the client says, but for what the server answers by itself: PING and SETTINGS. The
// error is errTimeout, or the end of the transport.
func (w *wire) next(deadline <-chan time.Time) (fmt.Stringer, error) {
	for {
		if len(w.early) > 0 {
			v := w.early[0]
			w.early = w.early[1:]
			return v, nil
		}
		if v, ok := w.taken(); ok {
			return v, nil
		}
		if w.inEnded {
			return nil, w.end
		}
		select {
		case octets, ok := <-w.in:
			w.feed(octets, ok)
		case <-deadline:
			return nil, errTimeout
		}
	}
}

// feed takes what the reading goroutine read. A server that the client has left closes too, as any would.
func (w *wire) feed(octets []byte, ok bool) {
	if w.inEnded = !ok; !ok {
		w.finish()
	}
	w.Feed(octets)
}

// taken returns the next value that was decoded and that the script is to see.
func (w *wire) taken() (fmt.Stringer, bool) {
	for {
		v, ok := w.Next()
		if !ok {
			return nil, false
		}
		switch f := v.(type) {
		case frame.Ping:
			if !f.Ack {
				w.send(frame.Ping{Ack: true, Data: f.Data})
				continue
			}
		case frame.Settings:
			if !f.Ack {
				w.send(frame.Settings{Ack: true})
				continue
			}
		}
		return v, true
	}
}

// await waits for over and goes on listening, so that the client is not held up. It returns false if that takes too
// long.
func (w *wire) await(over <-chan struct{}) bool {
	timer := time.NewTimer(w.timeout)
	defer timer.Stop()
	in := w.in
	if w.inEnded {
		in = nil
	}
	for {
		select {
		case <-over:
			return true
		case octets, ok := <-in:
			w.feed(octets, ok)
			if !ok {
				in = nil
			}
			for v, ok := w.taken(); ok; v, ok = w.taken() {
				w.early = append(w.early, v)
			}
		case <-timer.C:
			return false
		}
	}
}
