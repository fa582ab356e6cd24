//go:build !race

package h2flow_test

import (
	"context"
	"io"
	"net"
	"testing"

	"example.com/h2flow"
	"example.com/h2flow/internal/httpbench"
)

// maxWarmGet is what a GET on a connection that is open may allocate in all.
const maxWarmGet = 4

// The request is used again, which the API allows once its stream is over.
//
// Contract: O1.
func TestAWarmGetAllocatesLittle(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() { answered <- httpbench.AnswerWithoutAllocating(l) }()
	conn, err := h2flow.DialCleartext(context.Background(), l.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	req := &h2flow.Request{Method: "GET", Scheme: "http", Authority: "x", Path: "/", EndStream: true}
	buf := make([]byte, 512)
	do := func() {
		s, err := conn.OpenStream(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := finish(s, buf); n != int64(len(httpbench.CannedBody)) || err != nil {
			t.Fatal(n, err)
		}
	}
	for range 100 { // pools and tables reach their sizes
		do()
	}
	got := testing.AllocsPerRun(1000, do)
	t.Logf("%v allocations", got)
	if got > maxWarmGet {
		t.Errorf("%v allocations, want at most %d", got, maxWarmGet)
	}
	conn.Close()
	if err := <-answered; err != io.EOF {
		t.Errorf("the server ended with %v, want io.EOF", err)
	}
	l.Close()
}
