package conformance_test

import (
	"context"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	h2flow "example.com/h2flow"
	"example.com/h2flow/conformance"
	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/strategy"
)

func requestFields(method, path string) []frame.Field {
	return []frame.Field{
		{Name: ":method", Value: method}, {Name: ":scheme", Value: "https"},
		{Name: ":authority", Value: "example.org"}, {Name: ":path", Value: path},
	}
}

// coreClient drives a conn.Conn over a net.Conn: a goroutine reads, another writes.
type coreClient struct {
	nc    net.Conn
	chunk int // octets of each Feed; 0: what a Read brings
	fed   int
	wg    sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond // there is output, or the end
	c       *conn.Conn
	out     []byte
	over    bool // nothing is to be written any more
	live    map[frame.StreamID]*coreRequest
}

// maxFedInPieces is where a flood has been fed in small pieces for long enough.
const maxFedInPieces = 64 << 10

type coreRequest struct {
	done       func(status, bodyLength int, err error)
	status, n  int
	uploadLeft int
	unread     bool
}

func newCoreClient(nc net.Conn, chunk int) *coreClient {
	a := &coreClient{nc: nc, chunk: chunk, live: map[frame.StreamID]*coreRequest{}}
	a.changed = sync.NewCond(&a.mu)
	a.c = conn.New(time.Now(), conn.Config{
		Strategy: strategy.Fixed{Conn: 1 << 20}.New(), Encoder: h2flow.NewFieldEncoder(4096),
		Decoder: h2flow.NewFieldDecoder(),
	})
	a.mu.Lock()
	a.turn()
	a.mu.Unlock()
	a.wg.Go(a.read)
	a.wg.Go(a.write)
	return a
}

// read feeds what arrives until the transport ends.
func (a *coreClient) read() {
	buf := make([]byte, 4096)
	for {
		n, err := a.nc.Read(buf)
		a.mu.Lock()
		step := a.chunk
		if step == 0 || a.fed > maxFedInPieces {
			step = max(n, 1)
		}
		a.fed += n
		for chunk := range slices.Chunk(buf[:n], step) {
			a.c.Feed(time.Now(), chunk)
			a.turn()
		}
		if err != nil {
			a.c.Fail(time.Now(), err)
			a.turn()
			a.mu.Unlock()
			return
		}
		a.mu.Unlock()
	}
}

// write sends the output, and closes the transport after the last of it.
func (a *coreClient) write() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		for len(a.out) == 0 && !a.over {
			a.changed.Wait()
		}
		out := a.out
		a.out = nil
		if len(out) == 0 {
			a.nc.Close()
			return
		}
		a.mu.Unlock()
		_, err := a.nc.Write(out)
		a.mu.Lock()
		if err != nil {
			a.c.Fail(time.Now(), err)
			a.turn()
		}
	}
}

// turn takes the events and collects the output; mu is held.
func (a *coreClient) turn() {
	for ev := a.c.NextEvent(); ev.Kind != conn.None; ev = a.c.NextEvent() {
		a.event(ev)
	}
	for id, r := range a.live {
		for n := a.c.SendQuota(id); n > 0 && r.uploadLeft > 0; n = a.c.SendQuota(id) {
			n = min(n, r.uploadLeft)
			r.uploadLeft -= n
			a.out = a.c.AppendData(time.Now(), a.out, id, n, r.uploadLeft == 0)
			a.out = append(a.out, make([]byte, n)...)
		}
	}
	a.out = a.c.AppendOutput(time.Now(), a.out, 1<<20)
	a.c.Written(a.c.Packed())
	for ev := a.c.NextEvent(); ev.Kind != conn.None; ev = a.c.NextEvent() {
		a.event(ev)
	}
	if err := a.c.CheckInvariants(); err != nil {
		panic(err)
	}
	a.over = a.over || a.c.Done()
	a.changed.Broadcast()
}

func (a *coreClient) event(ev conn.Event) {
	r := a.live[ev.Stream]
	if r == nil {
		return
	}
	switch ev.Kind {
	case conn.Response:
		r.status = ev.Status
	case conn.Data:
		r.n += len(ev.Data)
		if !r.unread {
			a.c.Consumed(time.Now(), ev.Stream, len(ev.Data))
		}
	case conn.StreamError:
		delete(a.live, ev.Stream)
		r.done(0, 0, ev.Err)
		return
	}
	if ev.End {
		delete(a.live, ev.Stream)
		r.done(r.status, r.n, nil)
	}
}

func (a *coreClient) Request(_ int, q conformance.Request, done func(status, bodyLength int, err error)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := &coreRequest{done: done, unread: q.Unread()}
	if q.Method == "POST" {
		r.uploadLeft = conformance.BodyLength
	}
	id, err := a.c.Open(time.Now(), requestFields(q.Method, q.Path), r.uploadLeft == 0)
	if err != nil {
		done(0, 0, err)
		return
	}
	a.live[id] = r
	a.turn()
	a.turn() // the body, now that the head has left
}

func (a *coreClient) Close() {
	a.mu.Lock()
	a.c.Fail(time.Now(), net.ErrClosed)
	a.out = nil
	a.turn()
	a.mu.Unlock()
	a.nc.Close()
	a.wg.Wait()
}

// rootClient is the low-level API of the module's root.
type rootClient struct {
	cc     *h2flow.ClientConn
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func newRootClient(nc net.Conn) (*rootClient, error) {
	cc, err := h2flow.NewClientConn(nc, nil)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &rootClient{cc: cc, ctx: ctx, cancel: cancel}, nil
}

func (a *rootClient) Request(_ int, r conformance.Request, done func(status, bodyLength int, err error)) {
	a.wg.Go(func() { done(a.do(r)) })
}

func (a *rootClient) do(r conformance.Request) (status, n int, err error) {
	s, err := a.cc.OpenStream(a.ctx, &h2flow.Request{
		Method: r.Method, Scheme: "https", Authority: "example.org", Path: r.Path, EndStream: r.Method != "POST",
	})
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	if r.Method == "POST" {
		a.wg.Go(func() {
			if _, err := s.Write(make([]byte, conformance.BodyLength)); err == nil {
				_ = s.CloseWrite() // the response says what became of it
			}
		})
	}
	head, err := s.ReadHead()
	for err == nil && head.Interim() {
		head, err = s.ReadHead()
	}
	if err != nil {
		return 0, 0, err
	}
	if r.Unread() {
		<-a.ctx.Done()
		return 0, 0, a.ctx.Err()
	}
	length, err := io.Copy(io.Discard, s)
	return head.Status, int(length), err
}

func (a *rootClient) Close() {
	a.cancel()
	_ = a.cc.Close() // the verdict is the server's
	a.wg.Wait()
}
