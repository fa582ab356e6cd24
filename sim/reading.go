package sim

import (
	"time"

	"example.com/h2flow/frame"
)

// reading is an application that reads one response.
//
// Model: unread octets have arrived and were not taken. wants is how many the application would take at once if they
// were there; it waits in its read exactly while wants is above 0 and nothing is unread.
type reading struct {
	c       *client
	id      frame.StreamID
	model   Reader
	result  int // of run.streams
	start   int64
	awaited bool // the request waits for it

	unread  int64
	wants   int64
	ended   bool
	closed  bool
	touched bool
	timer   *timer
	paused  bool
}

const (
	everything = 1 << 50
	readRoom   = 32 << 10 // what a reader that copies has room for, in octets
)

func newReading(c *client, id frame.StreamID, model Reader) *reading {
	r := &reading{c: c, id: id, model: model, start: c.run.clock.now, result: len(c.run.streams)}
	c.run.streams = append(c.run.streams, Stream{
		Connection: c.index, Request: c.request, StartSeconds: seconds(r.start), Seconds: -1,
	})
	return r
}

// begin starts reading: the response's head has arrived.
func (r *reading) begin(end bool) {
	r.ended = end
	now := r.c.run.clock.now
	switch r.model.Kind {
	case ReadInstantly:
		r.wants = everything
	case ReadAtRate:
		r.wants = readRoom
		r.timer = r.c.run.clock.timer(r.nextChunk)
	case ReadInBursts:
		r.timer = r.c.run.clock.timer(r.burst)
		r.timer.set(now + int64(r.model.Every))
	case ReadWithPause:
		r.wants = everything
		r.timer = r.c.run.clock.timer(r.pause)
		r.timer.set(max(r.start+int64(r.model.After), now))
	}
	r.touch()
	r.finish()
}

// arrived counts n octets that have come, and takes what is wanted.
func (r *reading) arrived(n int64, end bool) {
	r.unread += n
	r.ended = r.ended || end
	r.take()
	r.touch()
	r.finish()
}

// take reads what is there, up to what is wanted.
func (r *reading) take() {
	n := min(r.unread, r.wants)
	if n == 0 {
		return
	}
	r.unread -= n
	if r.wants < everything {
		r.wants -= n
	}
	r.c.run.streams[r.result].Bytes += n
	r.c.read += n
	r.c.core.Consumed(r.c.run.clock.time(), r.id, int(n))
	if r.model.Kind == ReadAtRate {
		r.wants = 0
		r.timer.set(r.c.run.clock.now + int64(milliseconds(float64(n)*0.008/r.model.RateMbit)))
	}
}

// nextChunk goes on reading at a rate: what was read is worked off.
func (r *reading) nextChunk() {
	r.wants = readRoom
	r.act()
}

// burst is one burst of reading.
func (r *reading) burst() {
	r.timer.set(r.c.run.clock.now + int64(r.model.Every))
	if r.model.Bytes > 0 {
		r.wants = r.model.Bytes
		r.act()
		return
	}
	r.wants = r.unread // what is there, and no waiting
	r.act()
}

// pause begins or ends the pause.
func (r *reading) pause() {
	if !r.paused {
		r.paused = true
		r.wants = 0
		r.c.core.ReaderAway(r.c.run.clock.time(), r.id)
		if r.model.Pause > 0 {
			r.timer.set(r.c.run.clock.now + int64(r.model.Pause))
		}
		r.c.turn()
		return
	}
	if r.model.Every > 0 {
		r.timer.fire = r.burst
		r.burst()
		return
	}
	r.wants = everything
	r.act()
}

// act takes what is there after wants has changed.
func (r *reading) act() {
	r.take()
	r.touch()
	r.finish()
	r.c.turn()
}

// touch sees to it that the core is told of a reader that waits.
func (r *reading) touch() {
	if !r.touched {
		r.touched = true
		r.c.touched = append(r.c.touched, r)
	}
}

// wait tells the core if the application waits.
func (r *reading) wait() {
	r.touched = false
	if r.wants > 0 && r.unread == 0 && !r.ended && !r.closed {
		r.c.core.ReaderWaiting(r.c.run.clock.time(), r.id, int(min(r.wants, readRoom)))
	}
}

// finish ends the reading once everything was read.
func (r *reading) finish() {
	if r.ended && r.unread == 0 {
		r.close(OutcomeOK)
	}
}

// close ends the reading.
func (r *reading) close(outcome string) {
	if r.closed {
		return
	}
	r.forget()
	if outcome == OutcomeOK {
		r.c.run.streams[r.result].Seconds = seconds(r.c.run.clock.now - r.start)
	}
	if r.awaited {
		r.c.finished(outcome)
	}
}

// forget stops reading.
func (r *reading) forget() {
	r.closed = true
	if r.timer != nil {
		r.timer.clear()
	}
	delete(r.c.readings, r.id)
}

// seconds converts a time of a run for people.
func seconds(ns int64) float64 { return time.Duration(ns).Seconds() }
