package httpbench

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"example.com/h2flow/frame"
)

func init() { ServeIfAsked() }

func TestTheServerIsAnotherProcess(t *testing.T) {
	base := startServer(t)
	for _, h2 := range []bool{false, true} {
		c := netHTTP(base, h2)
		defer c.Close()
		buf := make([]byte, 1000)
		for _, size := range []int64{0, 1, 3 << 20} {
			if n, err := c.Get(fmt.Sprint("/", size), buf); n != size || err != nil {
				t.Errorf("h2 %v: %d octets and %v, want %d", h2, n, err, size)
			}
		}
		if err := c.Post("/0", 2<<20, buf); err != nil {
			t.Errorf("h2 %v: an upload ends with %v", h2, err)
		}
		if _, err := c.Get("/many", buf); err == nil || !strings.Contains(err.Error(), "400") {
			t.Errorf("h2 %v: the error is %v, want one with 400", h2, err)
		}
	}
}

// What counts allocations must not allocate: a bare client of this test's finds nothing.
func TestAnswerWithoutAllocating(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	answered := make(chan error, 1)
	go func() { answered <- AnswerWithoutAllocating(l) }()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	nc.Write([]byte(frame.ClientPreface))
	request := frame.Headers{Stream: 1, EndStream: true, EndHeaders: true}.AppendTo(nil)
	want := frame.Headers{Stream: 1, EndHeaders: true, Fragment: []byte(cannedBlock)}.AppendTo(nil)
	want = append(frame.AppendDataHeader(want, 1, uint32(len(CannedBody)), true), CannedBody...)
	got := make([]byte, len(frame.MakeSettings().AppendTo(nil)))
	if _, err := io.ReadFull(nc, got); err != nil {
		t.Fatal(err)
	}
	got = make([]byte, len(want))
	exchange := func() {
		if _, err := nc.Write(request); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(nc, got); err != nil || string(got) != string(want) {
			t.Fatalf("%q and %v, want %q", got, err, want)
		}
	}
	exchange()
	if n := testing.AllocsPerRun(200, exchange); n != 0 {
		t.Errorf("an answer allocates %v times, want 0", n)
	}
	nc.Close()
	if err := <-answered; err != io.EOF {
		t.Errorf("the server ended with %v, want io.EOF", err)
	}
}

var _ http.RoundTripper = (*roundTripper)(nil)
