package h2flow

import (
	"context"
	"iter"
	"math"
	"time"
)

// stateChanged as ClientConn.lastOpen makes the next critical section call OnStateChange.
const stateChanged = math.MaxInt

// tellState calls OnStateChange if the critical section that ends left less open streams than there were, or something
// else has changed.
func (c *ClientConn) tellState() {
	if c.cfg.OnStateChange == nil {
		return
	}
	open := c.core.OpenStreams()
	changed := open < c.lastOpen
	c.lastOpen = open
	if changed {
		c.cfg.OnStateChange()
	}
}

// settingsCame is called when the peer's SETTINGS have been applied, and when none will come any more.
func (c *ClientConn) settingsCame() {
	c.lastOpen = stateChanged
	for _, w := range c.awaiting {
		c.wake(w)
	}
}

// AwaitSettings waits until the peer's first SETTINGS have come, so that State tells what the peer allows. It returns
// the error of the connection if that is over before.
func (c *ClientConn) AwaitSettings(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w := new(waiter)
	stop := context.AfterFunc(ctx, func() { c.mu.Lock(); c.wake(w); c.unlock() })
	defer stop()
	c.mu.Lock()
	defer c.unlock()
	c.awaiting = append(c.awaiting, w)
	for !c.core.SettingsReceived() && !c.over && ctx.Err() == nil {
		c.await(w, nil)
	}
	c.awaiting = without(c.awaiting, w)
	switch {
	case c.core.SettingsReceived():
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return openError(c.closedError(), nil)
}

// Streams ranges over the streams that are not over, as they are at the beginning, in no particular order. It is a look
// from outside: others may read and write them.
func (c *ClientConn) Streams() iter.Seq[*ClientStream] {
	return func(yield func(*ClientStream) bool) {
		c.mu.Lock()
		list := make([]*ClientStream, 0, len(c.streams))
		for _, s := range c.streams {
			list = append(list, s)
		}
		c.mu.Unlock()
		for _, s := range list {
			if !yield(s) {
				return
			}
		}
	}
}

// UpdatePriority tells the peer a new priority of the response, by PRIORITY_UPDATE: value is what a priority field would
// hold, such as "u=1, i". It reports whether it will; a peer that does not look at such frames gets none. See RFC 9218.
func (s *ClientStream) UpdatePriority(value string) bool {
	s.c.mu.Lock()
	defer s.c.unlock()
	return s.c.core.UpdatePriority(time.Now(), s.id, value)
}
