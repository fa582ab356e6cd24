package sim

import "time"

// A clock is virtual time and what is to happen in it. Times are nanoseconds since the start of the run.
//
// Model: a binary heap of timers, each at most once in it; those for the same time fire in the order in which they were
// made. Nothing else decides an order.
type clock struct {
	now   int64
	heap  []*timer
	made  int
	steps int64
}

// epoch is what the connection core takes for the time 0.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// time is the present as the connection core wants it.
func (c *clock) time() time.Time { return epoch.Add(time.Duration(c.now)) }

// A timer calls fire once its time has come. It is made by clock.timer and may be set again and again.
type timer struct {
	clock *clock
	fire  func()
	at    int64
	order int
	pos   int // in the heap, -1 if not set
}

// timer returns a new timer, which is not set.
func (c *clock) timer(fire func()) *timer {
	c.made++
	return &timer{clock: c, fire: fire, order: c.made, pos: -1}
}

// at sets a new timer, for what happens once.
func (c *clock) at(at int64, fire func()) { c.timer(fire).set(at) }

// step lets the next timer fire; false means that none is set, or none up to limit.
func (c *clock) step(limit int64) bool {
	if len(c.heap) == 0 || c.heap[0].at > limit {
		return false
	}
	t := c.heap[0]
	c.now = t.at
	c.steps++
	t.clear()
	t.fire()
	return true
}

// set makes t fire at the given time, which is not before now, instead of when it would have.
func (t *timer) set(at int64) {
	at = max(at, t.clock.now)
	if t.pos < 0 {
		t.at = at
		t.pos = len(t.clock.heap)
		t.clock.heap = append(t.clock.heap, t)
		t.clock.up(t.pos)
		return
	}
	later := at > t.at
	t.at = at
	if later {
		t.clock.down(t.pos)
	} else {
		t.clock.up(t.pos)
	}
}

// isSet reports whether t will fire.
func (t *timer) isSet() bool { return t.pos >= 0 }

// clear makes t not fire.
func (t *timer) clear() {
	if t.pos < 0 {
		return
	}
	c, i, last := t.clock, t.pos, len(t.clock.heap)-1
	c.swap(i, last)
	c.heap[last] = nil
	c.heap = c.heap[:last]
	t.pos = -1
	if i < last {
		c.down(i)
		c.up(i)
	}
}

func (c *clock) less(i, j int) bool {
	a, b := c.heap[i], c.heap[j]
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (c *clock) swap(i, j int) {
	c.heap[i], c.heap[j] = c.heap[j], c.heap[i]
	c.heap[i].pos, c.heap[j].pos = i, j
}

func (c *clock) up(i int) {
	for i > 0 && c.less(i, (i-1)/2) {
		c.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (c *clock) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(c.heap); child++ {
			if c.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		c.swap(i, least)
		i = least
	}
}
