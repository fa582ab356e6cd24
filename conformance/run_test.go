package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	h2flow "example.com/h2flow"
	"example.com/h2flow/conformance"
	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/pipe"
	"example.com/h2flow/strategy"
)

func requestFields(method, path string) []frame.Field {
	return []frame.Field{
		{Name: ":method", Value: method}, {Name: ":scheme", Value: "https"},
		{Name: ":authority", Value: "example.org"}, {Name: ":path", Value: path},
	}
}

// uploadLength is the length of the body of a POST.
const uploadLength = 100000

// coreClient drives a conn.Conn over a net.Conn: a goroutine reads, another writes.
type coreClient struct {
	nc    net.Conn
	chunk int // octets of each Feed; 0: what a Read brings
	wg    sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond // there is output, or the end
	c       *conn.Conn
	out     []byte
	over    bool // nothing is to be written any more
	live    map[frame.StreamID]*coreRequest
}

type coreRequest struct {
	done       func(status, bodyLength int, err error)
	status, n  int
	uploadLeft int
}

func newCoreClient(nc net.Conn, chunk int) *coreClient {
	a := &coreClient{nc: nc, chunk: chunk, live: map[frame.StreamID]*coreRequest{}}
	a.changed = sync.NewCond(&a.mu)
	a.c = conn.New(time.Now(), conn.Config{
		Strategy: strategy.Fixed{}.New(), Encoder: h2flow.NewFieldEncoder(4096), Decoder: h2flow.NewFieldDecoder(),
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
		if step == 0 {
			step = max(n, 1)
		}
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
		a.c.Consumed(time.Now(), ev.Stream, len(ev.Data))
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

func (a *coreClient) Request(method, path string, done func(status, bodyLength int, err error)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := &coreRequest{done: done}
	if method == "POST" {
		r.uploadLeft = uploadLength
	}
	id, err := a.c.Open(time.Now(), requestFields(method, path), r.uploadLeft == 0)
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

func (a *rootClient) Request(method, path string, done func(status, bodyLength int, err error)) {
	s, err := a.cc.OpenStream(a.ctx, &h2flow.Request{
		Method: method, Scheme: "https", Authority: "example.org", Path: path, EndStream: method != "POST",
	})
	if err != nil {
		done(0, 0, err)
		return
	}
	if method == "POST" {
		a.wg.Go(func() {
			if _, err := s.Write(make([]byte, uploadLength)); err == nil {
				_ = s.CloseWrite() // the response says what became of it
			}
		})
	}
	a.wg.Go(func() {
		defer s.Close()
		head, err := s.ReadHead()
		for err == nil && head.Interim() {
			head, err = s.ReadHead()
		}
		if err != nil {
			done(0, 0, err)
			return
		}
		n, err := io.Copy(io.Discard, s)
		done(head.Status, int(n), err)
	})
}

func (a *rootClient) Close() {
	a.cancel()
	_ = a.cc.Close() // the verdict is the server's
	a.wg.Wait()
}

func TestCore(t *testing.T) {
	for _, chunk := range []int{0, 1} {
		for _, c := range conformance.Cases() {
			t.Run(fmt.Sprintf("%s in pieces of %d", c.ID, chunk), func(t *testing.T) {
				client, server := pipe.New(pipe.Link{})
				if err := conformance.Run(server, newCoreClient(client, chunk), c); err != nil {
					t.Errorf("%s: %s\n%v", c.Section, c.Name, err)
				}
			})
		}
	}
}

func TestRoot(t *testing.T) {
	for _, c := range conformance.Cases() {
		t.Run(c.ID, func(t *testing.T) {
			client, server := pipe.New(pipe.Link{})
			root, err := newRootClient(client)
			if err != nil {
				t.Fatal(err)
			}
			if err := conformance.Run(server, root, c); err != nil {
				t.Errorf("%s: %s\n%v", c.Section, c.Name, err)
			}
		})
	}
}

// A client that does nothing fails every case; one that breaks a rule fails the case of that rule.
func TestCasesFail(t *testing.T) {
	for _, c := range conformance.Cases() {
		server, client := net.Pipe()
		err := conformance.Run(server, newBrokenClient(client, "GET / HTTP/1.1\r\n\r\n1234567890", false), c)
		if err == nil || !strings.Contains(err.Error(), "not the preface") {
			t.Errorf("%s: %v", c.ID, err)
		}
	}
	// One that answers every PING with zeros.
	i := slices.IndexFunc(conformance.Cases(), func(c conformance.Case) bool { return c.ID == "9113-6.7-2" })
	server, client := net.Pipe()
	preface := frame.Ping{Ack: true}.AppendTo(frame.AppendSettingsAck(frame.AppendSettings([]byte(frame.ClientPreface))))
	err := conformance.Run(server, newBrokenClient(client, string(preface), true), conformance.Cases()[i])
	if err == nil || !strings.Contains(err.Error(), "> PING data=0102030405060708 ACK\n  got  PING data=0000000000000000 ACK") {
		t.Errorf("the wrong answer to PING: %v", err)
	}
}

// brokenClient says something; then it listens, or is gone.
type brokenClient struct {
	nc net.Conn
	wg sync.WaitGroup
}

func newBrokenClient(nc net.Conn, say string, listen bool) *brokenClient {
	b := &brokenClient{nc: nc}
	b.wg.Go(func() {
		if _, err := io.WriteString(nc, say); err != nil || !listen {
			nc.Close()
		}
	})
	b.wg.Go(func() {
		_, _ = io.Copy(io.Discard, nc) // until one side closes
	})
	return b
}

func (b *brokenClient) Request(_, _ string, done func(int, int, error)) { done(0, 0, errors.New("no")) }

func (b *brokenClient) Close() {
	b.nc.Close()
	b.wg.Wait()
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "case x: it needs requirements and steps"},
		{"no section", `case x, line 1: the first line is not of the form "RFC 9113, Section 6.9: the rule"`},
		{"RFC 9113, Section 1: r\nreq: a\n\n? what", `case x, line 4: no step: "? what"`},
		{"RFC 9113, Section 1: r\nreq: a\n>", `case x, line 3: no step: ">"`},
		{"RFC 9113, Section 1: r\nreq: a\n= GET", `case x, line 3: a request is a method and a path: "= GET"`},
		{"RFC 9113, Section 1: r\nreq: a\n< PONG", "case x, line 3: no frame of type PONG"},
		{"RFC 9113, Section 1: r\nreq: a\n< DATA stream=1 length=5", "case x, line 3: DATA does not know length"},
		{"RFC 9113, Section 1: r\nreq: a\n< DATA stream=1 PADDED", "case x, line 3: DATA does not know PADDED"},
		{"RFC 9113, Section 1: r\nreq: a\n< GOAWAY code=OOPS", "case x, line 3: no error code OOPS"},
		{"RFC 9113, Section 1: r\nreq: a\n< PING data=01", "case x, line 3: the data of PING is not 8 octets in hexadecimal"},
		{"RFC 9113, Section 1: r\nreq: a\n< DATA stream=x", `case x, line 3: stream: strconv.ParseUint: parsing "x": invalid syntax`},
	}
	for _, tt := range tests {
		_, err := conformance.Parse("x", tt.text)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%q: got %v", tt.text, err)
		}
	}
}

func TestCasesNameTheirRequirement(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range conformance.Cases() {
		if seen[c.ID] || !slices.Contains(c.Requirements, c.ID) {
			t.Errorf("%s: twice %v, requirements %v", c.ID, seen[c.ID], c.Requirements)
		}
		seen[c.ID] = true
		parts := strings.Split(c.ID, "-")
		if want := fmt.Sprintf("RFC %s, Section %s", parts[0], parts[1]); c.Section != want {
			t.Error(cmp.Diff(want, c.Section))
		}
	}
	t.Logf("%d cases", len(seen))
}
