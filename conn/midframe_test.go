package conn_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/conn"
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/plainfields"
	"example.com/h2flow/strategy"
)

// DATA is handed on before the frame is whole, so an application can give a stream up in the middle of one. The rest
// is discarded and credited to the connection, and whoever takes the record of the stream next gets none of it.
func TestResetInTheMiddleOfDATADiscardsTheRest(t *testing.T) {
	now := time.Unix(1_000_000_000, 0)
	var encoder plainfields.Encoder
	c := conn.New(now, conn.Config{
		Strategy: strategy.Fixed{Stream: 65535, Conn: 65535}.New(),
		Encoder:  &plainfields.Encoder{},
		Decoder:  &plainfields.Decoder{},
	})
	feed := func(p []byte) (data string) {
		t.Helper()
		c.Feed(now, p)
		for ev := c.NextEvent(); ev.Kind != conn.None; ev = c.NextEvent() {
			data += string(ev.Data)
		}
		if err := c.CheckInvariants(); err != nil {
			t.Fatal(err)
		}
		return data
	}
	open := func() frame.StreamID {
		t.Helper()
		id, err := c.Open(now, []frame.Field{
			{Name: ":method", Value: "GET"},
			{Name: ":scheme", Value: "https"},
			{Name: ":authority", Value: "a.test"},
			{Name: ":path", Value: "/"},
		}, true)
		if err != nil {
			t.Fatal(err)
		}
		c.AppendOutput(now, nil, 1<<20)
		return id
	}
	response := func(id frame.StreamID, length uint32, data string) []byte {
		p := frame.Headers{
			Stream:     id,
			EndHeaders: true,
			Fragment:   encoder.AppendField(nil, frame.Field{Name: ":status", Value: "200"}),
		}.AppendTo(nil)
		p = frame.AppendHeader(p, frame.Header{Length: length, Type: frame.TypeData, Stream: id})
		return append(p, data...)
	}

	feed(frame.MakeSettings().AppendTo(nil))
	given := open()
	if diff := cmp.Diff("0123", feed(response(given, 10, "0123"))); diff != "" {
		t.Errorf("data before the reset (-want +got):\n%s", diff)
	}
	c.Reset(now, given, frame.Cancel)
	next := open() // takes the record
	if diff := cmp.Diff("", feed([]byte("456789"))); diff != "" {
		t.Errorf("data after the reset (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("abc", feed(response(next, 3, "abc"))); diff != "" {
		t.Errorf("data of the next stream (-want +got):\n%s", diff)
	}
	c.Consumed(now, next, 3)
	if err := c.CheckInvariants(); err != nil {
		t.Fatal(err)
	}
	got := c.RecvWindow()
	got.Granted = 0 // the strategy's business
	if diff := cmp.Diff(flow.Offsets{Consumed: 13, Received: 13, Charged: 13}, got); diff != "" {
		t.Errorf("offsets of the connection (-want +got):\n%s", diff)
	}
}
