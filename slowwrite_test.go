package h2flow_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/pipe"
)

// TestASlowPathIsNotADeadOne uploads so slowly that one write takes longer than WriteTimeout, while octets leave all the
// time: that ends nothing. A transport that takes nothing for as long does.
//
// Contract: L3.
func TestASlowPathIsNotADeadOne(t *testing.T) {
	certificate := testCertificate(t)
	for _, useTLS := range []bool{false, true} {
		for _, dead := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				var nc, server net.Conn
				client, far := pipe.New(pipe.Link{Rate: 8 * 40000, Queue: 4096}) // 40,000 octets a second
				nc, server = client, far
				if useTLS {
					nc = tls.Client(client, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
					server = tls.Server(far, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"}})
				}
				defer far.Close()
				got := make(chan int, 1)
				go func() { got <- bodyTaken(server, far, dead) }()
				c, err := h2flow.NewClientConn(nc, &h2flow.Config{WriteTimeout: time.Second})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				s, err := c.OpenStream(context.Background(), &h2flow.Request{
					Method: "POST", Scheme: "http", Authority: "a", Path: "/"})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.WriteEnd(make([]byte, 60000)); err != nil {
					t.Fatal(err)
				}
				_, err = s.ReadHead()
				if dead && !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("TLS %v: a dead transport: %v", useTLS, err)
				}
				far.ResumeReads()
				if octets := <-got; !dead && (err != nil || octets != 60000) {
					t.Errorf("TLS %v: %d octets arrived, %v", useTLS, octets, err)
				}
			})
		}
	}
}

// testCertificate is the one of package httptest.
func testCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	return s.TLS.Certificates[0]
}

// bodyTaken takes a request with its body, counts the octets of that, and answers; or, dead, stops in the middle.
func bodyTaken(nc net.Conn, far *pipe.Conn, dead bool) (octets int) {
	nc.Write(frame.MakeSettings().AppendTo(nil))
	preface := make([]byte, len(frame.ClientPreface))
	if _, err := nc.Read(preface); err != nil {
		return 0
	}
	r := frame.NewReader(nc, frame.MaxMaxFrameSize)
	for {
		h, payload, err := r.Next()
		if err != nil {
			return octets
		}
		if h.Type != frame.TypeData {
			continue
		}
		octets += len(payload)
		if dead {
			far.PauseReads()
		}
		if h.Flags.Has(frame.FlagEndStream) {
			nc.Write(frame.Headers{Stream: 1, EndHeaders: true, EndStream: true, Fragment: []byte{0x88}}.AppendTo(nil))
			return octets
		}
	}
}
