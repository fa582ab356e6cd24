package fuzz

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/h2flow/frame"
)

// ownFrames are legal frames of every type.
var ownFrames = []frame.Frame{
	frame.Data{Stream: 1, EndStream: true, Data: []byte("hello")},
	frame.Data{Stream: 3, Padded: true, PadLength: 3, Data: []byte("hi")},
	frame.Data{Stream: 1<<31 - 1},
	frame.Headers{Stream: 1, EndStream: true, EndHeaders: true, Fragment: []byte{0x82, 0x86, 0x84}},
	frame.Headers{Stream: 5, Padded: true, PadLength: 2, HasPriority: true,
		Priority: frame.PriorityParam{Exclusive: true, DependsOn: 3, Weight: 15}, Fragment: []byte{0x88}},
	frame.Priority{Stream: 7, PriorityParam: frame.PriorityParam{DependsOn: 5, Weight: 16}},
	frame.RSTStream{Stream: 1, Code: frame.Cancel},
	frame.MakeSettings(
		frame.Setting{ID: frame.SettingInitialWindowSize, Value: 65536},
		frame.Setting{ID: frame.SettingMaxFrameSize, Value: 16384}),
	frame.Settings{Ack: true},
	frame.PushPromise{Stream: 1, EndHeaders: true, Promised: 2, Fragment: []byte{0x82}},
	frame.PushPromise{Stream: 1, Padded: true, PadLength: 1, Promised: 4},
	frame.Ping{Data: [8]byte{1, 2, 3, 4, 5, 6, 7, 8}},
	frame.Ping{Ack: true},
	frame.GoAway{LastStream: 1<<31 - 1, Code: frame.EnhanceYourCalm, Debug: []byte("calm")},
	frame.WindowUpdate{Increment: 1<<31 - 1},
	frame.WindowUpdate{Stream: 9, Increment: 1},
	frame.Continuation{Stream: 1, EndHeaders: true, Fragment: []byte{0x82}},
	frame.AltSvc{Origin: []byte("https://a"), Value: []byte("h2=:1")},
	frame.AltSvc{Stream: 1, Value: []byte("clear")},
	frame.MakeOrigin("https://a", "https://b"),
	frame.PriorityUpdate{Prioritized: 5, Value: []byte("u=1")},
	frame.Unknown{Header: frame.Header{Type: 0xfa, Flags: 0xff, Stream: 3}, Payload: []byte{1}},
}

// ownOctets are frames that break a rule or stretch one.
var ownOctets = []string{
	"004001 00 00 00000001",                                // above the limit
	"000000 00 08 00000001",                                // no pad length
	"000003 00 08 00000001 03 0000",                        // padding as long as the payload
	"000003 00 08 00000001 02 ffff",                        // padding that is not zero
	"000008 01 2c 00000001 03 00000000 00 0000",            // padding in the place of the priority
	"000004 02 00 00000001 00000000",                       // PRIORITY of 4 octets
	"000005 02 00 80000001 80000001 ff",                    // reserved bit, depends on itself
	"000004 03 00 00000000 00000000",                       // RST_STREAM on stream 0
	"000006 04 01 00000000 000400000000",                   // acknowledgement with a setting
	"00000c 04 fe 00000000 000400000000 000480000000",      // second value of the same setting is illegal
	"000004 05 04 00000001 00000003",                       // promise of an odd stream
	"000007 06 00 00000001 00000000000000",                 // PING of 7 octets on stream 1
	"000008 07 ff ffffffff 8000000300000000",               // GOAWAY with all flags on stream 2^31-1
	"000004 08 00 00000001 80000000",                       // increment 0 and the reserved bit
	"000001 0a 00 00000001 00",                             // ALTSVC cut short
	"000004 0c 00 00000000 0001 61 00",                     // ORIGIN cut short
	"000003 10 00 00000000 000001",                         // PRIORITY_UPDATE cut short
	hex.EncodeToString([]byte("HTTP/1.1 400 Bad Request")), // not HTTP/2 at all
}

// streamSeeds are inputs that hold any number of frames.
func streamSeeds(f *testing.F) [][]byte {
	f.Helper()
	var seeds [][]byte
	var all []byte
	for _, x := range ownFrames {
		wire := x.AppendTo(nil)
		seeds = append(seeds, wire)
		all = append(all, wire...)
	}
	for _, s := range ownOctets {
		wire, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, wire)
	}
	return append(append(seeds, all), foreignSeeds(f)...)
}

// foreignSeeds are the files of the third-party corpora without the client's preface; none if H2FLOW_VECTORS is unset.
func foreignSeeds(f *testing.F) [][]byte {
	f.Helper()
	dir := os.Getenv("H2FLOW_VECTORS")
	if dir == "" {
		f.Log("H2FLOW_VECTORS is not set: no third-party seeds")
		return nil
	}
	var seeds [][]byte
	for _, pattern := range []string{
		"go-fuzz-http2/corpus/*", "nghttp2-fuzz/h2spec/*", "nghttp2-fuzz/nghttp/*", "h2o-http2-fuzz/corpus/*",
		"server-recordings/*.bin",
	} {
		files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			f.Fatalf("H2FLOW_VECTORS has no files %s (%v)", pattern, err)
		}
		for _, file := range files {
			octets, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			seeds = append(seeds, bytes.TrimPrefix(octets, []byte(frame.ClientPreface)))
		}
		f.Logf("%d seeds from %s", len(files), pattern)
	}
	return seeds
}
