package sim

import (
	"fmt"
	"strconv"
	"time"

	"example.com/h2flow/conn"
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/plainfields"
)

// client drives one production connection core as the driver does, but by virtual time, and makes the requests of the
// scenario on it, one after the other.
type client struct {
	run    *run
	index  int // of the connection
	e      *endpoint
	server *server
	core   *conn.Conn
	meter  *flow.Meter
	timer  *timer // for the core's deadline
	small  *timer // for the next small request
	out    []byte

	request  int // of the scenario, counted from 0
	began    int64
	bulk     int   // responses of the request that are awaited
	read     int64 // octets that applications took
	failed   string
	records  []Record
	series   []Sample
	sampled  int64
	readings map[frame.StreamID]*reading
	unread   []frame.StreamID // of the request, which nobody reads
	touched  []*reading       // that got octets since the last output
	over     bool
}

func newClient(r *run, index int) *client {
	c := &client{run: r, index: index, readings: make(map[frame.StreamID]*reading)}
	s := r.scenario
	tcp := tcpOptions{control: "cubic", initialWindow: 10, receiveBuffer: max(s.ReceiveBufferBytes, 0)}
	from := tcpOptions{control: s.CongestionControl, noHyStart: s.NoHyStart, initialWindow: int64(s.InitialWindowSegments)}
	var far *endpoint
	c.e, far = newPair(&r.clock, index+1, r.up, r.down, tcp, from, &r.stats)
	c.server = newServer(far, s.Server, r.abort)
	c.e.established = c.established
	c.e.arrived = c.arrived
	c.timer = r.clock.timer(func() {
		c.core.Advance(r.clock.time())
		c.turn()
	})
	c.small = r.clock.timer(c.askSmall)
	return c
}

// start opens the connection.
func (c *client) start() {
	c.began = c.run.clock.now
	c.e.connect(c.run.scenario.HandshakeRTTs)
}

// established begins HTTP/2 once the handshake is over, with the first request in the same flight.
func (c *client) established(rtt int64) {
	now := c.run.clock.time()
	c.meter = &flow.Meter{Series: c.run.scenario.SeriesMs > 0, Every: 1 << 62}
	cfg := flow.Observe(c.run.strategy, func() flow.Observer { return c.meter })
	c.core = conn.New(now, conn.Config{
		Strategy: cfg.New(), Encoder: &plainfields.Encoder{}, Decoder: &plainfields.Decoder{},
	})
	if c.run.scenario.KernelRTT {
		c.core.RTTSample(now, flow.SourceKernel, time.Duration(rtt))
	}
	c.ask()
	c.turn()
}

// ask makes the requests of the scenario's next request.
func (c *client) ask() {
	s := c.run.scenario
	c.bulk = 0
	c.unread = c.unread[:0]
	for i := range s.Streams {
		r := c.open(s.Bytes, s.Reader)
		if r == nil {
			return
		}
		if i < s.UnreadStreams {
			r.model = Reader{Kind: ReadNever}
			c.unread = append(c.unread, r.id)
		} else {
			r.awaited = true
			c.bulk++
		}
	}
	if s.SmallBytes > 0 {
		c.small.set(c.run.clock.now + int64(milliseconds(s.SmallEveryMs)))
	}
}

// askSmall asks for a small response beside the bulk.
func (c *client) askSmall() {
	s := c.run.scenario
	if r := c.open(s.SmallBytes, Reader{}); r != nil {
		c.run.streams[r.result].Small = true
		c.small.set(c.run.clock.now + int64(milliseconds(s.SmallEveryMs)))
	}
	c.turn()
}

