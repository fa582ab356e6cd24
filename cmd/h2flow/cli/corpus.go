package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/hostile"
)

var corpusCommand = command{
	name:    "corpus",
	args:    "DIR",
	summary: "write seeds for fuzzers of HTTP/2 code",
	text: `
Writes inputs for libFuzzer, AFL++ and other fuzzers to the folder DIR, which is made if it is not there:

  server/    what servers said in whole conversations, right and wrong: seeds for a client
  client/    what the clients said, from the preface on: seeds for a server
  frames/    single frames of every type, legal and broken: seeds for a parser
  http2.dict a dictionary of frame headers, for -dict or -x

The conversations are lives of this client's connection in virtual time, with a server that breaks one rule at a time; a
seed, from --first on, decides each, so that the same command writes the same files.`,
	example: `
h2flow corpus seeds
h2flow corpus --count 1000 seeds && ./my_fuzzer -dict=seeds/http2.dict seeds/server`,
	prepare: func(fs *flags) runner {
		count := fs.Int("count", 100, "how many `conversations`")
		first := fs.Uint64("first", 0, "the `seed` of the first")
		asJSON := fs.Bool("json", false, "tell how much was written as one JSON object")
		return func(ctx context.Context, e *env, args []string) error {
			if len(args) != 1 || *count < 0 {
				return usagef("it needs one folder, and a count that is not negative")
			}
			files, octets, err := writeCorpus(ctx, args[0], *first, *count)
			if err != nil {
				return err
			}
			if *asJSON {
				return json.NewEncoder(e.stdout).Encode(map[string]any{"dir": args[0], "files": files, "octets": octets})
			}
			_, err = fmt.Fprintf(e.stdout, "%d files, %d octets in %s\n", files, octets, args[0])
			return err
		}
	},
}

// writeCorpus writes all files below dir and counts them and their octets.
func writeCorpus(ctx context.Context, dir string, first uint64, count int) (files, octets int, err error) {
	for _, sub := range []string{"server", "client", "frames"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
			return 0, 0, err
		}
	}
	write := func(content []byte, name ...string) error {
		files, octets = files+1, octets+len(content)
		return os.WriteFile(filepath.Join(append([]string{dir}, name...)...), content, 0o666)
	}
	for i := range count {
		if err := ctx.Err(); err != nil {
			return files, octets, err
		}
		server, client := hostile.Conversation(hostile.Seed(first + uint64(i)))
		name := fmt.Sprintf("%06d.bin", first+uint64(i))
		if err := write(server, "server", name); err != nil {
			return files, octets, err
		}
		if err := write(client, "client", name); err != nil {
			return files, octets, err
		}
	}
	var dict string
	for i, f := range corpusFrames() {
		if err := write(f, "frames", fmt.Sprintf("%03d.bin", i)); err != nil {
			return files, octets, err
		}
		dict += fmt.Sprintf("frame%d=\"%s\"\n", i, escaped(f[:min(len(f), frame.HeaderLen)]))
	}
	err = write([]byte("preface=\""+escaped([]byte(frame.ClientPreface))+"\"\n"+dict), "http2.dict")
	return files, octets, err
}

// escaped writes octets as dictionaries want them.
func escaped(octets []byte) string {
	var text string
	for _, c := range octets {
		text += fmt.Sprintf("\\x%02x", c)
	}
	return text
}

// corpusFrames returns one frame of each type, and then the same with its length, its flags and its stream changed.
func corpusFrames() [][]byte {
	legal := []frame.Frame{
		frame.Data{Stream: 1, Data: []byte("hello"), EndStream: true},
		frame.Data{Stream: 1, Data: []byte("hi"), Padded: true, PadLength: 3},
		frame.Headers{Stream: 1, EndHeaders: true, Fragment: []byte{0x88}},
		frame.Headers{Stream: 1, HasPriority: true, Padded: true, PadLength: 2, Fragment: []byte{0x40, 1, 'a', 1, 'b'}},
		frame.Continuation{Stream: 1, EndHeaders: true, Fragment: []byte{0x3f, 0xe1, 0x1f, 0xbe}},
		frame.Priority{Stream: 3},
		frame.RSTStream{Stream: 1, Code: frame.RefusedStream},
		frame.MakeSettings(frame.Setting{ID: frame.SettingInitialWindowSize, Value: 1<<31 - 1},
			frame.Setting{ID: frame.SettingMaxFrameSize, Value: 16384}),
		frame.Settings{Ack: true},
		frame.PushPromise{Stream: 1, EndHeaders: true, Promised: 2, Fragment: []byte{0x82, 0x87, 0x84}},
		frame.Ping{Data: [8]byte{1, 2, 3, 4, 5, 6, 7, 8}},
		frame.GoAway{LastStream: 1, Code: frame.EnhanceYourCalm, Debug: []byte("calm")},
		frame.WindowUpdate{Stream: 1, Increment: 1<<31 - 1},
		frame.WindowUpdate{},
		frame.AltSvc{Origin: []byte("https://a"), Value: []byte("h2=:1")},
		frame.MakeOrigin("https://a"),
		frame.PriorityUpdate{Prioritized: 1, Value: []byte("u=1")},
		frame.Unknown{Header: frame.Header{Type: 0xfa, Flags: 0xff, Stream: 5}, Payload: []byte{1}},
	}
	var all [][]byte
	for _, f := range legal {
		octets := f.AppendTo(nil)
		all = append(all, octets)
		h, _ := frame.ParseHeader(octets)
		payload := octets[frame.HeaderLen:]
		for _, broken := range []frame.Header{
			{Type: h.Type, Flags: h.Flags, Stream: h.Stream ^ 1},
			{Type: h.Type, Flags: h.Flags ^ frame.FlagPadded, Stream: h.Stream},
			{Type: h.Type, Flags: h.Flags ^ frame.FlagEndHeaders, Stream: h.Stream},
		} {
			all = append(all, frame.Unknown{Header: broken, Payload: payload}.AppendTo(nil))
		}
		if len(payload) > 0 {
			h.Flags |= frame.FlagPadded
			all = append(all, frame.Unknown{Header: h, Payload: payload[1:]}.AppendTo(nil))
		}
	}
	return all
}
