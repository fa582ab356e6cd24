package peer

import (
	"bytes"
	"errors"
	"fmt"

	"example.com/h2flow/frame"
)

// A Shadow keeps the books of one connection from nothing but the octets of both directions, and finds what the client
// does wrong. Create it with NewShadow.
//
// Model: every frame of the server gets a number. When the client acknowledges a SETTINGS or a PING, it has processed
// all frames up to that one; seen is the number. A window or a limit of the client changes when the rule says so: what
// the server grants by WINDOW_UPDATE counts at once, what it sets counts from the client's acknowledgement.
type Shadow struct {
	// Prompt says that the client has processed everything from the server before it wrote the octets that follow.
	// That is so when a test drives the client's core without a network, and makes more rules apply.
	Prompt bool

	// Lenient says that what the RFC only advises against is no violation: a second RST_STREAM for a stream, and frames
	// between a GOAWAY with an error and the end of the connection.
	Lenient bool

	dec fieldDecoder

	clientIn, serverIn []byte // beginnings of frames
	preface            bool   // the client's preface is complete
	greeted            bool   // the client's first SETTINGS arrived
	over               bool   // the client sent GOAWAY with an error
	block              *openBlock

	streams map[frame.StreamID]*shadowStream
	lastID  frame.StreamID

	sent, seen int // numbers of frames of the server

	serverBlockEnds bool // the server's open field block ends its stream

	limits          limits // the server's settings, as the client acknowledged them
	unackedByClient []pendingSettings
	unackedByServer [][]frame.Setting
	pings           []pendingPing // of the server, not answered

	send, recv        int64 // connection windows of the client, in octets
	recvInitial       int64 // the client's INITIAL_WINDOW_SIZE, as the server acknowledged it
	goAway            int   // number of the server's last GOAWAY; 0: none
	clientGoAwayLast  frame.StreamID
	clientGoAwayKnown bool

	violations []error
}

// limits are settings of the server that bind the client.
type limits struct {
	initialWindow int64 // octets
	maxFrame      uint32
	maxStreams    uint32
}

type pendingSettings struct {
	number   int
	settings []frame.Setting
}

type pendingPing struct {
	number int
	data   [8]byte
}

// An openBlock is a field block of the client whose END_HEADERS has not come.
type openBlock struct {
	headers  Headers
	fragment []byte
}

// maxViolations is where a Shadow stops to note what is wrong: the first few tell the story.
const maxViolations = 20

// NewShadow returns a Shadow at the start of a connection.
func NewShadow(c Codec) *Shadow {
	return &Shadow{
		dec:         newDecoder(c),
		streams:     map[frame.StreamID]*shadowStream{},
		limits:      limits{initialWindow: 65535, maxFrame: frame.MinMaxFrameSize, maxStreams: 1<<32 - 1},
		send:        65535,
		recv:        65535,
		recvInitial: 65535,
	}
}

// Check returns everything that the client did wrong so far, or nil.
func (s *Shadow) Check() error { return errors.Join(s.violations...) }

// Settled returns an error if the client owes something: an acknowledgement of SETTINGS or PING, or the rest of a
// frame or of a field block. It makes sense when the client says that it has nothing to send. After a GOAWAY with an
// error nothing is owed.
func (s *Shadow) Settled() error {
	switch {
	case s.over:
	case len(s.unackedByClient) > 0:
		return fmt.Errorf("%d SETTINGS not acknowledged (9113-6.5.3-4)", len(s.unackedByClient))
	case len(s.pings) > 0:
		return fmt.Errorf("%d PING not answered (9113-6.7-2)", len(s.pings))
	case s.block != nil:
		return fmt.Errorf("the field block on stream %d has no end", s.block.headers.Stream)
	case len(s.clientIn) > 0:
		return fmt.Errorf("%d octets of a frame without the rest", len(s.clientIn))
	}
	return nil
}

// SendWindow is how many octets of DATA the client may send on the stream, or with 0 on the connection, as the server
// sees it. RecvWindow is the same for DATA from the server; negative after the server sent too much.
func (s *Shadow) SendWindow(id frame.StreamID) int64 {
	if st := s.streams[id]; st != nil {
		return st.send
	}
	return s.send
}

// RecvWindow is how many octets of DATA the server may send; see SendWindow.
func (s *Shadow) RecvWindow(id frame.StreamID) int64 {
	if st := s.streams[id]; st != nil {
		return st.recv
	}
	return s.recv
}

// OpenStreams is how many of the client's streams are open or half-closed, as the server sees it.
func (s *Shadow) OpenStreams() int {
	n := 0
	for _, st := range s.streams {
		if !st.closed() && !st.promised {
			n++
		}
	}
	return n
}

// FromClient takes octets that the client sent, in any chunks, and returns what they say: Headers, and frames of
// package frame by value. The octets are copied.
func (s *Shadow) FromClient(octets []byte) (values []value) {
	s.clientIn = append(s.clientIn, octets...)
	if !s.preface && !s.takePreface() {
		return nil
	}
	for {
		h, payload, rest, ok := frame.Cut(s.clientIn)
		if !ok {
			s.clientIn = bytes.Clone(s.clientIn)
			return values
		}
		// The reserved bit is sent as 0. RFC 9113, Section 4.1 (9113-4.1-5).
		if s.clientIn[5]&0x80 != 0 {
			s.violate("%v: the reserved bit of the header is set (9113-4.1-5)", h)
		}
		s.clientIn = rest
		if v := s.clientFrame(h, bytes.Clone(payload)); v != nil {
			values = append(values, v)
		}
	}
}

// A value is something that the client said.
type value = fmt.Stringer

// takePreface takes the client's connection preface. RFC 9113, Section 3.4.
func (s *Shadow) takePreface() bool {
	n := min(len(s.clientIn), len(frame.ClientPreface))
	if string(s.clientIn[:n]) != frame.ClientPreface[:n] {
		s.violate("the first octets are %q, not the preface", s.clientIn[:n])
		s.clientIn = nil
		return false
	}
	if n < len(frame.ClientPreface) {
		return false
	}
	s.preface, s.clientIn = true, s.clientIn[n:]
	return true
}

// violate notes something that the client did wrong.
func (s *Shadow) violate(format string, args ...any) {
	if len(s.violations) < maxViolations {
		s.violations = append(s.violations, fmt.Errorf(format, args...))
	}
}

// processed reports whether the client is known to have processed the server's frame of that number; 0 is none.
func (s *Shadow) processed(number int) bool {
	return number != 0 && (s.Prompt || number <= s.seen)
}
