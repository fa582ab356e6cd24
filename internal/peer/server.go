package peer

import (
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"time"

	"example.com/h2flow/frame"
)

// DefaultTimeout is how long each step of a script may take.
const DefaultTimeout = 10 * time.Second

// A Server runs a script over a net.Conn. Its methods belong to the script's goroutine: a step that fails, or takes
// longer than Timeout, ends the script, and Serve reports why with the transcript.
type Server struct {
	*Peer

	// Timeout is how long each step may take. Zero means DefaultTimeout.
	Timeout time.Duration

	// Ignore says which frames of the client Read passes over. Such frames are checked all the same.
	Ignore func(v fmt.Stringer) bool

	// NoPong leaves the client's PINGs to the script. Otherwise Read answers and passes over them.
	NoPong bool

	nc  net.Conn
	buf []byte
}

// IgnoreWindowUpdates is an Ignore function for scripts that are not about flow control.
func IgnoreWindowUpdates(v fmt.Stringer) bool {
	_, ok := v.(frame.WindowUpdate)
	return ok
}

// Serve runs script over nc in a goroutine of its own and then closes nc. The channel delivers one error, or nil: a
// step that failed, or else what the client did wrong up to then.
func Serve(nc net.Conn, c Codec, script func(s *Server)) <-chan error {
	done := make(chan error, 1)
	go func() {
		defer close(done) // for a script that ends its goroutine, as t.FailNow does
		done <- Run(nc, c, script)
	}()
	return done
}

// Run is Serve in the calling goroutine.
func Run(nc net.Conn, c Codec, script func(s *Server)) (err error) {
	start := time.Now()
	s := &Server{Peer: New(c), nc: nc, buf: make([]byte, 64<<10)}
	s.Elapsed = func() time.Duration { return time.Since(start) }
	defer nc.Close()
	defer func() {
		switch r := recover().(type) {
		case nil:
			err = s.Check()
		case failedStep:
			err = errors.Join(r.err, s.Check())
		default:
			panic(r)
		}
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, s.Transcript())
		}
	}()
	script(s)
	return nil
}

// A failedStep is what a step panics with to leave the script.
type failedStep struct{ err error }

// Fail ends the script with a reason.
func (s *Server) Fail(format string, args ...any) { panic(failedStep{fmt.Errorf(format, args...)}) }

// Greet does the server's part of the start: it reads the client's SETTINGS, sends settings and an acknowledgement,
// and reads the client's acknowledgement. It returns the client's settings. Requests that the client sent before its
// acknowledgement are kept for Read.
func (s *Server) Greet(settings ...frame.Setting) frame.Settings {
	first, ok := s.Read().(frame.Settings)
	if !ok {
		s.Fail("the client's first frame is not SETTINGS")
	}
	s.Send(frame.MakeSettings(settings...), frame.Settings{Ack: true})
	var early []fmt.Stringer
	for {
		v := s.Read()
		if ack, ok := v.(frame.Settings); ok && ack.Ack {
			s.values = append(early, s.values...)
			return first
		}
		early = append(early, v)
	}
}

// Send encodes items, see Peer.Encode, and writes them in one piece.
func (s *Server) Send(items ...any) {
	if err := s.nc.SetWriteDeadline(s.deadline()); err != nil {
		s.Fail("%w", err)
	}
	octets := s.Encode(nil, items...)
	if _, err := s.nc.Write(octets); err != nil {
		s.Fail("writing %d octets: %w", len(octets), err)
	}
}

// Read returns the next thing that the client says, but for PINGs that it answers and what Ignore names.
func (s *Server) Read() fmt.Stringer {
	for {
		v, err := s.next()
		if err != nil {
			s.Fail("reading from the client: %w", err)
		}
		if !s.passOver(v) {
			return v
		}
	}
}

// Want reads the next thing that the client says and fails unless it equals want. The sentence says what is promised.
func (s *Server) Want(sentence string, want fmt.Stringer) {
	if got := s.Read(); !reflect.DeepEqual(want, got) {
		s.Fail("%s:\n  want %v\n  got  %v", sentence, want, got)
	}
}

// WantHeaders reads a field section and returns it; anything else fails. The sentence says what is promised.
func (s *Server) WantHeaders(sentence string) Headers {
	got := s.Read()
	h, ok := got.(Headers)
	if !ok {
		s.Fail("%s:\n  want a field section\n  got  %v", sentence, got)
	}
	return h
}

// WantClose fails unless the client closes the connection next, or resets it.
func (s *Server) WantClose(sentence string) {
	for {
		v, err := s.next()
		switch {
		case isTimeout(err):
			s.Fail("%s: the connection stays open", sentence)
		case err != nil:
			return
		case !s.passOver(v):
			s.Fail("%s:\n  want the connection closed\n  got  %v", sentence, v)
		}
	}
}

// Body reads DATA of the stream up to END_STREAM, gives every octet back on both levels, and returns the octets and
// the trailers, if any. Frames for other streams fail.
func (s *Server) Body(stream frame.StreamID) (body []byte, trailers []frame.Field) {
	for {
		switch v := s.Read().(type) {
		case frame.Data:
			if v.Stream != stream {
				s.Fail("%v within the body on stream %d", v, stream)
			}
			body = append(body, v.Data...)
			if v.EndStream {
				return body, nil
			}
			if n := v.FrameHeader().Length; n > 0 {
				s.Send(frame.WindowUpdate{Increment: n}, frame.WindowUpdate{Stream: stream, Increment: n})
			}
		case Headers:
			if v.Stream != stream {
				s.Fail("%v within the body on stream %d", v, stream)
			}
			return body, v.Fields
		default:
			s.Fail("%v within the body on stream %d", v, stream)
		}
	}
}

// Conn is the connection, for what no step does: closing one half, waiting.
func (s *Server) Conn() net.Conn { return s.nc }

// next returns the next thing that the client says, from what was decoded or from the connection.
func (s *Server) next() (fmt.Stringer, error) {
	deadline := s.deadline()
	for {
		if v, ok := s.Next(); ok {
			return v, nil
		}
		if err := s.nc.SetReadDeadline(deadline); err != nil {
			return nil, err
		}
		n, err := s.nc.Read(s.buf)
		s.Feed(s.buf[:n])
		if err != nil && len(s.values) == 0 {
			if err == io.EOF && len(s.clientIn) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
}

// passOver answers a PING of the client and reports whether the script is to see v.
func (s *Server) passOver(v fmt.Stringer) bool {
	if p, ok := v.(frame.Ping); ok && !p.Ack && !s.NoPong {
		s.Send(frame.Ping{Ack: true, Data: p.Data})
		return true
	}
	return s.Ignore != nil && s.Ignore(v)
}

func (s *Server) deadline() time.Time {
	d := s.Timeout
	if d == 0 {
		d = DefaultTimeout
	}
	return time.Now().Add(d)
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}
