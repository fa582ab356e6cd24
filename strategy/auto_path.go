package strategy

import (
	"time"

	"example.com/h2flow/flow"
)

// path decides the window that fills the path.
//
// Model: B is the bandwidth-delay product as far as it is known, rate.best: what came in one round trip at the highest
// rate proven, the round trip being the shortest seen. While ramping, the window is 2 B or more, and grows with B. After
// a round trip that brought no more it is 1.5 B, and after three of them it is lowered further, as long as that makes
// the round trip shorter and costs no octets (settling). From then on it is 1.25 B (cruising), until B grows, or
// everything takes longer than the window explains, or it is time to try.
//
// Bounds: 2 B is at most twice the true product, because neither a burst of octets that were held up nor a queue raises
// B; see provenRate. Octets in flight above B wait in the queue, so a quarter of a round trip is what cruising costs
// others.
type path struct {
	window int64
	most   int64
	rate   provenRate
	rtt    pathTime
	loop   loop

	phase   phase
	rises   int  // round trips with growth
	flat    int  // round trips without growth since
	spoiled bool // in this round trip octets came that were not counted, since their readers were behind

	total   int64         // octets that arrived
	tries   int           // loops since settling began
	same    int           // loops in a row that were no shorter than the one before
	before  time.Duration // the round trip when settling began
	from    int64         // octets that had arrived by then
	settled time.Time     // when that was
	base    int64         // B when cruising began
	cruised time.Time     // when that was
	lid     int64         // of the window, until the next cruising

	since time.Time     // when the present watch began
	loops int           // that ended in it
	slow  time.Duration // the shortest of them
	wide  int64         // the largest window in it
}

// phase is what the window of the path does.
type phase uint8

const (
	ramping phase = iota
	settling
	cruising
)

const (
	startPath = 512 << 10 // the window before anything is known
	// freeWindow is what a window may be without a reason.
	freeWindow = 1 << 20
	// pathSlack is what the window has beyond the product: room for frames and for pauses of this process.
	pathSlack = 64 << 10
	// leastSettle is the product below which pathSlack is what matters.
	leastSettle = 128 << 10
	cushionTime = 4 * time.Millisecond
	flatRounds  = 3
	mostTries   = 40              // each lowers the round trip by a 20th
	sameLoops   = 2               // one may have been delayed by chance
	probeTime   = 5 * time.Second // of cruising, or 30 round trips
	watchTime   = time.Second     // or 8 round trips
	leastLoops  = 3               // of a watch
)

func (p *path) init(most int64) {
	p.most, p.lid = most, most
	p.window = min(startPath, most)
	p.slow = never
}

// never is longer than any loop.
const never = time.Duration(1<<63 - 1)

// sample takes a round-trip time.
func (p *path) sample(now time.Time, source flow.RTTSource, rtt time.Duration) {
	p.rtt.sample(now, source, rtt)
	p.rate.setSpan(max(p.rtt.least, leastSpan))
}

// restart begins anew with what is known, for octets that come after the server had nothing to send.
func (p *path) restart() {
	p.rate.allowance = 0
	if p.phase != ramping || p.flat > 0 {
		p.phase, p.flat, p.rises = ramping, 0, 0
		p.window = min(max(p.window, 2*p.rate.best), p.lid)
	}
}

// hold is how much of a window of size octets may be due before it is granted: less while the rate grows, more where the
// window is far above the product.
func (p *path) hold(size int64) int64 {
	switch p.phase {
	case ramping:
		if p.flat == 0 {
			return size / 10
		}
	case cruising:
		return max(size/8, min(size/4, (size-p.rate.best-p.rate.best/4)/2))
	}
	return size / 8
}

// cushion is what comes in a few milliseconds. On a path that is shorter than that, a server's own pauses use up a window
// of the product, and cut its frames short; nobody waits longer than cushionTime behind so much.
func (p *path) cushion() int64 {
	if p.rate.span >= cushionTime {
		return 0
	}
	return min(scale(p.rate.best, cushionTime, max(p.rate.span, time.Microsecond)), freeWindow)
}

