package conformance

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
)

// A Client is a client under test, on a connection of which the case plays the server. It is free to send its preface,
// and its first request, before it is asked.
type Client interface {
	// Request begins request number i of the case, counted from 0, without waiting for anything. done is called once,
	// from any goroutine, when the request is over: with the status and the length of the body of a complete response,
	// either of which may be Unknown, or with an error. A response that is to be left unread (see Request.Unread) is
	// over when it fails, or when Close is called.
	Request(i int, r Request, done func(status, bodyLength int, err error))
	// Close gives the connection up; nothing of the client is left afterwards.
	Close()
}

// A JointClient is a Client whose requests begin and end as one, such as a command that is given two URLs: they all
// succeed if it does, and if it fails, nobody knows which of them.
type JointClient interface {
	Client
	// Joint says whether that is so.
	Joint() bool
}

// Unknown is a status or a length that a client cannot tell.
const Unknown = -1

// ErrUnknown is the error of a request of which the client cannot tell how it ended. The verdict is then by what is on
// the wire alone.
var ErrUnknown = errors.New("the client does not tell")

// DefaultTimeout is how long the client may take for each step.
const DefaultTimeout = 5 * time.Second

// Run plays the server of c over server, whose other end client is on, and says what it found. It closes both.
// timeout is how long the client may take for each step; 0 means DefaultTimeout.
func Run(server net.Conn, client Client, c Case, timeout time.Duration) (res Result) {
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	r := &run{wire: newWire(server, timeout), client: client, c: c}
	for _, q := range c.requests {
		r.results = append(r.results, &result{request: q, over: make(chan struct{}), id: 0})
	}
	defer client.Close()
	defer r.close()
	defer func() { res = r.conclude(recover()) }()
	r.play()
	return Result{}
}

// A run is a case that is being played.
type run struct {
	*wire
	client   Client
	c        Case
	results  []*result // of the requests, in the order of the script
	asked    int       // how many were asked for
	arrived  []frame.StreamID
	reset    []frame.StreamID
	heads    []peer.Headers // of requests that the script has not come to
	maxFrame uint32
	passed   int // octets of DATA that were passed over since the last barrier

	verdict Verdict // so far: Pass, Allowed or GaveUp
	reason  string
	may     []alternative // what the client may say from here on
	ended   bool          // the client ended the stream or the connection in another way than the script goes on with
	gone    bool          // the connection is over for an error of which the client told
}

// A result is what became of a request.
type result struct {
	request   Request
	id        frame.StreamID // 0: it has not arrived
	over      chan struct{}
	status, n int
	err       error
}

// conclude makes the result of what play left, or panicked with.
func (r *run) conclude(panicked any) Result {
	res := Result{Verdict: r.verdict, Reason: r.reason, Transcript: r.Transcript()}
	switch s := panicked.(type) {
	case nil:
	case stop:
		res.Verdict, res.Reason = s.verdict, s.reason
	default:
		panic(panicked)
	}
	if err := r.Check(); err != nil && res.Verdict != Skipped {
		res.Reason = strings.TrimPrefix(res.Reason+"; "+strings.ReplaceAll(err.Error(), "\n", "; "), "; ")
		res.Verdict = Fail
	}
	return res
}

// lower notes that the client did less than the rule says.
func (r *run) lower(v Verdict, format string, args ...any) {
	if v > r.verdict {
		r.verdict, r.reason = v, fmt.Sprintf(format, args...)
	}
}

func (r *run) play() {
	r.greet()
	j, ok := r.client.(JointClient)
	joint := ok && j.Joint() && len(r.c.requests) > 1
	for _, s := range r.c.steps {
		switch {
		case s.kind != '!' && r.ended, joint && s.isRequest():
		default:
			r.step(s)
		}
	}
	if joint {
		r.wantJoint()
	}
}

// wantJoint judges the end of all requests at once: if one is to fail, that one.
func (r *run) wantJoint() {
	i := slices.IndexFunc(r.c.steps, func(s step) bool { return s.isRequest() && s.alts[0][0] == "fails" })
	if i >= 0 {
		r.wantOutcome(r.c.steps[i])
		return
	}
	for _, s := range r.c.steps {
		if s.isRequest() {
			r.wantOutcome(s)
		}
	}
}

// greet does the server's part of the start, or none of it if the script does it.
func (r *run) greet() {
	deadline := r.deadline()
	defer deadline.Stop()
	v, err := r.first(deadline.C)
	if err != nil {
		failf("at the start: %v", err)
	}
	settings, ok := v.(frame.Settings)
	if !ok || settings.Ack {
		failf("the client's first frame is not SETTINGS: %v", v)
	}
	r.maxFrame = frame.MinMaxFrameSize
	push, table := true, uint32(4096)
	for s := range settings.All() {
		switch s.ID {
		case frame.SettingMaxFrameSize:
			r.maxFrame = s.Value
		case frame.SettingEnablePush:
			push = s.Value != 0
		case frame.SettingHeaderTableSize:
			table = s.Value
		}
	}
	switch {
	case push && r.c.needs == needsNoPush:
		panic(stop{Skipped, "the client accepts server push"})
	case table != 4096 && r.c.needs == needsTable:
		panic(stop{Skipped, "the client sets another HEADER_TABLE_SIZE"})
	}
	if r.c.ungreeted {
		return
	}
	r.send(frame.MakeSettings(r.c.greeting...), frame.Settings{Ack: true})
	r.want(step{line: "> SETTINGS ACK", alts: []alternative{{"SETTINGS", "ACK"}}, equal: []bool{true}})
}

