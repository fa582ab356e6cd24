package flow

import "time"

// PingPurpose says what a PING is for.
type PingPurpose uint8

// The purposes of PINGs.
const (
	// Probing measures the round-trip time for a strategy.
	Probing PingPurpose = iota
	// Liveness asks whether the peer is still there.
	Liveness
)

// The limits of the PING budget. Servers count PINGs and answer too many with GOAWAY(ENHANCE_YOUR_CALM): gRPC servers
// forgive them only when they themselves send HEADERS or DATA, Google's front ends allow four between two HEADERS, DATA
// or WINDOW_UPDATE of the client.
const (
	pingBurst        = 4
	pingSinceFrame   = 3
	probingInterval  = 2 * time.Second
	livenessInterval = 10 * time.Second
	maxPingInterval  = time.Hour
)

// PingBudget limits the PINGs of one connection, whatever asks for them:
//
//   - one is outstanding at most;
//   - the first 4 may follow each other freely; from then on one for probing comes 2 s after the PING before it at the
//     earliest, one for liveness 10 s;
//   - at most 3 follow our last HEADERS, DATA or WINDOW_UPDATE;
//   - a complaint of the peer ends the burst and doubles both intervals.
//
// The zero value is a full budget.
type PingBudget struct {
	sent        int // of the burst
	sinceFrame  int
	outstanding bool
	last        time.Time
	doubled     uint8
}

// Allow says why no PING may be sent now, or 0 if one may.
func (b *PingBudget) Allow(now time.Time, purpose PingPurpose) Refusal {
	switch {
	case b.outstanding:
		return RefusedPingOutstanding
	case b.sinceFrame >= pingSinceFrame, now.Before(b.Next(purpose)):
		return RefusedPingBudget
	}
	return 0
}

// Next is the earliest time at which the intervals let a PING pass; the zero time means at once. Answered or FrameSent
// may still be missing by then.
func (b *PingBudget) Next(purpose PingPurpose) time.Time {
	if b.sent < pingBurst {
		return time.Time{}
	}
	return b.last.Add(b.interval(purpose))
}

// Sent counts a PING that was packed for sending.
func (b *PingBudget) Sent(now time.Time) {
	b.outstanding = true
	b.last = now
	b.sent = min(b.sent+1, pingBurst)
	b.sinceFrame++
}

// Answered says that the outstanding PING was acknowledged.
func (b *PingBudget) Answered() { b.outstanding = false }

// FrameSent says that HEADERS, DATA or WINDOW_UPDATE was packed for sending.
func (b *PingBudget) FrameSent() { b.sinceFrame = 0 }

// SinceFrame is the number of PINGs sent since our last HEADERS, DATA or WINDOW_UPDATE.
func (b *PingBudget) SinceFrame() int { return b.sinceFrame }

// Calm ends the burst and doubles the intervals, up to an hour: the peer complained of too many PINGs, by
// GOAWAY(ENHANCE_YOUR_CALM). now is the start of the first doubled interval.
func (b *PingBudget) Calm(now time.Time) {
	b.sent = pingBurst
	if b.last.Before(now) {
		b.last = now
	}
	if b.interval(Probing) < maxPingInterval {
		b.doubled++
	}
}

func (b *PingBudget) interval(purpose PingPurpose) time.Duration {
	d := probingInterval
	if purpose == Liveness {
		d = livenessInterval
	}
	return min(d<<b.doubled, maxPingInterval)
}
