package conn_test

import (
	"fmt"
	"time"

	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/plainfields"
	"example.com/h2flow/strategy"
)

// A connection is driven by hand: octets and time go in, events and octets come out. The server is played by frames
// that are made here; the field codec is one without compression, so that they can be.
func Example() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := conn.New(now, conn.Config{
		Strategy: strategy.Fixed{Stream: 1 << 20, Conn: 1 << 20}.New(),
		Encoder:  &plainfields.Encoder{},
		Decoder:  &plainfields.Decoder{},
	})
	// turn is what a driver does whenever octets have arrived, a timer has fired or the application wants something.
	turn := func(received []byte) {
		c.Feed(now, received)
		for ev := c.NextEvent(); ev.Kind != conn.None; ev = c.NextEvent() {
			fmt.Println("!", ev)
			if ev.Kind == conn.Data {
				c.Consumed(now, ev.Stream, len(ev.Data)) // the application has read them
			}
		}
		out := c.AppendOutput(now, nil, 64<<10)
		c.Written(c.Packed()) // all of it has left
		if len(out) > len(frame.ClientPreface) && string(out[:3]) == "PRI" {
			out = out[len(frame.ClientPreface):]
		}
		for h := range frame.All(out) {
			fmt.Println(">", h)
		}
	}

	id, err := c.Open(now, []frame.Field{
		{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"},
		{Name: ":authority", Value: "example.org"}, {Name: ":path", Value: "/"},
	}, true)
	if err != nil {
		fmt.Println(err)
		return
	}
	turn(nil)

	var server plainfields.Encoder
	head := server.AppendField(nil, frame.Field{Name: ":status", Value: "200"})
	received := frame.MakeSettings().AppendTo(nil)
	received = frame.Headers{Stream: id, EndHeaders: true, Fragment: head}.AppendTo(received)
	received = frame.Data{Stream: id, Data: []byte("hello"), EndStream: true}.AppendTo(received)
	turn(received)
	// Output:
	// > SETTINGS len=12
	// > WINDOW_UPDATE stream=0 len=4
	// > HEADERS stream=1 len=61 END_STREAM END_HEADERS
	// ! opened stream=1
	// ! settings
	// ! response stream=1 status=200
	// ! data stream=1 len=5 END_STREAM
	// > SETTINGS len=0 ACK
}
