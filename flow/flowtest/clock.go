package flowtest

import (
	"container/heap"
	"time"
)

// clock is virtual time: it runs what is due, in the order of time and then of scheduling.
type clock struct {
	now   time.Time
	queue timers
	count int
}

// epoch is when every model starts.
var epoch = time.Unix(1_000_000, 0)

func newClock() *clock { return &clock{now: epoch} }

// at runs do at time t, or now if t is past.
func (c *clock) at(t time.Time, do func()) {
	if t.Before(c.now) {
		t = c.now
	}
	c.count++
	heap.Push(&c.queue, timer{t, c.count, do})
}

// after runs do after d.
func (c *clock) after(d time.Duration, do func()) { c.at(c.now.Add(d), do) }

// step runs the next timer; it reports false when there is none.
func (c *clock) step() bool {
	if len(c.queue) == 0 {
		return false
	}
	t := heap.Pop(&c.queue).(timer)
	c.now = t.when
	t.do()
	return true
}

// elapsed is the time since the model started.
func (c *clock) elapsed() time.Duration { return c.now.Sub(epoch) }

type timer struct {
	when  time.Time
	order int
	do    func()
}

type timers []timer

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	if !t[i].when.Equal(t[j].when) {
		return t[i].when.Before(t[j].when)
	}
	return t[i].order < t[j].order
}
func (t timers) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *timers) Push(x any)   { *t = append(*t, x.(timer)) }
func (t *timers) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}
