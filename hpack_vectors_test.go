package h2flow_test

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/rows"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A vector is a sequence of field blocks that share one context. See RFC 7541, Appendix C.
type vector struct {
	name   string
	size   uint32 // of the dynamic table, in octets
	blocks []vectorBlock
}

type vectorBlock struct {
	wire   string
	fields []frame.Field
	table  []frame.Field // the dynamic table after the block, newest first; nil means not told
	ours   string        // what our encoder writes, if that is not wire; "-" if the comparison makes no sense
}

// requests and responses are the lists of Appendix C.3 to C.6.
var requests = [][]frame.Field{
	{{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "http"}, {Name: ":path", Value: "/"},
		{Name: ":authority", Value: "www.example.com"}},
	{{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "http"}, {Name: ":path", Value: "/"},
		{Name: ":authority", Value: "www.example.com"}, {Name: "cache-control", Value: "no-cache"}},
	{{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"}, {Name: ":path", Value: "/index.html"},
		{Name: ":authority", Value: "www.example.com"}, {Name: "custom-key", Value: "custom-value"}},
}

var requestTables = [][]frame.Field{
	{{Name: ":authority", Value: "www.example.com"}},
	{{Name: "cache-control", Value: "no-cache"}, {Name: ":authority", Value: "www.example.com"}},
	{{Name: "custom-key", Value: "custom-value"}, {Name: "cache-control", Value: "no-cache"},
		{Name: ":authority", Value: "www.example.com"}},
}

const (
	date21    = "Mon, 21 Oct 2013 20:13:21 GMT"
	date22    = "Mon, 21 Oct 2013 20:13:22 GMT"
	site      = "https://www.example.com"
	setCookie = "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"
)

var responses = [][]frame.Field{
	{{Name: ":status", Value: "302"}, {Name: "cache-control", Value: "private"}, {Name: "date", Value: date21},
		{Name: "location", Value: site}},
	{{Name: ":status", Value: "307"}, {Name: "cache-control", Value: "private"}, {Name: "date", Value: date21},
		{Name: "location", Value: site}},
	{{Name: ":status", Value: "200"}, {Name: "cache-control", Value: "private"}, {Name: "date", Value: date22},
		{Name: "location", Value: site}, {Name: "content-encoding", Value: "gzip"},
		{Name: "set-cookie", Value: setCookie}},
}

var responseTables = [][]frame.Field{
	{{Name: "location", Value: site}, {Name: "date", Value: date21}, {Name: "cache-control", Value: "private"},
		{Name: ":status", Value: "302"}},
	{{Name: ":status", Value: "307"}, {Name: "location", Value: site}, {Name: "date", Value: date21},
		{Name: "cache-control", Value: "private"}},
	{{Name: "set-cookie", Value: setCookie}, {Name: "content-encoding", Value: "gzip"}, {Name: "date", Value: date22}},
}

var appendixC = []vector{
	{"C.2.1 literal with indexing", 4096, []vectorBlock{{
		wire:   "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
		fields: []frame.Field{{Name: "custom-key", Value: "custom-header"}},
		table:  []frame.Field{{Name: "custom-key", Value: "custom-header"}},
		ours:   "-", // Huffman
	}}},
	{"C.2.2 literal without indexing", 4096, []vectorBlock{{
		wire:   "040c 2f73 616d 706c 652f 7061 7468",
		fields: []frame.Field{{Name: ":path", Value: "/sample/path"}},
		table:  []frame.Field{},
		ours:   "-", // Huffman, with indexing
	}}},
	{"C.2.3 literal never indexed", 4096, []vectorBlock{{
		wire:   "1008 7061 7373 776f 7264 0673 6563 7265 74",
		fields: []frame.Field{{Name: "password", Value: "secret", Sensitive: true}},
		table:  []frame.Field{},
		ours:   "-", // Huffman
	}}},
	{"C.2.4 indexed", 4096, []vectorBlock{{
		wire:   "82",
		fields: []frame.Field{{Name: ":method", Value: "GET"}},
		table:  []frame.Field{},
	}}},
	{"C.3 requests without Huffman", 4096, []vectorBlock{
		{"8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", requests[0], requestTables[0], "-"},
		{"8286 84be 5808 6e6f 2d63 6163 6865", requests[1], requestTables[1], "-"},
		{"8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65", requests[2], requestTables[2], "-"},
	}},
	{"C.4 requests with Huffman", 4096, []vectorBlock{
		{"8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", requests[0], requestTables[0], ""},
		{"8286 84be 5886 a8eb 1064 9cbf", requests[1], requestTables[1], ""},
		{"8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", requests[2], requestTables[2], ""},
	}},
	{"C.5 responses without Huffman", 256, []vectorBlock{
		{"4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32" +
			"3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
			responses[0], responseTables[0], "-"},
		{"4803 3330 37c1 c0bf", responses[1], responseTables[1], "-"},
		{"88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970" +
			"7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61" +
			"6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31", responses[2], responseTables[2], "-"},
	}},
	{"C.6 responses with Huffman", 256, []vectorBlock{
		{"4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad" +
			"1718 63c7 8f0b 97c8 e9ae 82ae 43d3", responses[0], responseTables[0],
			// Of the static entries with the name :status, ours refers to the last.
			"4e82 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad" +
				"1718 63c7 8f0b 97c8 e9ae 82ae 43d3"},
		// The same, and ours leaves out Huffman coding where it is no shorter.
		{"4883 640e ffc1 c0bf", responses[1], responseTables[1], "4e03 3330 37c1 c0bf"},
		{"88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2" +
			"e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
			responses[2], responseTables[2], ""},
	}},
}

// settle brings a decoder's table to size octets, as settings and the peer's update would.
func settle(t *testing.T, d *h2flow.FieldDecoder, size uint32) {
	t.Helper()
	if size == 4096 {
		return
	}
	d.SetMaxTableSize(size)
	update := []byte{0x20 | byte(size)}
	if size >= 31 {
		update[0] = 0x3f
		for size -= 31; size >= 128; size >>= 7 {
			update = append(update, 0x80|byte(size))
		}
		update = append(update, byte(size))
	}
	if _, err := decodeBlock(d, update, math.MaxInt); err != nil {
		t.Fatal(err)
	}
}

func TestAppendixCDecode(t *testing.T) {
	rows.Cover(t, "7541-3.2-1", "7541-2.1-2")
	for _, v := range appendixC {
		t.Run(v.name, func(t *testing.T) { decodeVector(t, v, math.MaxInt); decodeVector(t, v, 1) })
	}
}

// decodeVector decodes v in chunks of n octets.
func decodeVector(t *testing.T, v vector, n int) {
	t.Helper()
	d := h2flow.NewFieldDecoder()
	settle(t, d, v.size)
	entries := -1
	for i, b := range v.blocks {
		got, err := decodeBlock(d, unhex(t, b.wire), n)
		if err != nil {
			t.Fatalf("block %d: %v", i, err)
		}
		if diff := cmp.Diff(b.fields, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("block %d (-want +got)\n%s", i, diff)
		}
		if b.table != nil {
			wantTable(t, d, b.table)
			entries = len(b.table)
		}
	}
	if entries >= 0 {
		wantNoEntry(t, d, entries)
	}
}

func TestAppendixCEncode(t *testing.T) {
	rows.Cover(t, "7541-2.1-1")
	for _, v := range appendixC {
		t.Run(v.name, func(t *testing.T) {
			e := h2flow.NewFieldEncoder(v.size)
			if v.size != 4096 {
				e.AppendField(nil, frame.Field{Name: ":status", Value: "200"}) // the size update
			}
			for i, b := range v.blocks {
				want := b.wire
				if b.ours != "" {
					want = b.ours
				}
				got := hex.EncodeToString(encodeBlock(e, b.fields))
				if want != "-" && got != strings.ReplaceAll(want, " ", "") {
					t.Errorf("block %d: got %s, want %s", i, got, want)
				}
			}
		})
	}
}

// 7541-A-1: a block cut anywhere never panics, decodes a prefix of the fields, and EndBlock reports it when the cut is
// within a representation.
func TestAppendixCTruncated(t *testing.T) {
	rows.Cover(t, "7541-A-1")
	for _, v := range appendixC {
		t.Run(v.name, func(t *testing.T) { truncateVector(t, v) })
	}
}

func truncateVector(t *testing.T, v vector) {
	t.Helper()
	for i, b := range v.blocks {
		block := unhex(t, b.wire)
		whole := 0
		for n := range block {
			d := h2flow.NewFieldDecoder()
			settle(t, d, v.size)
			for _, before := range v.blocks[:i] {
				if _, err := decodeBlock(d, unhex(t, before.wire), math.MaxInt); err != nil {
					t.Fatal(err)
				}
			}
			got, err := decodeBlock(d, block[:n], 3)
			if len(got) > len(b.fields) || len(got) > 0 && !cmp.Equal(b.fields[:len(got)], got) {
				t.Fatalf("block %d cut at %d: %v is no prefix of %v", i, n, got, b.fields)
			}
			if err == nil {
				whole++
			} else {
				wantCompressionError(t, "the field block ends within a representation", err)
			}
		}
		// The cut at 0, that after a size update, and those after all fields but the last are legal ends.
		want := len(b.fields)
		if want > 0 && block[0]&0xe0 == 0x20 {
			want++
		}
		if whole != want {
			t.Errorf("block %d: %d of %d cuts went unnoticed, want %d", i, whole, len(block), want)
		}
	}
}
