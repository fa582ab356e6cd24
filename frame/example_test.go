package frame_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"example.com/h2flow/frame"
)

// A connection appends what it sends to a buffer of its own and takes apart in place what it receives.
func Example() {
	var buf []byte
	buf = frame.AppendSettings(buf, frame.Setting{ID: frame.SettingInitialWindowSize, Value: 1 << 20})
	buf = frame.AppendWindowUpdate(buf, 0, 1<<24)
	buf = frame.Headers{Stream: 1, EndStream: true, EndHeaders: true, Fragment: []byte{0x82, 0x86, 0x84}}.AppendTo(buf)

	for h, payload := range frame.All(buf) {
		f, err := frame.Parse(h, payload)
		fmt.Println(f, err)
	}
	// Output:
	// SETTINGS INITIAL_WINDOW_SIZE=1048576 <nil>
	// WINDOW_UPDATE stream=0 increment=16777216 <nil>
	// HEADERS stream=1 len=3 END_STREAM END_HEADERS <nil>
}

func ExampleAll() {
	buf := frame.AppendPing(nil, false, [8]byte{1})
	buf = frame.AppendRSTStream(buf, 3, frame.Cancel)
	buf = append(buf, 0, 0, 4) // the beginning of a third frame

	for h, payload := range frame.All(buf) {
		fmt.Println(h, payload)
	}
	// Output:
	// PING len=8 [1 0 0 0 0 0 0 0]
	// RST_STREAM stream=3 len=4 [0 0 0 8]
}

func ExampleReader() {
	var wire []byte
	wire = frame.Data{Stream: 1, Data: []byte("hello")}.AppendTo(wire)
	wire = frame.WindowUpdate{Stream: 1}.AppendTo(wire) // an increment of 0, which no peer may send

	r := frame.NewReader(bytes.NewReader(wire), frame.MinMaxFrameSize)
	for {
		h, payload, err := r.Next()
		if err == io.EOF {
			return
		}
		f, err := frame.Parse(h, payload)
		if e, ok := errors.AsType[*frame.Error](err); ok {
			fmt.Println("send RST_STREAM", e.Stream, e.Code)
			continue
		}
		fmt.Println(f)
	}
	// Output:
	// DATA stream=1 len=5
	// send RST_STREAM 1 PROTOCOL_ERROR
}

func ExampleSetting_CheckFromServer() {
	for s := range frame.MakeSettings(
		frame.Setting{ID: frame.SettingMaxConcurrentStreams, Value: 100},
		frame.Setting{ID: frame.SettingMaxFrameSize, Value: 1},
	).All() {
		fmt.Println(s, "->", s.CheckFromServer())
	}
	// Output:
	// MAX_CONCURRENT_STREAMS=100 -> <nil>
	// MAX_FRAME_SIZE=1 -> connection error: PROTOCOL_ERROR: MAX_FRAME_SIZE=1 is not within 16384 to 16777215
}
