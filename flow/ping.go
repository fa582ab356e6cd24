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
// forgive them only when they themselves send HEADERS or DATA, one then and two more, and none for ever after; Google's
// front ends allow four between two HEADERS, DATA or WINDOW_UPDATE of the client. A PING of ours that crosses the server's
// DATA uses up the one that is forgiven, so that two are left.
const (
	pingBurst        = 4
	pingSinceFrame   = 3
	pingSincePeer    = 2
	probingInterval  = 2 * time.Second
	livenessInterval = 10 * time.Second
	maxPingInterval  = time.Hour
)

// PingBudget limits the PINGs of one connection, whatever asks for them:
//
//   - one is outstanding at most;
//   - the first 4 may follow each other freely; from then on one for probing comes 2 s after the PING before it at the
//     earliest, one for liveness 10 s;
//   - at most 3 follow our last HEADERS, DATA or WINDOW_UPDATE, and at most 2 the peer's last HEADERS or DATA;
//   - a complaint of the peer ends the burst and doubles both intervals.
//
// Lift leaves only the first rule for probing. The zero value is a full budget.
type PingBudget struct {
	sent        int // of the burst
	sinceFrame  int
	sincePeer   int
	outstanding bool
	last        time.Time
	doubled     uint8
	lifted      bool
}

// Allow says why no PING may be sent now, or 0 if one may.
func (b *PingBudget) Allow(now time.Time, purpose PingPurpose) Refusal {
	switch {
	case b.outstanding:
		return RefusedPingOutstanding
	case b.lifted && purpose == Probing:
		return 0
	case b.Spent(), now.Before(b.Next(purpose)):
		return RefusedPingBudget
	}
	return 0
}

// Lift lets every PING for probing pass, but for one outstanding at most.
func (b *PingBudget) Lift() { b.lifted = true }

// A PingLifter is a Strategy that limits its PINGs by rules of its own. It is there for models of other clients, which
// the budget would make unfaithful; servers close connections of clients that ask too often.
type PingLifter interface {
	Strategy
	// LiftsPingBudget reports whether the budget is lifted.
	LiftsPingBudget() bool
}

// LiftsPingBudget reports whether s is a PingLifter that lifts the budget of its connection.
func LiftsPingBudget(s Strategy) bool {
	l, ok := s.(PingLifter)
	return ok && l.LiftsPingBudget()
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
	b.sincePeer++
}

// Answered says that the outstanding PING was acknowledged.
func (b *PingBudget) Answered() { b.outstanding = false }

// Spent reports whether no PING may be sent, however long one waits, until one of the sides sends something else.
func (b *PingBudget) Spent() bool {
	return b.sinceFrame >= pingSinceFrame || b.sincePeer >= pingSincePeer
}

// PeerSpoke says that the peer sent HEADERS or DATA.
func (b *PingBudget) PeerSpoke() { b.sincePeer = 0 }

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
