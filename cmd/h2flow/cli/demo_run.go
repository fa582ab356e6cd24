package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"example.com/h2flow/cmd/h2flow/internal/relay"
	"example.com/h2flow/cmd/h2flow/internal/report"
	"example.com/h2flow/frame"
)

// A result is one run of the demo, and its line of JSON. What a client cannot tell, and nobody else knows, is null.
type result struct {
	Client   string   `json:"client"`
	Strategy *string  `json:"strategy"`
	TLS      bool     `json:"tls"`
	Phase    string   `json:"phase"`
	Run      int      `json:"run"`
	RTTMs    float64  `json:"rtt_ms"`
	RateMbit *float64 `json:"rate_mbit"`
	Bytes    int64    `json:"bytes"`
	Seconds  float64  `json:"seconds"`
	MiBPerS  float64  `json:"mib_per_s"`

	WindowUpdates     *int64 `json:"window_updates"`
	Pings             *int64 `json:"pings"`
	PeakBufferedBytes *int64 `json:"peak_buffered_bytes"`
	PeakWindowBytes   *int64 `json:"peak_window_bytes"`

	curves, opening report.Curves
}

// The phases of a connection: its first request, set-up included, and a later one.
const (
	phaseCold = "cold"
	phaseWarm = "warm"
)

// A cell is one path that all contenders are measured on. With an RTT of 0 there is no relay and no rate.
type cell struct {
	rtt  time.Duration
	rate int64
}

// title describes the cell to people.
func (c cell) title() string {
	if c.rtt == 0 {
		return "RTT 0, loopback without a relay"
	}
	return fmt.Sprintf("RTT %v, %s/s", c.rtt, formatRate(c.rate))
}

// A bench measures contenders on one cell.
type bench struct {
	cell   cell
	origin *origin
	addr   string
	relay  *relay.Relay // nil at an RTT of 0
	buffer []byte       // where bodies go; shared by all runs, so that each finds its memory in the same state
	loaded *atomic.Int64

	counter atomic.Pointer[frameCounter] // of the relay's newest connection
	flight  atomic.Pointer[plot]         // of the run in progress
}

// maxBuffer is the largest body that is kept and hashed after the clock has stopped. Larger ones are hashed on the way.
const maxBuffer = 64 << 20

// readSize is the most that one read of a body asks for, in octets.
const readSize = 64 << 10

func newBench(c cell, o *origin, loaded *atomic.Int64) (*bench, error) {
	b := &bench{cell: c, origin: o, addr: o.direct, buffer: make([]byte, min(o.size, maxBuffer)+1), loaded: loaded}
	for i := 0; i < len(b.buffer); i += 4096 {
		b.buffer[i] = 1 // the page exists from now on
	}
	if c.rtt == 0 {
		return b, nil
	}
	path := relay.Path{Rate: c.rate, Delay: c.rtt / 2}
	r, err := relay.Listen(relay.Config{
		Target: o.behind, Up: path, Down: path,
		Tap: func() io.Writer {
			counter := newFrameCounter()
			b.counter.Store(counter)
			return counter
		},
		OnMove: func(m relay.Move) { b.flight.Load().add(m.Now, m.Entered-m.Left) },
	})
	if err != nil {
		return nil, err
	}
	b.relay, b.addr = r, r.Addr()
	return b, nil
}

func (b *bench) close() {
	if b.relay != nil {
		b.relay.Close()
	}
}

// measure downloads on a new connection, and once more on the same unless the contender is measured cold only. begin is
// told each phase, done each result.
func (b *bench) measure(ctx context.Context, c contender, run int, begin func(phase string), done func(result)) error {
	b.counter.Store(nil)
	meter := newRunMeter()
	transport := c.newTransport(b.origin, meter)
	defer transport.CloseIdleConnections()
	for _, phase := range c.phases() {
		begin(phase)
		r, err := b.download(ctx, c, transport, meter)
		if err != nil {
			return fmt.Errorf("%s, %s, %s: %w", b.cell.title(), c.label(), phase, err)
		}
		r.Phase, r.Run = phase, run
		done(r)
	}
	return nil
}