// arrived counts n octets that came for a reader that waited; o is the connection window.
func (p *path) arrived(now time.Time, n int64, o flow.Offsets) {
	if took, ok := p.loop.received(now, o.Received); ok {
		p.looped(now, took)
	}
	p.total += n
	if r, ok := p.rate.add(now, n, p.window); ok {
		if !p.spoiled {
			p.round(now, r)
		}
		p.spoiled = false
	}
	if p.phase == ramping {
		p.grow()
	}
}

// grow keeps the window at twice of what comes in a round trip. As long as that grows with each round trip, up to four
// times, if the octets come at a rate that explains it: the server's own window may already be twice of what it last
// used.
func (p *path) grow() {
	got := p.rate.rate()
	if p.flat == 0 && p.rises >= 2 {
		got = max(got, min(2*got, p.rate.peak))
	}
	if got < p.window-p.window/3 && p.window <= freeWindow {
		return
	}
	want := 2 * got
	if p.rises < 2 {
		want = got + got/4 + pathSlack
	}
	p.window = max(p.window, min(want, 4*p.window, p.lid))
}

// round judges a round trip in which octets came.
func (p *path) round(now time.Time, r round) {
	best := p.rate.best
	switch {
	case p.watch(now):
		p.slowed()
	case p.phase == settling:
		p.window = p.target()
	case p.phase == cruising:
		p.window = p.target()
		if best > p.base+p.base/8 {
			p.phase, p.flat, p.rises = ramping, 0, 2
		} else if now.Sub(p.cruised) > max(probeTime, 30*p.rate.span) {
			p.phase, p.flat = ramping, 1
			p.window = min(best+best/2+pathSlack, p.most)
		}
	case r.more > best/8:
		p.flat = 0
		p.rises++
	case r.octets >= best/2:
		p.flat++
		p.flatter(now)
	}
}

// flatter gives back what brought nothing, after p.flat round trips without growth.
func (p *path) flatter(now time.Time) {
	best := p.rate.best
	switch {
	case p.flat < flatRounds:
		p.window = min(p.window, max(best+best/2+pathSlack, p.cushion()))
	case best < leastSettle:
		p.cruise(now)
	default:
		p.phase, p.tries, p.same = settling, 0, 0
		p.before, p.from, p.settled = p.rtt.least, p.total, now
		p.window = p.target()
	}
}

// target is the window of settling and cruising. A settling window, less the 8th of it that is held back between two
// grants, is a little less than B: the next loop is shorter if the round trip had been that of a queue.
func (p *path) target() int64 {
	best := p.rate.best
	if p.phase == settling {
		return min(max(best+best/12, pathSlack, p.cushion()), p.most)
	}
	return min(max(best+best/4+pathSlack, p.cushion()), p.most)
}

func (p *path) cruise(now time.Time) {
	p.phase, p.base, p.cruised, p.lid = cruising, p.rate.best, now, p.most
	p.watchAgain(now)
	p.window = p.target()
}

// looped takes the time from a grant to the first octet that it allowed.
func (p *path) looped(now time.Time, took time.Duration) {
	p.loops++
	p.slow = min(p.slow, took)
	before := p.rtt.least
	p.sample(now, flow.SourcePassive, took)
	if p.phase != settling || p.loop.window > p.rate.best+p.rate.best/8 {
		return // it measured a larger window
	}
	p.tries++
	rate := p.rate.best
	if since := now.Sub(p.settled); since > 2*p.rate.span {
		rate = scale(p.total-p.from, p.rate.span, since)
	}
	switch {
	case rate < p.rate.best-p.rate.best/8:
		// The octets in the queue are not ours alone: what we leave to others they take. Or the best was never true.
		if rate < p.rate.best/2 {
			p.rate.best = rate
		}
		p.rtt.least = p.before
		p.rate.setSpan(max(p.before, leastSpan))
		p.cruise(now)
	case took <= before-before/50 && p.tries < mostTries:
		p.same = 0
		p.window = p.target()
	default:
		if p.same++; p.same >= sameLoops || p.tries >= mostTries {
			p.cruise(now)
		}
	}
}

// busy reports whether the window is likely to matter: a third of it is used in one round trip.
func (p *path) busy() bool { return p.rate.rate() >= p.window/3 }
