package peers

import (
	"time"

	"example.com/h2flow/flow"
)

// Dart is package:http2 (dart-lang/http a0d49cb2), the stack of dio's HTTP/2. The connection's window is 65,535 and
// nothing can raise it. Each DATA frame is given back by a frame of its own on each level: the stream's when the listener
// gets it, the connection's when it is queued for the listener. A paused listener with one frame queued stops the
// connection's too, so that one paused stream stops all.
type Dart struct {
	// Stream is streamWindowSize, in octets; zero means 65,535. It raises the stream's window alone.
	Stream int64
	// Defects never credits padding, nor to the connection what a stream had queued when it was removed.
	Defects bool
}

var _ flow.Config = Dart{}

// New makes the strategy of one connection.
func (p Dart) New() flow.Strategy {
	d := &dart{defects: p.Defects, queues: make(map[uint32][]int64)}
	d.client = newClient(side{size: orDefault(p.Stream, flow.DefaultWindow), give: everyOctet},
		side{size: flow.DefaultWindow, onReceipt: true, give: everyOctet})
	d.forgetsPads = p.Defects
	return d
}

// String describes p so that Parse reads it back.
func (p Dart) String() string {
	return describe("dart", size("stream", p.Stream), flag("defects", p.Defects))
}

// dart keeps, for each stream, where the frames end that the listener has not got: the first of them is queued, the
// others are held back from the connection's credit. held, within lost of the connection, is their sum.
type dart struct {
	*client
	defects bool
	queues  map[uint32][]int64
}

func (d *dart) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	b := d.track(now, ev)
	q := d.queues[ev.Stream]
	before := held(q)
	switch {
	case ev.Kind == flow.StreamClosed:
		delete(d.queues, ev.Stream)
		if !d.defects {
			d.total.lost -= before
		}
		return d.grant(now, ev, dst)
	case b == nil:
		return d.grant(now, ev, dst)
	}
	if d.frame > 0 {
		q = append(q, b.whole)
	}
	for len(q) > 0 && q[0] <= ev.StreamWindow.Consumed {
		q = q[1:]
	}
	d.queues[ev.Stream] = q
	d.total.lost += held(q) - before
	return d.grant(now, ev, dst)
}

// held is how many octets lie behind the first frame of the queue.
func held(q []int64) int64 {
	if len(q) == 0 {
		return 0
	}
	return q[len(q)-1] - q[0]
}