func (r *run) deadline() *time.Timer { return time.NewTimer(r.timeout) }

func (r *run) step(s step) {
	switch s.kind {
	case '=':
		res := r.results[r.asked]
		r.client.Request(r.asked, res.request, func(status, n int, err error) {
			res.status, res.n, res.err = status, n, err
			close(res.over)
		})
		r.asked++
	case '<':
		r.say(s.say)
	case '>':
		switch {
		case s.may:
			r.may = append(r.may, s.alts...)
		case s.total != 0:
			r.wantTotal(s)
		default:
			r.want(s)
		}
	case 'b':
		r.barrier(s)
	case '!':
		r.wantOutcome(s)
	}
}

// say says what the script says.
func (r *run) say(s sayer) {
	if s.closes {
		r.finish()
		return
	}
	debt := func(id frame.StreamID) int64 { return max(0, -r.SendWindow(id)) }
	item, err := s.make(world{stream: r.actual, maxFrame: r.maxFrame, window: r.RecvWindow, debt: debt})
	if err != nil {
		failf("%s: %v", s.text, err)
	}
	if u, ok := item.(frame.WindowUpdate); ok && u.Increment == 0 && strings.Contains(s.text, "=debt") {
		return // there is none
	}
	list, ok := item.(frames)
	f, isFrame := item.(frame.Frame)
	switch {
	case ok:
		for _, f := range list {
			r.send(f)
		}
	case isFrame && !s.plain():
		r.send(peer.Labelled{Text: s.text, Octets: s.octets(f)})
	default:
		octets := r.Encode(nil, item)
		octets[4] |= s.flags
		if s.bit {
			octets[5] |= 0x80
		}
		for range s.count - 1 {
			if p, ok := item.(peer.PushPromise); ok {
				p.Promised += 2
				item = p
			}
			octets = r.Encode(octets, item)
		}
		r.sendOctets(octets)
	}
}

// actual is the client's stream that stands for id in the script: the client's streams in order of arrival are 1, 3, 5
// there. Others are as far above the client's last one as they are in the script.
func (r *run) actual(id frame.StreamID) frame.StreamID {
	n := len(r.arrived)
	switch i := int(id-1) / 2; {
	case id%2 == 0 || n == 0 || id > frame.MaxStreamID-1024:
		return id
	case i < n:
		return r.arrived[i]
	default:
		return r.arrived[n-1] + frame.StreamID(2*(i-n+1))
	}
}

// barrier fails if the client says anything before it answers. The second round catches what a client of several
// threads had not queued when it answered the first.
func (r *run) barrier(s step) {
	r.passed = 0
	for i := range byte(2) {
		ping := frame.Ping{Data: [8]byte{'b', 'a', 'r', 'r', 'i', 'e', 'r', i}}
		r.send(ping)
		ping.Ack = true
		s.alts, s.equal = []alternative{strings.Fields(ping.String())}, []bool{true}
		r.want(s)
		if r.ended {
			return
		}
	}
}

// wantOutcome waits for what the application, or the transport, has to see.
func (r *run) wantOutcome(s step) {
	if s.alts[0][0] == "closed" {
		if !r.ended || r.gone {
			r.wantClose(s)
		}
		return
	}
	fails := slices.ContainsFunc(s.alts, func(a alternative) bool { return a[0] == "fails" })
	if r.ended && !fails {
		return
	}
	i := slices.Index(r.c.requests, s.request)
	if i < 0 {
		failf("%s: no such request", s.line)
	}
	res := r.byArrival(i)
	if !r.await(res.over) {
		failf("%s: the request is not over", s.line)
	}
	alts := s.alts
	if r.ended {
		alts = []alternative{{"fails"}}
	}
	if !slices.ContainsFunc(alts, res.is) {
		got := fmt.Sprintf("status %d, %d octets", res.status, res.n)
		if res.err != nil {
			got = "fails: " + res.err.Error()
		} else if res.status == Unknown {
			got = "success"
		}
		failf("%s\n  got  %s", s.line, got)
	}
}

// byArrival is the result of the request that arrived as number i, or of number i of the script if none has.
func (r *run) byArrival(i int) *result {
	if i < len(r.arrived) {
		for _, res := range r.results {
			if res.id == r.arrived[i] {
				return res
			}
		}
	}
	return r.results[i]
}

// is says whether the request ended as a says.
func (res *result) is(a alternative) bool {
	if errors.Is(res.err, ErrUnknown) {
		return true
	}
	for _, w := range a {
		text, isLength := strings.CutPrefix(w, "len=")
		switch {
		case w == "fails":
			if res.err == nil {
				return false
			}
		case res.err != nil:
			return false
		case isLength:
			if res.n != Unknown && text != fmt.Sprint(res.n) {
				return false
			}
		case res.status != Unknown && w != fmt.Sprint(res.status):
			return false
		}
	}
	return true
}

// wantClose fails unless the client closes the connection, or resets it.
func (r *run) wantClose(s step) {
	deadline := r.deadline()
	defer deadline.Stop()
	for {
		if _, err := r.next(deadline.C); errors.Is(err, errTimeout) {
			failf("%s: the connection stays open", s.line)
		} else if err != nil {
			return
		}
	}
}
