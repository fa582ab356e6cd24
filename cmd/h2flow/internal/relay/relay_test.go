package relay

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// serve runs handle for every connection to a loopback listener and returns its address.
func serve(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var working sync.WaitGroup
	working.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			working.Go(func() {
				defer c.Close()
				handle(c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		working.Wait()
	})
	return l.Addr().String()
}

func dial(t *testing.T, config Config) *net.TCPConn {
	t.Helper()
	r, err := Listen(config)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		r.Close()
	})
	return c.(*net.TCPConn)
}

func echo(c net.Conn) { io.Copy(c, c) }

func noise(n int) []byte {
	p := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(p)
	return p
}

func TestRate(t *testing.T) {
	const rate, size = 80_000_000, 1 << 20
	body := noise(size)
	target := serve(t, func(c net.Conn) { c.Write(body) })
	want := float64(size*8) / rate
	for _, tt := range []struct {
		name string
		path Path
	}{
		{"the default queue", Path{Rate: rate, Delay: 2 * time.Millisecond}},
		{"a queue of 64 KiB", Path{Rate: rate, Delay: 2 * time.Millisecond, Queue: 64 << 10}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// A busy machine delivers late, and notices the first octets late, which makes the rest look early; so one try of
			// some that is right counts.
			var tries []float64
			for range 6 {
				seconds := receive(t, dial(t, Config{Target: target, Up: tt.path, Down: tt.path}), body)
				if seconds > want*0.97 && seconds < want*1.03 {
					return
				}
				tries = append(tries, 1000*seconds)
			}
			t.Errorf("%d octets took %.1f ms, want %.1f", size, tries, 1000*want)
		})
	}
}

// receive reads c to its end, checks that want came, and returns the seconds from the first octets to the end.
func receive(t *testing.T, c net.Conn, want []byte) float64 {
	t.Helper()
	var got bytes.Buffer
	var first time.Time
	p := make([]byte, 32<<10)
	for {
		n, err := c.Read(p)
		if first.IsZero() {
			first = time.Now()
		}
		got.Write(p[:n])
		if err != nil {
			break
		}
	}
	seconds := time.Since(first).Seconds()
	if !bytes.Equal(got.Bytes(), want) {
		t.Fatalf("%d octets came, other than the %d that were sent", got.Len(), len(want))
	}
	return seconds
}

func TestRoundTripTime(t *testing.T) {
	const rtt = 20 * time.Millisecond
	path := Path{Rate: 1_000_000_000, Delay: rtt / 2}
	start := time.Now()
	c := dial(t, Config{Target: serve(t, echo), Up: path, Down: path})
	ping := func() time.Duration {
		start := time.Now()
		if _, err := c.Write([]byte("ping")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 4)); err != nil {
			t.Fatal(err)
		}
		return time.Since(start)
	}
	ping()
	if took := time.Since(start); took < 2*rtt-2*early || took > 2*rtt+10*time.Millisecond {
		t.Errorf("connecting and the first exchange took %v, want two round trips of %v", took, rtt)
	}
	best := time.Hour
	for range 8 {
		best = min(best, ping())
	}
	if best < rtt-2*early || best > rtt+time.Millisecond {
		t.Errorf("the round trip took %v at best, want %v", best, rtt)
	}
}

