package sim

import (
	"fmt"

	"example.com/h2flow/flow"
)

// restart begins the measurements of the next request.
func (c *client) restart() {
	c.began = c.run.clock.now
	c.failed = ""
	c.read = 0
	c.series = nil
	c.meter.Restart()
	c.server.blocked.restart()
}

// record writes down what the request gave. outcome is empty if nothing failed.
func (c *client) record(outcome string) {
	s := c.run.scenario
	if outcome == "" {
		outcome = OutcomeOK
	}
	c.sample(true)
	var metrics flow.Metrics
	if c.meter != nil {
		metrics = c.meter.Metrics()
	}
	b := &c.server.blocked
	b.note(b.byStream, b.byConn)
	r := Record{
		Scenario: s.Title(), Strategy: c.run.strategy.String(), Seed: s.Seed, Outcome: outcome,
		RTTMs: s.RTTMs, RateMbit: s.RateMbit, Loss: s.Loss, Reader: s.Reader.String(), Warm: c.request > 0,
		Seconds:         seconds(c.run.clock.now - c.began),
		BlockedStreamMs: float64(b.stream) / 1e6, BlockedConnMs: float64(b.conn) / 1e6,
		PeakBufferedBytes: metrics.PeakBufferedBytes, PeakWindowBytes: metrics.PeakWindowBytes,
		Bytes: c.read, BDPBytes: s.BDPBytes(), WindowUpdates: metrics.WindowUpdates, Pings: metrics.Pings,
		Series: c.series, Connection: c.index, Request: c.request,
	}
	r.IdealSeconds = seconds(c.ideal(r.Bytes))
	if r.IdealSeconds > 0 {
		r.RatioToIdeal = r.Seconds / r.IdealSeconds
	}
	c.records = append(c.records, r)
}

// ideal is the time that so many octets need on the path by themselves, in nanoseconds.
func (c *client) ideal(octets int64) int64 {
	s := c.run.scenario
	rtt := int64(milliseconds(s.RTTMs))
	ns := rtt + int64(milliseconds(s.Server.ThinkMs))
	if c.request == 0 {
		ns += rtt * int64(s.HandshakeRTTs)
	}
	if rate := bitsPerSecond(s.RateMbit); rate > 0 {
		whole := octets/mss*(mss+headerBytes) + octets%mss
		ns += mulDiv(whole, 8e9, rate)
	}
	return ns
}

// sample takes a sample for the time series if one is due, or if it must.
func (c *client) sample(must bool) {
	every := int64(milliseconds(c.run.scenario.SeriesMs))
	now := c.run.clock.now
	if every == 0 || c.meter == nil || !must && len(c.series) > 0 && now-c.sampled < every {
		return
	}
	c.sampled = now
	c.meter.Sample(c.run.clock.time())
	m := c.meter.Samples[len(c.meter.Samples)-1]
	c.meter.Samples = c.meter.Samples[:0]
	far := &c.e.peer.send
	c.series = append(c.series, Sample{
		Seconds: seconds(now), WindowBytes: m.Held, CreditBytes: c.core.RecvWindow().Window(),
		FlightBytes: far.underWay(), CongestionBytes: far.cwnd * mss, UnreadBytes: m.Unread,
		ReceivedBytes: m.Received, ConsumedBytes: m.Consumed, GrantedBytes: m.Granted, QueueBytes: c.e.peer.out.waiting(),
	})
}

// checkInvariants reports the first law of TCP that does not hold for e.
func (e *endpoint) checkInvariants() error {
	s := &e.send
	var flying, lost, sacked int64
	at := s.una
	for _, f := range s.flights[s.head:] {
		switch {
		case f.start != at || f.end <= f.start:
			return fmt.Errorf("tcp: flight from %d to %d after %d", f.start, f.end, at)
		case f.state == onTheWay:
			flying += wholeSegments(f.end - f.start)
		case f.state == isLost:
			lost += f.end - f.start
		default:
			sacked += f.end - f.start
		}
		at = f.end
	}
	switch {
	case at != s.next:
		return fmt.Errorf("tcp: flights end at %d, sent up to %d", at, s.next)
	case flying != s.inFlight || lost != s.lost || sacked != s.sacked:
		return fmt.Errorf("tcp: %d in flight, %d lost, %d sacked; counted %d, %d, %d",
			flying, lost, sacked, s.inFlight, s.lost, s.sacked)
	case s.una > e.peer.recv.next || e.peer.recv.next > s.next || s.next > s.written || s.next > s.edge:
		return fmt.Errorf("tcp: acknowledged %d, arrived %d, sent %d, written %d, window to %d",
			s.una, e.peer.recv.next, s.next, s.written, s.edge)
	case s.content.size != s.written-e.peer.recv.next:
		// Every octet written is delivered once, in order, or still there.
		return fmt.Errorf("tcp: %d octets are kept, %d are not delivered", s.content.size, s.written-e.peer.recv.next)
	}
	return nil
}
