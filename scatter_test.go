package h2flow_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"testing"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/strategy"
)

// bodyPlan is a response whose frames have the lengths that next gives.
type bodyPlan struct {
	name string
	next func(rng *rand.Rand, i int) int
	// between says what else may come between the frames.
	padding, others, second bool
}

var bodyPlans = []bodyPlan{
	{name: "equal", next: func(*rand.Rand, int) int { return 16384 }},
	{name: "short ones at the end of a batch", next: func(_ *rand.Rand, i int) int { return []int{16384, 16384, 16384, 16339}[i%4] }},
	{name: "a period that changes", next: func(_ *rand.Rand, i int) int { return 8192 + 512*(i/10%3) }},
	{name: "any", next: func(rng *rand.Rand, _ int) int { return rng.IntN(16385) }},
	{name: "small", next: func(rng *rand.Rand, _ int) int { return rng.IntN(300) }},
	{name: "grows", next: func(_ *rand.Rand, i int) int { return min(16384, 2048+i*100) }},
	{name: "padding", next: func(*rand.Rand, int) int { return 12000 }, padding: true},
	{name: "other frames", next: func(*rand.Rand, int) int { return 16384 }, others: true},
	{name: "another stream", next: func(*rand.Rand, int) int { return 16384 }, second: true},
	{name: "another stream and other frames", next: func(rng *rand.Rand, _ int) int { return rng.IntN(16385) }, others: true, second: true},
}

// encode writes the frames of a body of size octets for stream 1, and of the same body for stream 3 if there is one.
func (b bodyPlan) encode(p *peer.Peer, rng *rand.Rand, body []byte) []byte {
	head := []frame.Field{{Name: ":status", Value: "200"}, {Name: "content-length", Value: strconv.Itoa(len(body))}}
	ids := []frame.StreamID{1}
	out := p.Encode(nil, peer.Headers{Stream: 1, Fields: head})
	if b.second {
		ids = append(ids, 3)
		out = p.Encode(out, peer.Headers{Stream: 3, Fields: head})
	}
	left := map[frame.StreamID][]byte{1: body, 3: body}
	for i := 0; len(ids) > 0; i++ {
		k := rng.IntN(len(ids))
		id := ids[k]
		n := min(b.next(rng, i), len(left[id]))
		data := frame.Data{Stream: id, Data: left[id][:n], EndStream: n == len(left[id])}
		if b.padding && rng.IntN(20) == 0 {
			data.Padded, data.PadLength = true, uint8(rng.IntN(256))
		}
		out = p.Encode(out, data)
		if left[id] = left[id][n:]; data.EndStream {
			ids = slices.Delete(ids, k, k+1)
		}
		if b.others && rng.IntN(10) == 0 {
			out = p.Encode(out, []any{frame.Ping{Data: [8]byte{byte(i)}}, frame.WindowUpdate{Increment: 1},
				frame.Unknown{Header: frame.Header{Length: 70, Type: 0xbb}, Payload: make([]byte, 70)}}[rng.IntN(3)])
		}
	}
	return out
}

// TestBodiesArriveWhole: whatever the lengths of the frames, the pieces in which they arrive and the slices that they are
// read into, a body is what the server sent. Over TCP, octets are read straight into those slices where the frames that
// follow can be told, and a low-water mark is set where the rest is sure to come.
func TestBodiesArriveWhole(t *testing.T) {
	for _, plan := range bodyPlans {
		for seed := range uint64(6) {
			t.Run(fmt.Sprintf("%s/seed=%d", plan.name, seed), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(seed, 1))
				body := make([]byte, 300_000+rng.IntN(1_500_000))
				for i := range body {
					body[i] = byte(i ^ i>>8 ^ i>>16)
				}
				client, server := tcpPair(t)
				done := peer.Serve(server, peer.HPACK, func(s *peer.Server) { serveBody(s, server, plan, rng, body) })
				c, err := h2flow.NewClientConn(client, &h2flow.Config{Flow: strategy.Unlimited{}, ReadBufferSize: 16 << 10 << (seed % 3)})
				if err != nil {
					t.Fatal(err)
				}
				readBodies(t, c, plan, seed, body)
				c.Close()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// serveBody answers the requests with body, in pieces of any size.
func serveBody(s *peer.Server, nc net.Conn, plan bodyPlan, rng *rand.Rand, body []byte) {
	s.Ignore = peer.IgnoreWindowUpdates
	s.Greet()
	s.WantHeaders("a request")
	if plan.second {
		s.WantHeaders("another")
	}
	for out := plan.encode(s.Peer, rng, body); len(out) > 0; {
		n := min(len(out), 1+rng.IntN([]int{20, 5_000, 100_000}[rng.IntN(3)]))
		if _, err := nc.Write(out[:n]); err != nil {
			s.Fail("writing: %w", err)
		}
		out = out[n:]
	}
	for {
		if _, ok := s.Read().(frame.GoAway); ok {
			return
		}
	}
}

// readBodies reads one body, or two at once, and compares.
func readBodies(t *testing.T, c *h2flow.ClientConn, plan bodyPlan, seed uint64, want []byte) {
	t.Helper()
	open := func() *h2flow.ClientStream {
		s, err := c.OpenStream(t.Context(), &h2flow.Request{Method: "GET", Scheme: "http", Authority: "a", Path: "/", EndStream: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	streams := []*h2flow.ClientStream{open()}
	if plan.second {
		streams = append(streams, open())
	}
	results := make(chan error, len(streams))
	for i, s := range streams {
		go func() { results <- readBody(s, rand.New(rand.NewPCG(seed, uint64(i))), want) }()
	}
	for range streams {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

// readBody reads with slices of many lengths, which are filled with something else before.
func readBody(s *h2flow.ClientStream, rng *rand.Rand, want []byte) error {
	if _, err := s.ReadHead(); err != nil {
		return err
	}
	buf := make([]byte, 512<<10)
	for got := 0; ; {
		p := buf[:1+rng.IntN([]int{100, 20_000, 140_000, len(buf)}[rng.IntN(4)])]
		for i := range min(len(p), 64<<10) {
			p[i] = 0xee
		}
		n, err := s.Read(p)
		if n > len(want)-got || !bytes.Equal(p[:n], want[got:got+n]) {
			return fmt.Errorf("%d octets read at offset %d differ from what was sent", n, got)
		}
		got += n
		switch {
		case err == io.EOF && got == len(want):
			return nil
		case err != nil:
			return fmt.Errorf("after %d of %d octets: %w", got, len(want), err)
		}
	}
}

// tcpPair is a TCP connection by its two ends.
func tcpPair(t *testing.T) (client, server net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if client, err = net.Dial("tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	return client, server
}