func TestServerSpeaksFirst(t *testing.T) {
	const rtt = 20 * time.Millisecond
	path := Path{Delay: rtt / 2}
	target := serve(t, func(c net.Conn) {
		c.Write([]byte("hello"))
		c.Read(make([]byte, 1))
	})
	start := time.Now()
	c := dial(t, Config{Target: target, Up: path, Down: path})
	if _, err := io.ReadFull(c, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 2*rtt-2*early {
		t.Errorf("a greeting came after %v; the handshake and the way back take %v", took, 2*rtt)
	}
}

func TestFullQueueHoldsTheSenderBack(t *testing.T) {
	const queue = 64 << 10
	// One octet a second: nothing gets through within the test.
	path := Path{Rate: 8, Queue: queue}
	sent := make(chan int, 1)
	target := serve(t, func(c net.Conn) {
		c.(*net.TCPConn).SetWriteBuffer(16 << 10)
		c.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
		n, _ := c.Write(make([]byte, 16<<20))
		sent <- n
	})
	var mu sync.Mutex
	var most int64
	dial(t, Config{Target: target, Up: path, Down: path, OnMove: func(m Move) {
		mu.Lock()
		most = max(most, m.Entered-m.Left)
		mu.Unlock()
	}})
	n := <-sent
	mu.Lock()
	defer mu.Unlock()
	if most != queue {
		t.Errorf("%d octets were on the path, want exactly the queue of %d", most, queue)
	}
	if n > queue+4*kernelBuffer {
		t.Errorf("the sender got rid of %d octets, of which %d fit into the queue", n, queue)
	}
}

func TestOctetsPassUnchangedBothWays(t *testing.T) {
	up := noise(300_000)
	var mu sync.Mutex
	var tapped bytes.Buffer
	c := dial(t, Config{
		Target: serve(t, echo),
		Up:     Path{Rate: 400_000_000, Delay: time.Millisecond},
		Down:   Path{Rate: 800_000_000, Delay: time.Millisecond, Queue: 5000},
		Tap:    func() io.Writer { return lockedWriter{&mu, &tapped} },
	})
	go func() {
		c.Write(up)
		c.CloseWrite()
	}()
	got, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, up) {
		t.Errorf("%d octets came back, other than the %d that were sent", len(got), len(up))
	}
	mu.Lock()
	defer mu.Unlock()
	if !bytes.Equal(tapped.Bytes(), up) {
		t.Errorf("the tap saw %d octets, other than the %d that were sent", tapped.Len(), len(up))
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(p)
}

func TestTargetThatRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := l.Addr().String()
	l.Close()
	c := dial(t, Config{Target: target})
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("reading succeeded although nobody listens at the target")
	}
}

func TestCloseEndsEverything(t *testing.T) {
	before := runtime.NumGoroutine()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	path := Path{Rate: 1000, Delay: time.Hour}
	r, err := Listen(Config{Target: l.Addr().String(), Up: path, Down: path})
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(noise(1000)); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the client's connection outlived the relay")
	}
	if _, err := server.Read(make([]byte, 1)); err == nil {
		t.Error("the server's connection outlived the relay")
	}
	c.Close()
	server.Close()
	l.Close()
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if now := runtime.NumGoroutine(); now > before {
		t.Errorf("%d goroutines before, %d after Close", before, now)
	}
}

func TestDefaultQueue(t *testing.T) {
	type in struct {
		Rate int64
		RTT  time.Duration
	}
	for _, tt := range []struct {
		name string
		in   in
		want int64
	}{
		{"what one round trip passes", in{100_000_000, 50 * time.Millisecond}, 625_000},
		{"never less than the minimum", in{100_000_000, time.Millisecond}, MinQueue},
		{"an unlimited link", in{0, 50 * time.Millisecond}, 64 << 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, DefaultQueue(tt.in.Rate, tt.in.RTT)); diff != "" {
				t.Errorf("queue (-want +got):\n%s", diff)
			}
		})
	}
}

func TestQueueGrowsInPlace(t *testing.T) {
	q := newQueue(1 << 20)
	body := noise(1 << 20)
	now := time.Now()
	var got []byte
	take := func() {
		p, _ := q.ready(now)
		got = append(got, p...)
		q.took(len(p))
	}
	for rest := body; len(rest) > 0; {
		n := copy(q.space(), rest[:min(len(rest), 50_000)])
		q.add(n, now)
		rest = rest[n:]
		if len(got) == 0 {
			take() // so that the ring starts elsewhere than at its beginning
		}
	}
	q.end(now)
	for {
		if _, last := q.ready(now); last {
			break
		}
		take()
	}
	if !bytes.Equal(got, body) {
		t.Errorf("%d octets left the queue, other than the %d that entered", len(got), len(body))
	}
}
