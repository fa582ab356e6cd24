package sim

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTimersFireInOrder(t *testing.T) {
	var c clock
	var fired []int
	timers := make([]*timer, 200)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range timers {
		timers[i] = c.timer(func() { fired = append(fired, i) })
	}
	at := make([]int64, len(timers))
	for range 5000 {
		i := rng.IntN(len(timers))
		at[i] = rng.Int64N(50)
		timers[i].set(at[i])
		if rng.IntN(4) == 0 {
			at[i] = -1
			timers[i].clear()
		}
	}
	var want []int
	for i := range timers {
		if at[i] >= 0 && timers[i].isSet() {
			want = append(want, i)
		}
	}
	slices.SortStableFunc(want, func(i, j int) int { return int(at[i] - at[j]) })
	for c.step(math.MaxInt64) {
	}
	if diff := cmp.Diff(want, fired); diff != "" {
		t.Errorf("order of timers (-want +got):\n%s", diff)
	}
	if c.now != at[want[len(want)-1]] {
		t.Errorf("the clock stands at %d, want %d", c.now, at[want[len(want)-1]])
	}
}

func TestTheClockStopsAtItsLimit(t *testing.T) {
	var c clock
	fired := 0
	c.at(10, func() { fired++ })
	c.at(20, func() { fired++ })
	for c.step(15) {
	}
	if fired != 1 || c.now != 10 {
		t.Errorf("%d timers fired up to %d, want 1 up to 10", fired, c.now)
	}
}

func TestOctetsComeOutAsTheyWentIn(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var o octets
	var want, got []byte
	for range 3000 {
		n := rng.IntN(40)
		if rng.IntN(2) == 0 {
			p := make([]byte, n)
			for i := range p {
				p[i] = byte(1 + rng.IntN(255))
			}
			o.append(p)
			want = append(want, p...)
		} else {
			o.appendZeros(int64(n))
			want = append(want, make([]byte, n)...)
		}
		for n := rng.Int64N(60); n > 0 && o.size > 0; {
			p := o.next(min(n, o.size))
			got = append(got, p...)
			n -= int64(len(p))
		}
	}
	for o.size > 0 {
		got = append(got, o.next(o.size)...)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%d octets went in, %d others came out", len(want), len(got))
	}
}

func TestALinkIsARateADelayAndAQueue(t *testing.T) {
	var c clock
	var stats PathStats
	l := newLink(&c, 12e6, 5e6, 15000, losses{}, &stats) // 1,500 octets a millisecond, ten segments of queue
	sink := &endpoint{clock: &c, deaf: true}
	l.send(packet{to: sink, start: 0, end: mss})
	l.send(packet{to: sink, start: mss, end: 21 * mss})
	var due []int64
	var octets []int64
	for l.count > 0 {
		p := l.ring[l.head]
		due = append(due, p.due)
		octets = append(octets, p.end-p.start)
		c.step(math.MaxInt64)
	}
	// One segment is being sent and nine more fit behind it.
	if diff := cmp.Diff([]int64{6e6, 15e6}, due); diff != "" {
		t.Errorf("arrivals in ns (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{mss, 9 * mss}, octets); diff != "" {
		t.Errorf("octets (-want +got):\n%s", diff)
	}
	if stats.QueueDrops != 11 || stats.PeakQueueBytes != 15000 {
		t.Errorf("%d segments dropped, queue up to %d; want 11, 15,000", stats.QueueDrops, stats.PeakQueueBytes)
	}
}

// The same octets are lost however a stream is cut into segments, and others when they are sent again.
func TestLossesAreOfOctets(t *testing.T) {
	l := newLosses(7, 0.05, false)
	to := &endpoint{connection: 1}
	lost := func(cuts func() int64, attempt int) []int64 {
		var first []int64 // of each segment lost
		for at := int64(0); at < 1000*mss; {
			end := at + cuts()
			if l.losesSegment(&packet{to: to, attempt: attempt}, at, end) {
				first = append(first, at)
			}
			at = end
		}
		return first
	}
	rng := rand.New(rand.NewPCG(5, 6))
	full := lost(func() int64 { return mss }, 1)
	if len(full) < 30 || len(full) > 70 {
		t.Errorf("%d of 1,000 segments were lost at 5 %%", len(full))
	}
	cut := lost(func() int64 { return 1 + rng.Int64N(mss) }, 1)
	if len(cut) != len(full) {
		t.Errorf("%d full segments were lost, %d cut ones", len(full), len(cut))
	}
	for i := range min(len(full), len(cut)) {
		if d := cut[i] - full[i]; d < -mss || d > mss {
			t.Errorf("loss %d is at %d and at %d", i, full[i], cut[i])
		}
	}
	if cmp.Equal(full, lost(func() int64 { return mss }, 2)) {
		t.Error("what is sent again is lost again")
	}
	to = &endpoint{connection: 2}
	if cmp.Equal(full, lost(func() int64 { return mss }, 1)) {
		t.Error("two connections lose the same octets")
	}
}

func TestTheReceiverPutsOctetsInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for range 200 {
		var c clock
		e := &endpoint{clock: &c}
		e.peer = &endpoint{clock: &c, peer: e, deaf: true}
		e.out = newLink(&c, 0, 0, math.MaxInt64, losses{}, &PathStats{})
		e.send.init(e, tcpOptions{initialWindow: 10}, &PathStats{})
		e.recv.init(e, 0)
		const segments = 40
		order := rng.Perm(segments)
		var total int64
		have := make([]bool, segments+1)
		for _, i := range order {
			total += e.recv.take(&packet{start: int64(i) * 100, end: int64(i+1) * 100})
			have[i] = true
			var p packet
			e.recv.tell(&p)
			inOrder := int64(slices.Index(have, false)) * 100
			if total != inOrder || e.recv.next != inOrder {
				t.Fatalf("order %v: %d octets in order after segment %d, want %d", order, total, i, inOrder)
			}
			for _, s := range p.sacks[:p.nsacks] {
				if s.start <= e.recv.next || have[s.start/100-1] || have[s.end/100] {
					t.Fatalf("order %v: told of %v, which is no gap's border", order, s)
				}
			}
			if int64(i)*100 > e.recv.next && (p.nsacks == 0 || p.sacks[0].start > int64(i)*100 || p.sacks[0].end <= int64(i)*100) {
				t.Fatalf("order %v: segment %d is not told first: %v", order, i, p.sacks)
			}
		}
		if len(e.recv.spans) != 0 {
			t.Fatalf("order %v: %v is left", order, e.recv.spans)
		}
	}
}

func TestCubeRoot(t *testing.T) {
	for _, n := range []int64{0, 1, 7, 8, 26, 27, 1e9, 999999999, 1 << 59} {
		root := cubeRoot(n)
		if root*root*root > n || (root+1)*(root+1)*(root+1) <= n {
			t.Errorf("cubeRoot(%d) = %d", n, root)
		}
	}
}

func TestMulDiv(t *testing.T) {
	tests := []struct{ a, b, c, want int64 }{
		{0, 5, 7, 0},
		{10, 10, 3, 33},
		{1 << 60, 8e9, 1 << 60, 8e9},
		{math.MaxInt64, 1e9, 1e9, math.MaxInt64},
	}
	for _, tt := range tests {
		if got := mulDiv(tt.a, tt.b, tt.c); got != tt.want {
			t.Errorf("mulDiv(%d, %d, %d) = %d, want %d", tt.a, tt.b, tt.c, got, tt.want)
		}
	}
}
