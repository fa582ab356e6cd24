package sim

import "math"

// addCross adds a flow of others through the bottleneck.
func (r *run) addCross(i int, c CrossTraffic) {
	start, stop := int64(milliseconds(c.StartMs)), int64(milliseconds(c.StopMs))
	if stop == 0 {
		stop = math.MaxInt64
	}
	id := -1 - i
	if c.RateMbit > 0 {
		sink := &endpoint{clock: &r.clock, connection: id, deaf: true}
		stream := &constantRate{link: r.down, to: sink, rate: bitsPerSecond(c.RateMbit), stop: stop}
		stream.timer = r.clock.timer(stream.send)
		stream.timer.set(start)
		return
	}
	sink, source := newPair(&r.clock, id, r.up, r.down, tcpOptions{initialWindow: 10},
		tcpOptions{control: c.CongestionControl, initialWindow: 10, noHyStart: r.scenario.NoHyStart}, &r.stats)
	sink.established = func(int64) {
		more := func() {
			if r.clock.now < stop {
				source.send.written = source.send.next + crossAhead
			}
		}
		source.writable = more
		more()
		source.send.push()
	}
	r.clock.at(start, func() { sink.connect(1) })
}

// crossAhead is what a bulk flow has ready to be sent, in octets: more than any window.
const crossAhead = 1 << 32

// constantRate sends full segments at a constant rate and hears of nothing.
type constantRate struct {
	link  *link
	to    *endpoint
	rate  int64
	stop  int64
	at    int64
	timer *timer
}

func (c *constantRate) send() {
	now := c.link.clock.now
	if now >= c.stop {
		return
	}
	c.link.send(packet{to: c.to, start: c.at, end: c.at + mss, attempt: 1})
	c.at += mss
	c.timer.set(now + mulDiv(mss+headerBytes, 8e9, c.rate))
}
