package flowtest

import (
	"math"
	"time"

	"example.com/h2flow/flow"
)

// A Path is what lies between the client and the server.
type Path struct {
	// RTT is the round-trip time of an idle path.
	RTT time.Duration
	// Rate is what the path carries towards the client, in octets a second. Zero means no limit.
	Rate int64
	// SlowStart makes the server's transport begin with 10 segments of 1,460 octets and double them every round trip,
	// as a new TCP connection does. Without it the transport never waits.
	SlowStart bool
}

// A server obeys both windows and sends as fast as they and the path allow, taking its streams in turn.
type server struct {
	*clock
	path    Path
	deliver func(dataFrame)

	// frame is the payload it fills DATA frames to; whole makes it wait for window rather than send less than that,
	// unless less is left of the body. pad octets of padding, the length octet included, are added to each frame.
	frame int64
	whole bool
	pad   int64

	conn    int64 // what it may send
	initial int64
	streams []*serverStream
	next    int

	linkFree time.Time
	pumping  bool
	cwnd     int64
	inFlight int64
}

// serverStream is one response being sent.
type serverStream struct {
	id     uint32
	window int64 // less the initial window
	left   int64 // of the body
}

// dataFrame is one DATA frame.
type dataFrame struct {
	stream uint32
	n, pad int64
	end    bool
}

// endless is the length of a body that never ends.
const endless = math.MaxInt64

func newServer(c *clock, path Path, w flow.Windows, deliver func(dataFrame)) *server {
	s := &server{
		clock: c, path: path, deliver: deliver, frame: 16384,
		conn: max(w.Conn, flow.DefaultWindow), initial: w.Stream, linkFree: c.now, cwnd: math.MaxInt64,
	}
	if path.SlowStart {
		s.cwnd = 10 * 1460
	}
	return s
}

// request starts a response of size octets.
func (s *server) request(id uint32, size int64) {
	s.streams = append(s.streams, &serverStream{id: id, left: size})
	s.pump()
}

// reset stops a response.
func (s *server) reset(id uint32) {
	for i, st := range s.streams {
		if st.id == id {
			s.streams = append(s.streams[:i], s.streams[i+1:]...)
			return
		}
	}
}

// update is a WINDOW_UPDATE that arrived; id is 0 for the connection.
func (s *server) update(id uint32, n int64) {
	if id == 0 {
		s.conn += n
	}
	for _, st := range s.streams {
		if st.id == id {
			st.window += n
		}
	}
	s.pump()
}

// setInitial is a SETTINGS_INITIAL_WINDOW_SIZE that arrived.
func (s *server) setInitial(n int64) {
	s.initial = n
	s.pump()
}

// pump sends what it can, and goes on when the link is free again.
func (s *server) pump() {
	for !s.pumping {
		if s.now.Before(s.linkFree) {
			s.pumping = true
			s.at(s.linkFree, func() { s.pumping = false; s.pump() })
			return
		}
		st, n := s.pick()
		if st == nil {
			return
		}
		f := dataFrame{stream: st.id, n: n, pad: s.pad, end: st.left == n}
		st.left -= n
		st.window -= f.n + f.pad
		s.conn -= f.n + f.pad
		if f.end {
			s.reset(st.id)
		}
		s.send(f.n+f.pad, func() { s.deliver(f) })
	}
}

// pick chooses the stream whose turn it is and how much of it to send.
func (s *server) pick() (*serverStream, int64) {
	if s.inFlight >= s.cwnd {
		return nil, 0
	}
	for i := range s.streams {
		st := s.streams[(s.next+i)%len(s.streams)]
		want := min(s.frame, st.left)
		n := min(want, s.conn-s.pad, s.initial+st.window-s.pad)
		if n == want || n > 0 && !s.whole {
			s.next += i + 1
			return st, n
		}
	}
	return nil, 0
}

// send puts n octets on the path; arrived runs when the last of them is there.
func (s *server) send(n int64, arrived func()) {
	if s.linkFree.Before(s.now) {
		s.linkFree = s.now
	}
	if s.path.Rate > 0 {
		s.linkFree = s.linkFree.Add(time.Duration(n * int64(time.Second) / s.path.Rate))
	}
	s.at(s.linkFree.Add(s.path.RTT/2), arrived)
	if s.path.SlowStart {
		s.inFlight += n
		s.at(s.linkFree.Add(s.path.RTT), func() {
			s.inFlight -= n
			s.cwnd += n
			s.pump()
		})
	}
}
