package hostile

import (
	"time"

	"example.com/h2flow/flow"
)

// Run plays one life, decided by choose, and counts in tally what it reached.
func Run(choose Chooser, tally *Tally) Report { return run(newWorld(choose, tally, false, nil)) }

// Tell is Run with a transcript.
func Tell(choose Chooser, tally *Tally) Report { return run(newWorld(choose, tally, true, nil)) }

// RunStrategy is Run with a strategy of cfg, and not one of its own.
func RunStrategy(choose Chooser, tally *Tally, cfg flow.Config) Report {
	return run(newWorld(choose, tally, false, cfg))
}

// Conversation plays one life and returns the octets that each side said, the client's preface included.
func Conversation(choose Chooser) (server, client []byte) {
	w := newWorld(choose, NewTally(), false, nil)
	w.keep = true
	run(w)
	return w.said, w.sent
}

func run(w *world) Report {
	steps := 20 + w.choose.IntN(120)
	n := 0
	w.output()
	for ; n < steps && w.err == nil && !w.closed; n++ {
		w.step()
		w.check()
	}
	if w.err == nil {
		w.heal()
	}
	if w.err == nil {
		w.settle()
	}
	return Report{Err: w.err, Digest: w.digest, Requests: w.user.opened, Steps: n, lines: w.lines}
}

// step lets somebody do one thing.
func (w *world) step() {
	switch k := w.choose.IntN(40); {
	case k < 12:
		w.user.act(w)
	case k < 26:
		w.server.act(w)
	case k < 30:
		w.arrive(1 + w.choose.IntN(4000))
	case k < 34:
		w.deliver(1 + w.choose.IntN(20000))
	case k == 34:
		w.advance(time.Duration(w.choose.IntN(3000)) * time.Millisecond)
	case k == 35:
		w.block()
	case k == 36 && w.oneIn(4):
		w.silence()
	case k == 37 && w.oneIn(20):
		w.breakTransport()
	case k == 38 && w.oneIn(2):
		w.promiseAnyway()
	case k >= 38:
		w.nemesis.strike(w)
	}
	w.arrive(w.choose.IntN(1 + len(w.up)))
	if w.oneIn(2) {
		w.deliver(w.choose.IntN(1 + len(w.down)))
	}
}

func (w *world) promiseAnyway() {
	if !w.cut && w.server.greeted {
		w.promise(2)
	}
}

// block stops the transport from taking anything, or lets it go on.
func (w *world) block() {
	w.stuck = !w.stuck
	if !w.stuck {
		if w.c.HasOutput() {
			w.tally.reach("the transport goes on after it was blocked")
		}
		w.output()
	}
}

// silence lets a long time pass in which the server says nothing.
func (w *world) silence() {
	if w.cut || w.stuck {
		return
	}
	w.note("=", "silence")
	w.deliver(len(w.down))
	before := w.c.OpenStreams()
	w.advance(time.Duration(pick(w, 5, 11, 35, 70)) * time.Second)
	w.arrive(len(w.up))
	if err := w.c.Err(); w.closed && err != nil {
		switch {
		case !w.c.SettingsReceived():
			w.tally.reach("the server never said SETTINGS")
		case before > 0:
			w.tally.reach("a silent server is given up")
		}
	} else if len(w.server.pings) > 0 {
		w.tally.reach("a PING asks for a sign of life")
	}
}

// heal stops all faults and lets everybody finish, within bounded time.
func (w *world) heal() {
	w.stuck, w.healing = false, true
	w.output()
	w.take(len(w.unsent))
	w.arrive(len(w.up))
	w.server.lift(w)
	for round := 0; w.err == nil && !w.closed; round++ {
		w.deliver(len(w.down))
		w.output()
		w.take(len(w.unsent))
		w.arrive(len(w.up))
		w.server.finish(w)
		w.user.finish(w)
		w.check()
		if w.user.live() == 0 && len(w.down) == 0 && len(w.up) == 0 && w.idle() {
			return
		}
		if round > 200 {
			w.fatal("%d requests have no outcome after the faults stopped", w.user.live())
			return
		}
		if round > 20 {
			// What the strategy withholds or the nemesis spoilt ends by a stall, or by the user.
			w.advance(time.Second)
			if round > 60 {
				for _, r := range w.user.order {
					if w.server.streams[r.id] == nil || w.server.streams[r.id].tainted {
						w.giveUpOver(r)
					}
				}
			}
		}
	}
}

func (w *world) giveUpOver(r *request) {
	if !r.over() || r.ended && !r.sentAll && r.failed == nil {
		w.giveUp(r)
		r.sentAll = true
	}
}

// idle reports whether no upload is still going on.
func (w *world) idle() bool {
	for _, r := range w.user.order {
		if r.ended && !r.sentAll && r.failed == nil && !r.gaveUp {
			return false
		}
	}
	return true
}

// settle ends the connection and applies what must hold when all is over.
func (w *world) settle() {
	if !w.closed {
		for w.c.HasOutput() && w.err == nil && !w.closed {
			w.output()
		}
		w.balance()
		w.c.Shutdown(w.now)
		w.events()
		w.output()
		for _, r := range w.user.order {
			if !w.closed {
				w.giveUpOver(r)
				w.events()
			}
		}
		w.output()
	}
	if !w.closed {
		w.fatal("shut down without streams, and not over: %d open", w.c.OpenStreams())
		return
	}
	w.output()
	if w.err != nil {
		return
	}
	for n := 0; w.c.HasOutput() && n < 1000; n++ {
		w.output()
	}
	if !w.cut && !w.c.Done() {
		w.fatal("the last event came, all was packed, and Done is false")
	}
	for _, r := range w.user.order {
		if !r.over() {
			w.fatal("stream %d has no outcome", r.id)
		}
	}
	// The end is the end.
	w.c.Feed(w.now, []byte("\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678"))
	w.events()
	w.advance(time.Hour)
	if out := w.c.AppendOutput(w.now, nil, 1<<20); len(out) > 0 || !w.c.Deadline().IsZero() {
		w.fatal("after the end: %d octets of output, deadline %v", len(out), w.c.Deadline())
	}
	w.arrive(len(w.up))
	if err := w.srv.Check(); err != nil && !w.cut && !w.nemesis.lied {
		w.fatal("at the server's end: %w", err)
	}
	w.check()
}

// balance: no credit is lost when all bodies are read.
func (w *world) balance() {
	o := w.c.RecvWindow()
	if o.Unread() != 0 && w.user.live() == 0 && w.idle() {
		w.fatal("%d octets count as unread, and no body is left", o.Unread())
	}
	if got, want := o.Window(), w.shadow.RecvWindow(0); got != want {
		w.fatal("the client takes its connection window for %d octets, the server for %d", got, want)
	}
	w.tally.reach("everybody finishes")
}