// open asks for size octets on a stream of its own.
func (c *client) open(size int64, model Reader) *reading {
	id, err := c.core.Open(c.run.clock.time(), []frame.Field{
		{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"},
		{Name: ":authority", Value: "example.org"}, {Name: ":path", Value: "/" + strconv.FormatInt(size, 10)},
	}, true)
	if err != nil {
		c.fail(err.Error())
		return nil
	}
	r := newReading(c, id, model)
	c.readings[id] = r
	return r
}

// arrived feeds the core n octets, and hands on what comes of it.
func (c *client) arrived(n int64) {
	for n > 0 && !c.over {
		p := c.e.peer.send.content.next(n)
		n -= int64(len(p))
		c.core.Feed(c.run.clock.time(), p)
		c.events()
	}
	c.turn()
}

// events hands on what the core has to say.
func (c *client) events() {
	for ev := c.core.NextEvent(); ev.Kind != conn.None; ev = c.core.NextEvent() {
		switch ev.Kind {
		case conn.Response:
			if r := c.readings[ev.Stream]; r != nil {
				r.begin(ev.End)
			}
		case conn.Data:
			if r := c.readings[ev.Stream]; r != nil {
				r.arrived(int64(len(ev.Data)), ev.End)
			}
		case conn.StreamError:
			outcome := OutcomeFailed
			if ev.Err != nil {
				if _, stalled := ev.Err.Err.(*flow.Stall); stalled {
					outcome = OutcomeStalled
				}
				c.run.complain(c, ev.Err.Error())
			}
			if r := c.readings[ev.Stream]; r != nil {
				r.close(outcome)
			}
		case conn.GoAway:
			c.run.complain(c, ev.Err.Error())
		case conn.Closed:
			text := "closed"
			if ev.Err != nil {
				text = ev.Err.Error()
			}
			c.fail(text)
		}
	}
}

// turn does what a driver does after anything has happened: it tells the core who waits, sends what there is to send,
// and sees to the core's deadline.
func (c *client) turn() {
	if c.over {
		return
	}
	c.events()
	now := c.run.clock.time()
	for i := 0; i < len(c.touched); i++ {
		c.touched[i].wait()
	}
	c.touched = c.touched[:0]
	for c.core.HasOutput() {
		c.out = c.core.AppendOutput(now, c.out[:0], 64<<10)
		c.e.write(c.out)
		c.core.Written(c.core.Packed())
		c.events() // Opened, at least
	}
	c.e.send.push()
	if at := c.core.Deadline(); at.IsZero() {
		c.timer.clear()
	} else {
		c.timer.set(int64(at.Sub(epoch)))
	}
	c.sample(false)
	if c.run.scenario.CheckInvariants {
		c.check()
	}
}

// finished counts a response that is over; the last one ends the request.
func (c *client) finished(outcome string) {
	if outcome != OutcomeOK && c.failed == "" {
		c.failed = outcome
	}
	if c.bulk--; c.bulk == 0 && !c.over {
		c.small.clear()
		c.record(c.failed)
		c.next()
	}
}

// next goes on with the next request of the scenario, or ends.
func (c *client) next() {
	s := c.run.scenario
	now := c.run.clock.time()
	for _, id := range c.unread {
		c.core.Reset(now, id, frame.Cancel)
		if r := c.readings[id]; r != nil {
			r.forget()
		}
	}
	c.request++
	if c.request == s.Requests {
		c.end()
		return
	}
	again := func() {
		c.restart()
		c.ask()
		c.turn()
	}
	c.run.clock.at(c.run.clock.now+int64(milliseconds(s.GapMs)), again)
}

// fail gives up: the connection is of no use any more.
func (c *client) fail(text string) {
	if c.over {
		return
	}
	c.run.complain(c, text)
	c.record(OutcomeFailed)
	c.end()
}

func (c *client) end() {
	c.over = true
	c.timer.clear()
	c.small.clear()
	c.run.left--
}

// check makes the run fail if an invariant does not hold.
func (c *client) check() {
	err := c.core.CheckInvariants()
	if err == nil {
		err = c.e.checkInvariants()
	}
	if err == nil {
		err = c.e.peer.checkInvariants()
	}
	if err != nil {
		c.run.abort(fmt.Errorf("connection %d: %w", c.index, err))
	}
}
