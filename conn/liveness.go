package conn

import (
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
)

// liveness is what is known of the questions for a sign of life.
type liveness struct {
	asked    time.Time // when a sign of life was last asked for, by whatever means
	settings time.Time // when SETTINGS were last sent to ask for one
}

// settingsQuestionSpacing is the least time between two SETTINGS that only ask for a sign of life.
const settingsQuestionSpacing = 10 * time.Second

// checkLiveness asks for a sign of life if streams are open and nothing has arrived for the interval. RFC 9113,
// Section 8.7 (9113-8.7-3).
//
// PING is the question as long as its budget lasts. Servers that count PINGs forgive them only when they send something
// themselves, which in a long poll can take hours; so when the budget is spent, an empty SETTINGS frame is the question.
// Its acknowledgement is owed as that of PING is (RFC 9113, Section 6.5.3), it changes nothing, and one in half a minute
// is far from what servers take for a flood.
func (c *Conn) checkLiveness() {
	if c.openCount == 0 {
		return
	}
	if silence := c.now.Sub(c.lastRecv); silence < c.cfg.PingInterval {
		c.setTimerAt(timerLiveness, c.lastRecv, c.cfg.PingInterval)
		return
	}
	c.setTimer(timerLiveness, c.cfg.PingInterval)
	switch c.pings.Allow(c.now, flow.Liveness) {
	case 0:
		c.queuePing(c.ownPing(pingLiveness))
	case flow.RefusedPingOutstanding:
		// A probe, or a question that was asked before, is on its way and says the same.
		c.awaitSign()
	default:
		if c.pings.Spent() {
			c.askBySettings()
		}
	}
}

// askBySettings asks for a sign of life by SETTINGS without any setting.
func (c *Conn) askBySettings() {
	if len(c.ownSettings) > 0 {
		// An acknowledgement is owed already.
		c.awaitSign()
		return
	}
	if !c.live.settings.IsZero() && c.now.Sub(c.live.settings) < settingsQuestionSpacing {
		return
	}
	c.live.settings = c.now
	c.ownSettings = append(c.ownSettings, sentSettings{lowersTo: -1, tableSize: -1, question: true})
	c.out.add(outSettings)
}

// awaitSign waits for the answer to what was sent before, for whatever reason; the wait for a question goes on as it is.
func (c *Conn) awaitSign() {
	if c.timers.at[timerPong].IsZero() {
		c.expectSign()
	}
}

// expectSign is called when a question leaves.
func (c *Conn) expectSign() {
	c.live.asked = c.now
	c.setTimer(timerPong, c.cfg.PingTimeout)
}

// checkPong gives the connection up if nothing at all has arrived since the question.
func (c *Conn) checkPong() {
	if !c.lastRecv.Before(c.live.asked) {
		return // the answer, or something else; the next interval asks again
	}
	silence := c.now.Sub(c.lastRecv)
	c.failWith(&Error{Code: frame.NoError, Scope: ScopeConnection,
		Reason: "the peer is silent for " + silence.String() + " and does not answer PING"})
}
