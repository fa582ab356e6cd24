package conn_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
)

// traffic makes up what a server that keeps the rules and an application do to a testConn, from a seed.
type traffic struct {
	tc    *testConn
	rand  *rand.Rand
	live  []*exchange
	pings [][8]byte // of the client, not answered
	// What the client sent is looked at from here on.
	acksDue int
}

// exchange is one request as both ends see it.
type exchange struct {
	id       frame.StreamID
	opened   bool
	uploaded bool // the client has ended
	answered bool // the final head was sent
	done     bool // the server has ended
	unread   int  // octets that the application holds
}

func newTraffic(tc *testConn, seed uint64) *traffic {
	g := &traffic{tc: tc, rand: rand.New(rand.NewPCG(seed, 2))}
	tc.write(frame.MakeSettings())
	g.acksDue++ // the preface
	return g
}

// step does one thing.
func (g *traffic) step() {
	g.watch()
	if g.rand.IntN(2) == 0 {
		g.application()
	} else {
		g.server()
	}
	g.watch()
}

// watch learns from events and frames what happened.
func (g *traffic) watch() {
	tc := g.tc
	for _, ev := range tc.events {
		i := slices.IndexFunc(g.live, func(x *exchange) bool { return x.id == ev.Stream })
		if i < 0 {
			continue
		}
		x := g.live[i]
		switch ev.Kind {
		case conn.Opened:
			x.opened = true
		case conn.Data:
			x.unread += len(ev.Data)
		case conn.StreamError:
			g.live = slices.Delete(g.live, i, i+1)
		case conn.SendStopped:
			x.uploaded = true
		}
	}
	tc.events = nil
	for _, v := range tc.sent {
		switch f := v.(type) {
		case frame.Ping:
			if !f.Ack {
				g.pings = append(g.pings, f.Data)
			}
		case frame.Settings:
			// The preface is counted already.
			if !f.Ack && f.At(0).ID != frame.SettingEnablePush {
				g.acksDue++
			}
		}
	}
	g.live = slices.DeleteFunc(g.live, func(x *exchange) bool { return x.done && x.uploaded && x.unread == 0 })
}

