package relay

import (
	"sync"
	"time"
)

// An alarm is what one goroutine sleeps by. sleepUntil returns false once close was called, which any goroutine may do.
type alarm interface {
	sleepUntil(t time.Time) bool
	close()
}

// A timerAlarm is an alarm made of the runtime's timers, whose wake-ups on some systems come up to a millisecond late.
type timerAlarm struct {
	once sync.Once
	done chan struct{}
}

func newTimerAlarm() alarm { return &timerAlarm{done: make(chan struct{})} }

func (a *timerAlarm) sleepUntil(t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-a.done:
		return false
	}
}

func (a *timerAlarm) close() { a.once.Do(func() { close(a.done) }) }