func (b *bench) download(ctx context.Context, c contender, rt http.RoundTripper, meter *runMeter) (result, error) {
	r := result{Client: c.client, TLS: b.origin.roots != nil, RTTMs: milliseconds(b.cell.rtt)}
	if name := c.strategyName(); name != "" {
		r.Strategy = &name
	}
	if b.relay != nil {
		r.RateMbit = ref(float64(b.cell.rate) / 1e6)
	}
	updates, pings := b.sent(c)
	start := time.Now()
	if b.relay != nil {
		b.flight.Store(b.newPlot(start))
	}
	received := newCurve(start)
	n, end, sum, err := b.get(ctx, c, rt, received)
	flight := b.flight.Swap(nil)
	if err == nil {
		err = b.origin.check(n, sum)
	}
	if err != nil {
		return result{}, err
	}
	r.Bytes, r.Seconds = n, end.Sub(start).Seconds()
	r.MiBPerS = float64(n) / (1 << 20) / r.Seconds
	r.curves.Received = received.all()
	r.curves.InFlight, r.opening.InFlight = flight.all()
	if c.client == clientH2flow {
		metrics, samples := meter.cut(end)
		r.WindowUpdates, r.Pings = &metrics.WindowUpdates, &metrics.Pings
		r.PeakBufferedBytes, r.PeakWindowBytes = &metrics.PeakBufferedBytes, &metrics.PeakWindowBytes
		window, unread := b.newPlot(start), b.newPlot(start)
		for _, s := range samples {
			window.add(s.Now, s.Held)
			unread.add(s.Now, s.Unread)
		}
		r.curves.Window, r.opening.Window = window.all()
		r.curves.Unread, r.opening.Unread = unread.all()
	}
	if after, pingsAfter := b.sent(c); updates != nil && after != nil {
		r.WindowUpdates, r.Pings = ref(*after-*updates), ref(*pingsAfter-*pings)
	}
	return r, nil
}

// get downloads the body once and returns its length, when its end was read, and its hash.
func (b *bench) get(ctx context.Context, c contender, rt http.RoundTripper, received *curve) (
	n int64, end time.Time, sum []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.origin.url(b.addr), nil)
	if err != nil {
		return 0, end, nil, err
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return 0, end, nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.ProtoMajor != c.major() {
		return 0, end, nil, fmt.Errorf("the response is %s %s", resp.Proto, resp.Status)
	}
	hash := sha256.New()
	for filled := 0; ; {
		m, err := resp.Body.Read(b.buffer[filled:min(filled+readSize, len(b.buffer))])
		end = time.Now()
		n += int64(m)
		filled += m
		b.loaded.Add(int64(m))
		received.add(end, n)
		if err != nil || filled == len(b.buffer) {
			hash.Write(b.buffer[:filled])
			filled = 0
		}
		if errors.Is(err, io.EOF) {
			return n, end, hash.Sum(nil), nil
		}
		if err != nil {
			return n, end, nil, fmt.Errorf("after %d octets: %w", n, err)
		}
		if n > b.origin.size {
			return n, end, nil, fmt.Errorf("more came than the %d octets of the body", b.origin.size)
		}
	}
}

// sent returns how many WINDOW_UPDATEs and PINGs the client has sent on its connection so far; nil where it is not
// known because no relay sees them, or sees them encrypted. h2flow tells itself.
func (b *bench) sent(c contender) (updates, pings *int64) {
	if c.client != clientNetH2 || b.relay == nil || b.origin.roots != nil {
		return nil, nil
	}
	counter := b.counter.Load()
	if counter == nil {
		return ref(int64(0)), ref(int64(0))
	}
	return ref(counter.count(frame.TypeWindowUpdate)), ref(counter.count(frame.TypePing))
}

// openingTrips is how many round trips the opening of a run takes.
const openingTrips = 8

// newPlot returns a plot for a run that starts at start.
func (b *bench) newPlot(start time.Time) *plot {
	return &plot{whole: newCurve(start), opening: newCurve(start), horizon: start.Add(openingTrips * b.cell.rtt)}
}

func ref[T any](v T) *T { return &v }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
