package plainfields_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/plainfields"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2/hpack"
)

// The two interfaces of package conn, which must not be imported here: its own tests use this package.
var (
	_ interface {
		AppendField(dst []byte, f frame.Field) []byte
		SetMaxTableSize(n uint32)
	} = (*plainfields.Encoder)(nil)
	_ interface {
		Decode(fragment []byte, emit func(frame.Field) bool) error
		EndBlock() error
		SetMaxTableSize(n uint32)
	} = (*plainfields.Decoder)(nil)
)

func Example() {
	var enc plainfields.Encoder
	block := enc.AppendField(nil, frame.Field{Name: ":status", Value: "200"})
	fmt.Printf("%q\n", block)

	var dec plainfields.Decoder
	err := dec.Decode(block, func(f frame.Field) bool {
		fmt.Println(f.Name, f.Value)
		return true
	})
	fmt.Println(err, dec.EndBlock())
	// Output:
	// "\x00\a:status\x03200"
	// :status 200
	// <nil> <nil>
}

func TestEncoder(t *testing.T) {
	tests := []struct {
		name  string
		sizes []uint32
		field frame.Field
		want  string
	}{
		{"literal without indexing", nil, frame.Field{Name: "a", Value: "bc"}, "00016102" + "6263"},
		{"literal never indexed", nil, frame.Field{Name: "a", Value: "b", Sensitive: true}, "10016101" + "62"},
		{"empty value", nil, frame.Field{Name: "a"}, "00016100"},
		{"length of more than one octet", nil, frame.Field{Name: "a", Value: strings.Repeat("b", 200)},
			"0001617f49" + strings.Repeat("62", 200)},
		{"size lowered", []uint32{100}, frame.Field{Name: "a"}, "3f45" + "00016100"},
		{"smallest size counts", []uint32{100, 0, 4096}, frame.Field{Name: "a"}, "20" + "00016100"},
		{"raised only", []uint32{1 << 31}, frame.Field{Name: "a"}, "00016100"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e plainfields.Encoder
			for _, n := range tt.sizes {
				e.SetMaxTableSize(n)
			}
			first := e.AppendField(nil, tt.field)
			if diff := cmp.Diff(tt.want, hex.EncodeToString(first)); diff != "" {
				t.Errorf("first field (-want +got)\n%s", diff)
			}
			if again := e.AppendField(nil, tt.field); again[0]&0xe0 == 0x20 {
				t.Errorf("a size update is repeated: %x", again)
			}
		})
	}
}

// fields that have every shape the encoder knows.
var fields = []frame.Field{
	{Name: ":method", Value: "GET"},
	{Name: "cookie", Value: "secret", Sensitive: true},
	{Name: "empty"},
	{Name: strings.Repeat("n", 127), Value: strings.Repeat("v", 300)},
}

func encode(fields []frame.Field) []byte {
	var e plainfields.Encoder
	e.SetMaxTableSize(100)
	var b []byte
	for _, f := range fields {
		b = e.AppendField(b, f)
	}
	return b
}

func decode(d *plainfields.Decoder, block []byte, chunk int) (got []frame.Field, err error) {
	emit := func(f frame.Field) bool { got = append(got, f); return true }
	for len(block) > chunk {
		if err := d.Decode(block[:chunk], emit); err != nil {
			return got, err
		}
		block = block[chunk:]
	}
	if err := d.Decode(block, emit); err != nil {
		return got, err
	}
	return got, d.EndBlock()
}

func TestRoundTripInAnyChunks(t *testing.T) {
	block := encode(fields)
	for chunk := 1; chunk <= len(block); chunk++ {
		var d plainfields.Decoder
		for range 2 {
			got, err := decode(&d, block, chunk)
			if err != nil {
				t.Fatalf("chunks of %d: %v", chunk, err)
			}
			if diff := cmp.Diff(fields, got); diff != "" {
				t.Fatalf("chunks of %d (-want +got)\n%s", chunk, diff)
			}
		}
	}
}

func TestHPACKReadsIt(t *testing.T) {
	var got []frame.Field
	list, err := hpack.NewDecoder(4096, nil).DecodeFull(encode(fields))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		got = append(got, frame.Field{Name: f.Name, Value: f.Value, Sensitive: f.Sensitive})
	}
	if diff := cmp.Diff(fields, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTruncation(t *testing.T) {
	block := encode(fields)
	boundary := map[int]bool{2: true} // after the size update
	for n := range len(fields) {
		boundary[len(encode(fields[:n]))] = true
	}
	for n := range block {
		var d plainfields.Decoder
		if _, err := decode(&d, block[:n], 7); boundary[n] != (err == nil) {
			t.Errorf("%d of %d octets: %v, a boundary: %v", n, len(block), err, boundary[n])
		}
	}
}

func TestDecoderErrors(t *testing.T) {
	tests := []struct{ name, block, want string }{
		{"indexed field", "82", "a representation other than a literal with a new name"},
		{"indexed name", "0101" + "61", "a representation other than a literal with a new name"},
		{"incremental indexing", "4001610162", "a representation other than a literal with a new name"},
		{"Huffman name", "0081ff0162", "a Huffman string"},
		{"Huffman value", "00016181ff", "a Huffman string"},
		{"size update after a field", "00016100" + "20", "a table size update after a field"},
		{"three size updates", "202020", "more than two table size updates"},
		{"size update above the limit", "3fe21f", "a table size update above the limit"},
		{"length above 2^31-1", "007f81ffffff07", "an integer above 2^31-1"},
		{"length of six octets", "007f80808080808000", "an integer of too many octets"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			block, err := hex.DecodeString(tt.block)
			if err != nil {
				t.Fatal(err)
			}
			for chunk := 1; chunk <= len(block); chunk++ {
				var d plainfields.Decoder
				_, err := decode(&d, block, chunk)
				want := &frame.Error{Code: frame.CompressionError, Reason: tt.want}
				if diff := cmp.Diff(error(want), err); diff != "" {
					t.Errorf("chunks of %d (-want +got)\n%s", chunk, diff)
				}
				if again := d.Decode([]byte{0, 0, 0}, nil); again != err || d.EndBlock() != err {
					t.Errorf("the error is not final: %v", again)
				}
			}
		})
	}
}

func TestSizeUpdates(t *testing.T) {
	var d plainfields.Decoder
	d.SetMaxTableSize(1 << 20)
	block := append([]byte{0x20, 0x3f, 0xe1, 0xff, 0x3f}, encode(fields[:1])[2:]...) // 0, then 1 MiB
	for range 2 {
		got, err := decode(&d, block, 1)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fields[:1], got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

func TestEmitStops(t *testing.T) {
	var d plainfields.Decoder
	block := encode(fields)[2:]
	for range 2 { // the second block starts afresh
		calls := 0
		err := d.Decode(block, func(frame.Field) bool { calls++; return calls < 2 })
		if err := d.EndBlock(); err != nil {
			t.Fatal(err)
		}
		if err != nil || calls != 2 {
			t.Errorf("emit was called %d times, want 2; %v", calls, err)
		}
	}
}

func TestDeclaredLengthAllocatesNothing(t *testing.T) {
	var d plainfields.Decoder
	emit := func(frame.Field) bool { return true }
	if err := d.Decode([]byte{0x00}, emit); err != nil {
		t.Fatal(err)
	}
	got := testing.AllocsPerRun(1, func() {
		if err := d.Decode([]byte{0x7f, 0x80, 0xff, 0xff, 0xff, 0x07}, emit); err != nil { // 2^31-1
			t.Fatal(err)
		}
	})
	if got > 1 {
		t.Errorf("%v allocations", got)
	}
}
