package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/cmd/h2flow/internal/relay"
	"example.com/h2flow/flow"
	"example.com/h2flow/sim"
)

// defaultLimit ends an emulated scenario that does not say when to end.
const defaultLimit = time.Hour

// emulate runs the scenario. Its error is the first of a request, whose record then says what became of it.
func emulate(ctx context.Context, s sim.Scenario) ([]sim.Record, error) {
	limit := defaultLimit
	if s.LimitSeconds > 0 {
		limit = time.Duration(s.LimitSeconds * float64(time.Second))
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	server, addr, err := startScenarioServer(s)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	r, err := relay.Listen(scenarioPath(s, addr))
	if err != nil {
		return nil, err
	}
	defer r.Close()

	n := max(s.Connections, 1)
	records, failures := make([][]sim.Record, n), make([]error, n)
	var connections sync.WaitGroup
	for i := range n {
		connections.Go(func() {
			if failures[i] = pause(ctx, time.Duration(i)*scenarioTime(s.StaggerMs)); failures[i] == nil {
				c := &emulatedConn{scenario: s, index: i, addr: r.Addr()}
				failures[i] = c.run(ctx)
				records[i] = c.records
			}
		})
	}
	connections.Wait()
	var all []sim.Record
	for _, list := range records {
		all = append(all, list...)
	}
	return all, errors.Join(failures...)
}

// scenarioPath is the path of the scenario, with the queue that sim would give it.
func scenarioPath(s sim.Scenario, target string) relay.Config {
	delay := scenarioTime(s.RTTMs) / 2
	queue := s.QueueBytes
	if queue == 0 && s.RateMbit > 0 {
		bdps := s.QueueBDP
		if bdps == 0 {
			bdps = 4
		}
		queue = max(int64(float64(s.BDPBytes())*bdps), relay.MinQueue)
	}
	up := s.UpRateMbit
	if up == 0 {
		up = s.RateMbit
	}
	return relay.Config{
		Target: target,
		Up:     relay.Path{Rate: int64(up * 1e6), Delay: delay},
		Down:   relay.Path{Rate: int64(s.RateMbit * 1e6), Delay: delay, Queue: queue},
	}
}

// startScenarioServer starts the scenario's server in cleartext, with small socket buffers, so that what waits for the
// path waits in its queue.
func startScenarioServer(s sim.Scenario) (*http.Server, string, error) {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	chunk := s.Server.ChunkBytes
	if chunk == 0 {
		chunk = 256 << 10
	}
	block := make([]byte, min(chunk, max(s.Bytes, 1)))
	server := &http.Server{Protocols: &protocols, ErrorLog: log.New(io.Discard, "", 0)}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if pause(r.Context(), scenarioTime(s.Server.ThinkMs)) != nil {
			return
		}
		w.Header().Set("Content-Length", strconv.FormatInt(s.Bytes, 10))
		for left := s.Bytes; left > 0; {
			n, err := w.Write(block[:min(left, int64(len(block)))])
			if err != nil {
				return
			}
			left -= int64(n)
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	go server.Serve(&bufferListener{listener, 128 << 10})
	return server, listener.Addr().String(), nil
}

// pause waits for d, or less if ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// An emulatedConn is one connection of the scenario.
type emulatedConn struct {
	scenario sim.Scenario
	index    int
	addr     string
	records  []sim.Record
}

func (c *emulatedConn) run(ctx context.Context) error {
	meter := &runMeter{}
	cfg := &h2flow.Config{Flow: flow.Observe(c.scenario.Flow, func() flow.Observer { return meter })}
	start := time.Now()
	conn, err := h2flow.DialCleartext(ctx, c.addr, cfg)
	if err != nil {
		return err
	}
	defer conn.Close()
	for request := range max(c.scenario.Requests, 1) {
		if request > 0 {
			if err := pause(ctx, scenarioTime(c.scenario.GapMs)); err != nil {
				return err
			}
			meter.cut(time.Now())
			start = time.Now()
		}
		octets, err := c.request(ctx, conn)
		end := time.Now()
		metrics, _ := meter.cut(end)
		c.add(request, octets, end.Sub(start), metrics, err)
		if err != nil {
			return fmt.Errorf("connection %d, request %d: %w", c.index+1, request+1, err)
		}
	}
	return nil
}

// request asks on all streams at once, and returns when those that are read are over. The octets are what was read.
func (c *emulatedConn) request(ctx context.Context, conn *h2flow.ClientConn) (int64, error) {
	ctx, cancel := context.WithCancel(ctx)
	n := max(c.scenario.Streams, 1)
	octets, failures := make([]int64, n), make([]error, n)
	var reading, all sync.WaitGroup
	for i := range n {
		reader := c.scenario.Reader
		if i < c.scenario.UnreadStreams {
			reader = sim.Reader{Kind: sim.ReadNever}
		} else {
			reading.Add(1)
		}
		all.Go(func() {
			octets[i], failures[i] = c.stream(ctx, conn, reader)
			if i >= c.scenario.UnreadStreams {
				reading.Done()
			}
		})
	}
	reading.Wait()
	cancel() // ends the streams that nobody reads
	all.Wait()
	total := int64(0)
	for i, read := range octets {
		total += read
		if i >= c.scenario.UnreadStreams && failures[i] != nil {
			return total, failures[i]
		}
	}
	return total, nil
}

// stream asks once and reads the response as the reader does.
func (c *emulatedConn) stream(ctx context.Context, conn *h2flow.ClientConn, reader sim.Reader) (int64, error) {
	start := time.Now()
	s, err := conn.OpenStream(ctx, &h2flow.Request{Method: "GET", Scheme: "http", Authority: c.addr, Path: "/", EndStream: true})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	head, err := s.ReadHead()
	for err == nil && head.Interim() {
		head, err = s.ReadHead()
	}
	if err != nil {
		return 0, err
	}
	if head.Status != http.StatusOK {
		return 0, fmt.Errorf("the status is %d", head.Status)
	}
	r := &emulatedReader{stream: s, model: reader, start: start, buffer: make([]byte, readSize)}
	err = r.readAll(ctx)
	if errors.Is(err, io.EOF) {
		err = nil
		if r.octets != c.scenario.Bytes {
			err = fmt.Errorf("%d octets came, want %d", r.octets, c.scenario.Bytes)
		}
	}
	return r.octets, err
}

// add adds the record of one request.
func (c *emulatedConn) add(request int, octets int64, took time.Duration, m flow.Metrics, err error) {
	s := c.scenario
	r := sim.Record{
		Scenario: s.Title(), Strategy: s.Flow.String(), Seed: s.Seed, Outcome: outcomeOf(err), RTTMs: s.RTTMs,
		RateMbit: s.RateMbit, Reader: s.Reader.String(), Warm: request > 0, Bytes: octets, Seconds: took.Seconds(),
		PeakBufferedBytes: m.PeakBufferedBytes, PeakWindowBytes: m.PeakWindowBytes, BDPBytes: s.BDPBytes(),
		WindowUpdates: m.WindowUpdates, Pings: m.Pings, Connection: c.index, Request: request,
	}
	trips := 1.0
	if request == 0 {
		trips = 2 // and the handshake of TCP
	}
	r.IdealSeconds = (trips*s.RTTMs + s.Server.ThinkMs) / 1e3
	if s.RateMbit > 0 {
		r.IdealSeconds += float64(octets) * 8 / (s.RateMbit * 1e6)
	}
	if r.IdealSeconds > 0 {
		r.RatioToIdeal = r.Seconds / r.IdealSeconds
	}
	c.records = append(c.records, r)
}

func outcomeOf(err error) string {
	var stall *flow.Stall
	switch {
	case err == nil:
		return sim.OutcomeOK
	case errors.As(err, &stall):
		return sim.OutcomeStalled
	case errors.Is(err, context.DeadlineExceeded):
		return sim.OutcomeTimeout
	}
	return sim.OutcomeFailed
}
