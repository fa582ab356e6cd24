package conn

import (
	"encoding/binary"
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
)

// sentPing is a PING of ours that is not answered yet.
type sentPing struct {
	data    [8]byte
	purpose pingPurpose
	at      time.Time // when it was packed; zero before
}

type pingPurpose uint8

const (
	pingUser pingPurpose = iota
	pingProbe
	pingLiveness
)

// budgeted reports whether the PING came out of the shared budget; the user's own do not.
func (p pingPurpose) budgeted() bool { return p != pingUser }

// Ping sends a PING with data as its payload; a Pong event answers it. It is the caller's own and outside the budget
// that strategies and liveness share.
func (c *Conn) Ping(now time.Time, data [8]byte) {
	c.touch(now)
	if c.life < closing {
		c.queuePing(sentPing{data: data, purpose: pingUser})
	}
}

func (c *Conn) queuePing(p sentPing) {
	c.outstanding = append(c.outstanding, p)
	c.out.add(outPing)
}

// ownPing makes a payload for a PING of the connection's own.
func (c *Conn) ownPing(purpose pingPurpose) sentPing {
	p := sentPing{purpose: purpose}
	c.out.pingCount++
	binary.BigEndian.PutUint64(p.data[:], 0x6832666c6f770000|c.out.pingCount&0xffff)
	return p
}

// recvPing answers a PING, and matches the answer to one of ours. RFC 9113, Section 6.7 (9113-6.7-2, 9113-6.7-4).
func (c *Conn) recvPing(h frame.Header, payload []byte) {
	f, err := frame.ParsePing(h, payload)
	if err != nil {
		c.frameFault(err)
		return
	}
	if !f.Ack {
		c.out.pingAcks = append(c.out.pingAcks, f.Data)
		c.checkReplies()
		return
	}
	for i, p := range c.outstanding {
		if p.data == f.Data && !p.at.IsZero() {
			c.outstanding = append(c.outstanding[:i], c.outstanding[i+1:]...)
			c.pong(p)
			return
		}
	}
	c.glitch(1)
}

func (c *Conn) pong(p sentPing) {
	rtt := c.now.Sub(p.at)
	if p.purpose.budgeted() {
		c.pings.Answered()
	}
	if p.purpose == pingLiveness {
		c.clearTimer(timerPong)
	}
	if p.purpose != pingLiveness {
		c.tell(nil, flow.Event{Kind: flow.RTTSample, Source: flow.SourcePing, RTT: rtt})
	}
	if p.purpose == pingUser {
		c.events.push(Event{Kind: Pong, PingData: p.data, RTT: rtt})
	}
}

// RTTSample tells the strategy a round-trip time that the caller measured.
func (c *Conn) RTTSample(now time.Time, source flow.RTTSource, rtt time.Duration) {
	c.touch(now)
	if c.life < closing && rtt > 0 {
		c.tell(nil, flow.Event{Kind: flow.RTTSample, Source: source, RTT: rtt})
	}
}