func (g *traffic) pick(want func(*exchange) bool) *exchange {
	var list []*exchange
	for _, x := range g.live {
		if want(x) {
			list = append(list, x)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[g.rand.IntN(len(list))]
}

func (g *traffic) application() {
	tc := g.tc
	x := g.pick(func(*exchange) bool { return true })
	switch k := g.rand.IntN(10); {
	case k < 2 || x == nil:
		if len(g.live) < 12 {
			end := g.rand.IntN(2) == 0
			id, err := tc.tryOpen(get("/"), end)
			if err != nil {
				return
			}
			g.live = append(g.live, &exchange{id: id, uploaded: end})
		}
	case k < 6 && x.unread > 0:
		n := 1 + g.rand.IntN(x.unread)
		x.unread -= n
		tc.consume(x.id, n)
	case k == 6 && !x.uploaded && x.opened:
		if n := g.rand.IntN(40000); tc.send(x.id, n) == n && g.rand.IntN(2) == 0 {
			x.uploaded = true
			tc.endStream(x.id)
		}
	case k == 7 && !x.uploaded:
		x.uploaded = true
		if err := tc.sendTrailers(x.id, field("a", "b")); err != nil {
			tc.fatalf("%v", err)
		}
	case k == 8 && g.rand.IntN(4) == 0:
		g.live = slices.DeleteFunc(g.live, func(y *exchange) bool { return y == x })
		tc.reset(x.id, frame.Cancel)
	case k == 9:
		n := g.rand.IntN(1000)
		tc.step(func(s *side) {
			s.c.ReaderWaiting(tc.now, x.id, n)
			if n%2 == 0 {
				s.c.ReaderAway(tc.now, x.id)
			}
		})
	}
}

func (g *traffic) server() {
	tc := g.tc
	x := g.pick(func(x *exchange) bool { return x.opened && !x.done })
	switch k := g.rand.IntN(14); {
	case k == 0 && g.acksDue > 0:
		g.acksDue--
		tc.write(frame.Settings{Ack: true})
	case k == 1 && len(g.pings) > 0:
		tc.write(frame.Ping{Ack: true, Data: g.pings[0]})
		g.pings = g.pings[1:]
	case k == 2:
		tc.write(frame.Ping{Data: [8]byte{byte(g.rand.IntN(256))}})
	case k == 3:
		tc.write(frame.MakeSettings(setting(frame.SettingInitialWindowSize, uint32(g.rand.IntN(100000))),
			setting(frame.SettingMaxFrameSize, uint32(16384+g.rand.IntN(20000))),
			setting(frame.SettingMaxConcurrentStreams, uint32(1+g.rand.IntN(8)))))
	case k == 4:
		tc.write(frame.WindowUpdate{Increment: uint32(1 + g.rand.IntN(50000))})
	case k == 5:
		tc.advance(time.Duration(g.rand.IntN(2000)) * time.Millisecond)
		for _, p := range g.pings {
			tc.write(frame.Ping{Ack: true, Data: p})
		}
		g.pings = nil
		g.watch()
		for _, p := range g.pings {
			tc.write(frame.Ping{Ack: true, Data: p})
		}
		g.pings = nil
	case x == nil:
	case !x.answered && k == 6:
		tc.write(head(x.id, "103"))
	case !x.answered:
		x.answered = true
		x.done = g.rand.IntN(4) == 0
		h := head(x.id, "200", field("n", "v"))
		h.EndStream, h.Continuations = x.done, g.rand.IntN(3)
		tc.write(h)
	case k == 6:
		tc.write(frame.WindowUpdate{Stream: x.id, Increment: uint32(1 + g.rand.IntN(50000))})
	case k == 7 && g.rand.IntN(4) == 0:
		tc.write(frame.RSTStream{Stream: x.id, Code: frame.ErrCode(g.rand.IntN(14))})
	case k == 8:
		x.done = true
		tc.write(trailers(x.id, field("t", "v")))
	default:
		g.data(x)
	}
}

// data sends DATA within both windows, padded at times.
func (g *traffic) data(x *exchange) {
	tc := g.tc
	room := int(min(tc.peer.RecvWindow(0), tc.peer.RecvWindow(x.id), 16384))
	if room <= 0 {
		return
	}
	n := g.rand.IntN(room + 1)
	f := data(x.id, n)
	if n > 300 && g.rand.IntN(4) == 0 {
		f.Padded, f.PadLength = true, uint8(g.rand.IntN(256))
		f.Data = f.Data[:n-1-int(f.PadLength)]
	}
	f.EndStream = g.rand.IntN(6) == 0
	x.done = f.EndStream
	tc.write(f)
}

// settle lets everybody finish, and fails unless all is well in the end: every stream over, every octet given back.
func (g *traffic) settle() {
	tc := g.tc
	tc.write(frame.MakeSettings(setting(frame.SettingMaxConcurrentStreams, 100), setting(frame.SettingInitialWindowSize, 1<<20)),
		frame.WindowUpdate{Increment: 1 << 24})
	for ; g.acksDue > 0; g.acksDue-- {
		tc.write(frame.Settings{Ack: true})
	}
	for round := 0; len(g.live) > 0; round++ {
		if round > 50 {
			tc.fatalf("%d streams do not end: %+v", len(g.live), *g.live[0])
		}
		g.watch()
		for _, x := range slices.Clone(g.live) {
			if !x.uploaded {
				x.uploaded = true
				tc.endStream(x.id)
			}
			if x.unread > 0 {
				tc.consume(x.id, x.unread)
				x.unread = 0
			}
			if x.opened && !x.done {
				if !x.answered {
					tc.write(head(x.id, "200"))
				}
				x.answered, x.done = true, true
				tc.write(lastData(x.id, 0))
			}
		}
		g.watch()
	}
	tc.wantStreams("all streams are over", 0, 0)
}

// A server and an application that keep the rules, at random: nobody is ever told of an error that was not made, and
// in the end nothing is left and no credit is lost.
func TestRandomTraffic(t *testing.T) {
	rows.Cover(t, "9113-4.1-5", "9113-4.1-4", "9113-5.1-3", "9113-5.1-6", "9113-5.1.1-1", "9113-5.1.1-2",
		"9113-5.1.1-4", "9113-5.1.2-1", "9113-6.1-3", "9113-6.5-4", "9113-6.5-6", "9113-6.7-1", "9113-6.9-7",
		"9113-6.9.1-1", "9113-6.9.1-5", "9113-8.1-1", "9113-8.1-2", "9113-8.4.1-2", "9113-6.2-7", "9113-6.1-6",
		"9113-5.2.1-1", "9113-4.3-1")
	for seed := range uint64(60) {
		tc := newTestConn(t, withRecvWindow(30000, 70000))
		g := newTraffic(tc, seed)
		for range 100 {
			g.step()
			tc.sent = nil
		}
		g.settle()
		if err := tc.c.Err(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		tc.wantConnWindow("all credit is back", 70000)
		tc.sent = nil
		tc.shutdown()
		if !tc.c.Done() {
			t.Fatalf("seed %d: not done after Shutdown without streams", seed)
		}
	}
}

// A server that breaks rules at random, in between: the connection may end, and then it stays ended; until then its own
// laws hold and what it sends is right.
func TestRandomFaults(t *testing.T) {
	ends := map[frame.ErrCode]int{}
	for seed := range uint64(400) {
		tc := newTestConn(t, withRecvWindow(30000, 70000))
		tc.exact = false
		g := newTraffic(tc, seed)
		for step := 0; step < 60 && tc.c.Err() == nil; step++ {
			g.step()
			tc.sent = nil
			if g.rand.IntN(4) == 0 {
				tc.write(g.fault())
			}
		}
		if err := tc.c.Err(); err != nil {
			ends[err.Code]++
			tc.forget()
			tc.wantDead()
			continue
		}
		tc.forget()
		tc.fail(errors.New("cut"))
		tc.wantDead()
	}
	t.Logf("connections ended by %v", ends)
	if len(ends) < 4 {
		t.Error("that is not enough to say anything")
	}
}

// fault is a frame that somebody has put together at random.
func (g *traffic) fault() any {
	id := frame.StreamID(g.rand.IntN(30))
	if x := g.pick(func(*exchange) bool { return true }); x != nil && g.rand.IntN(2) == 0 {
		id = x.id
	}
	payload := make([]byte, []int{0, 1, 4, 5, 6, 8, 20}[g.rand.IntN(7)])
	for i := range payload {
		payload[i] = byte(g.rand.IntN(256) >> g.rand.IntN(9))
	}
	switch g.rand.IntN(8) {
	case 0:
		return head(id, []string{"200", "103", "abc"}[g.rand.IntN(3)])
	case 1:
		return data(id, g.rand.IntN(100))
	case 2:
		return frame.WindowUpdate{Stream: id, Increment: uint32(g.rand.IntN(2)) * (1<<31 - 1)}
	case 3:
		return peer.Headers{Stream: id, Fields: get("/"), EndStream: true, Padded: true, PadLength: 3}
	case 4:
		return frame.RSTStream{Stream: id}
	case 5:
		return frame.GoAway{LastStream: id}
	default:
		types := []frame.Type{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 77}
		return frame.Unknown{Header: frame.Header{Type: types[g.rand.IntN(len(types))], Flags: frame.Flags(g.rand.IntN(256)),
			Stream: id * frame.StreamID(g.rand.IntN(2))}, Payload: payload}
	}
}
