package h2flow_test

import (
	"fmt"
	"io"
	"net"
	"strconv"
	"testing"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/strategy"
)

// TestAPauseDelaysNothing: a peer that sends fast, so that the reader has a low-water mark, and then pauses in the midst
// of a frame, is read to the last octet that it sent; its PING is answered; and a request of somebody else is served.
// Every wait is for something that must come, so that a mark that stays is a failure by time-out.
func TestAPauseDelaysNothing(t *testing.T) {
	client, server := tcpPair(t)
	p := pauses{sent: make(chan int, 1), caughtUp: make(chan struct{}), other: make(chan struct{})}
	done := peer.Serve(server, peer.HPACK, func(s *peer.Server) { p.serve(s, server) })
	c, err := h2flow.NewClientConn(client, &h2flow.Config{Flow: strategy.Unlimited{}})
	if err != nil {
		t.Fatal(err)
	}
	get := func() *h2flow.ClientStream {
		s, err := c.OpenStream(t.Context(), &h2flow.Request{Method: "GET", Scheme: "http", Authority: "a", Path: "/", EndStream: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := get()
	go func() {
		<-p.other
		if _, err := get().ReadHead(); err != nil {
			t.Error(err)
		}
		p.other <- struct{}{}
	}()
	s.SetReadDeadline(time.Now().Add(20 * time.Second))
	if err := p.read(s); err != nil {
		t.Error(err)
	}
	c.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// pauses is a body that comes fast, with pauses within frames, until the client says that it has read what was sent.
type pauses struct {
	sent     chan int // octets before the next pause, in all
	caughtUp chan struct{}
	other    chan struct{} // somebody else has to make a request; it is answered
}

const (
	pauseRounds = 6
	pauseFrames = 256 // in each round, of 16,384 octets; the last is cut by the pause
	pauseSize   = pauseRounds * pauseFrames * 16384
)

func (p pauses) serve(s *peer.Server, nc net.Conn) {
	head := func(n int) []frame.Field {
		return []frame.Field{{Name: ":status", Value: "200"}, {Name: "content-length", Value: strconv.Itoa(n)}}
	}
	s.Ignore = peer.IgnoreWindowUpdates
	s.Greet()
	s.WantHeaders("the large request")
	s.Send(peer.Headers{Stream: 1, Fields: head(pauseSize)})
	data := frame.Data{Stream: 1, Data: make([]byte, 16384)}
	for round := range pauseRounds {
		for range pauseFrames - 1 {
			write(s, nc, s.Encode(nil, data))
		}
		cut := 1 + round*1000
		last := s.Encode(nil, data)
		p.sent <- ((round+1)*pauseFrames-1)*16384 + cut
		write(s, nc, last[:frame.HeaderLen+cut])
		<-p.caughtUp
		write(s, nc, last[frame.HeaderLen+cut:])
		switch round {
		case 1:
			s.Send(frame.Ping{Data: [8]byte{7}})
			s.Want("an answer to PING", frame.Ping{Ack: true, Data: [8]byte{7}})
		case 2:
			p.other <- struct{}{}
			s.WantHeaders("the request of somebody else")
			s.Send(peer.Headers{Stream: 3, Fields: head(0), EndStream: true})
			<-p.other
		}
	}
	s.Send(frame.Data{Stream: 1, EndStream: true})
	for {
		if _, ok := s.Read().(frame.GoAway); ok {
			return
		}
	}
}

func (p pauses) read(s *h2flow.ClientStream) error {
	buf := make([]byte, 128<<10)
	for got, pause := 0, 0; ; {
		n, err := s.Read(buf)
		got += n
		if pause == 0 && got < pauseSize {
			select {
			case pause = <-p.sent:
			default:
			}
		}
		if pause > 0 && got == pause {
			p.caughtUp <- struct{}{}
			pause = 0
		}
		switch {
		case err == io.EOF && got == pauseSize:
			return nil
		case err != nil:
			return fmt.Errorf("after %d of %d octets: %w", got, pauseSize, err)
		}
	}
}

// write writes octets that the Peer has not encoded.
func write(s *peer.Server, nc net.Conn, octets []byte) {
	if _, err := nc.Write(octets); err != nil {
		s.Fail("writing: %w", err)
	}
}
