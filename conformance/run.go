package conformance

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
)

// A Client is a client under test, on a connection of which the case plays the server. It is free to send its preface
// before the first request.
type Client interface {
	// Request begins a request for path of some https authority, without waiting for anything. A POST has a body of
	// 100,000 octets; other methods have none. done is called once, from any goroutine, when the request is over: with
	// the status and the length of the body of a complete response, or with an error.
	Request(method, path string, done func(status, bodyLength int, err error))
	// Close gives the connection up; nothing of the client is left afterwards.
	Close()
}

// stepTimeout is how long the client may take for each step.
const stepTimeout = 5 * time.Second

// Run plays the server of c over server, whose other end client is on, and returns what was wrong: nil if nothing was.
// It closes both. The error has the whole transcript.
func Run(server net.Conn, client Client, c Case) error {
	defer client.Close()
	r := &run{client: client}
	return peer.Run(server, peer.HPACK, func(s *peer.Server) {
		r.server = s
		s.Timeout = stepTimeout
		steps := c.steps
		if steps[0].kind == 'u' {
			steps = steps[1:]
			r.wantPreface()
		} else {
			s.Greet()
		}
		for _, step := range steps {
			r.play(step)
		}
	})
}

// A run is a case that is being played.
type run struct {
	server  *peer.Server
	client  Client
	results []*result
}

// A result is what became of a request.
type result struct {
	method, path string
	over         chan struct{}
	status, n    int
	err          error
}

// wantPreface reads the client's SETTINGS and says nothing in return.
func (r *run) wantPreface() {
	if f, ok := r.server.Read().(frame.Settings); !ok || f.Ack {
		r.server.Fail("the client's first frame is not SETTINGS")
	}
}

func (r *run) play(s step) {
	switch s.kind {
	case '=':
		res := &result{method: s.words[0], path: s.words[1], over: make(chan struct{})}
		r.results = append(r.results, res)
		r.client.Request(res.method, res.path, func(status, n int, err error) {
			res.status, res.n, res.err = status, n, err
			close(res.over)
		})
	case '<':
		r.server.Send(s.say)
	case '>':
		r.wantFrame(s)
	case '!':
		r.wantOutcome(s)
	}
}

// wantFrame reads up to the next frame that is not passed over and fails unless it has all the words.
func (r *run) wantFrame(s step) {
	if s.total > 0 {
		r.wantTotal(s)
		return
	}
	for {
		v := r.server.Read()
		got := strings.Fields(v.String())
		if !slices.ContainsFunc(s.words, func(w string) bool { return !slices.Contains(got, w) }) {
			return
		}
		if got[0] == s.words[0] || got[0] != "WINDOW_UPDATE" {
			r.server.Fail("%s\n  got  %v", s.line, v)
		}
	}
}

// wantTotal reads DATA, in frames of any size, until there are as many octets as the step says.
func (r *run) wantTotal(s step) {
	for left := s.total; left > 0; {
		v := r.server.Read()
		d, ok := v.(frame.Data)
		if left -= len(d.Data); ok && left >= 0 && slices.Contains(strings.Fields(v.String()), s.words[1]) {
			continue
		}
		if _, ok := v.(frame.WindowUpdate); !ok {
			r.server.Fail("%s, of which %d are to come\n  got  %v", s.line, left+len(d.Data), v)
		}
	}
}

// wantOutcome waits for what the application, or the transport, has to see.
func (r *run) wantOutcome(s step) {
	if s.words[0] == "closed" {
		ignore := r.server.Ignore
		r.server.Ignore = peer.IgnoreWindowUpdates
		r.server.WantClose(s.line)
		r.server.Ignore = ignore
		return
	}
	i := slices.IndexFunc(r.results, func(res *result) bool {
		return len(s.words) > 2 && res.method == s.words[0] && res.path == s.words[1]
	})
	if i < 0 {
		r.server.Fail("%s: no such request", s.line)
	}
	res := r.results[i]
	select {
	case <-res.over:
	case <-time.After(stepTimeout):
		r.server.Fail("%s: the request is not over", s.line)
	}
	got := []string{"fails"}
	if res.err == nil {
		got = []string{fmt.Sprint(res.status), fmt.Sprintf("len=%d", res.n)}
	}
	for _, w := range s.words[2:] {
		if !slices.Contains(got, w) {
			r.server.Fail("%s\n  got  %v, error %v", s.line, got, res.err)
		}
	}
}
