package h2flow_test

import (
	"encoding/hex"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/rows"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decodeBlock feeds one field block in chunks of n octets.
func decodeBlock(d *h2flow.FieldDecoder, block []byte, n int) (got []frame.Field, err error) {
	emit := func(f frame.Field) bool { got = append(got, f); return true }
	for len(block) > n {
		if err := d.Decode(block[:n], emit); err != nil {
			return got, err
		}
		block = block[n:]
	}
	if err := d.Decode(block, emit); err != nil {
		return got, err
	}
	return got, d.EndBlock()
}

func encodeBlock(e *h2flow.FieldEncoder, fields []frame.Field) []byte {
	var b []byte
	for _, f := range fields {
		b = e.AppendField(b, f)
	}
	return b
}

// wantTable checks the whole dynamic table of d, newest entry first, by a block of indexed fields: such a block leaves
// the table as it is.
func wantTable(t *testing.T, d *h2flow.FieldDecoder, want []frame.Field) {
	t.Helper()
	got, err := decodeBlock(d, tableProbe(len(want)), math.MaxInt)
	if err != nil {
		t.Errorf("reading %d table entries: %v", len(want), err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("dynamic table (-want +got)\n%s", diff)
	}
}

// wantNoEntry checks that the table of d holds n entries at most. It leaves d failed.
func wantNoEntry(t *testing.T, d *h2flow.FieldDecoder, n int) {
	t.Helper()
	block := tableProbe(n + 1)
	got, err := decodeBlock(d, block, math.MaxInt)
	if err == nil {
		t.Errorf("the dynamic table has an entry %d: %v", n+1, got[n])
	}
}

// tableProbe is a block of the indexed fields 62 to 61+n.
func tableProbe(n int) []byte {
	var b []byte
	for i := 62; i < 62+n; i++ {
		if i < 127 {
			b = append(b, 0x80|byte(i))
			continue
		}
		b = append(b, 0xff)
		v := i - 127
		for ; v >= 128; v >>= 7 {
			b = append(b, 0x80|byte(v))
		}
		b = append(b, byte(v))
	}
	return b
}

// A step of a decoder test: settings that are acknowledged, then a block.
type step struct {
	sizes []uint32
	block string
	want  []frame.Field
	err   string // beginning of the reason
}

func ab(n int) []frame.Field {
	var f []frame.Field
	for range n {
		f = append(f, frame.Field{Name: "a", Value: "b"})
	}
	return f
}

var status200 = []frame.Field{{Name: ":status", Value: "200"}}

// literal is a literal with incremental indexing of the name "a" and n octets of value "v".
func literal(n int) string {
	length := []byte{0x7f}
	v := n - 127
	for ; v >= 128; v >>= 7 {
		length = append(length, 0x80|byte(v))
	}
	return "400161" + hex.EncodeToString(append(length, byte(v))) + strings.Repeat("76", n)
}

var decoderTests = []struct {
	name  string
	steps []step
}{
	{"7541-2.1-2 order and duplicates are kept", []step{
		{block: "00016101620001630164 00016101 62", want: []frame.Field{
			{Name: "a", Value: "b"}, {Name: "c", Value: "d"}, {Name: "a", Value: "b"}}}}},
	{"7541-2.3.2-1 duplicate entries", []step{{block: "4001610162 4001610162 be bf", want: ab(4)}}},
	{"7541-2.3.2-2 the newest entry is 62", []step{{block: "4001610162 4001630164 be bf", want: []frame.Field{
		{Name: "a", Value: "b"}, {Name: "c", Value: "d"}, {Name: "c", Value: "d"}, {Name: "a", Value: "b"}}}}},
	{"7541-2.3.3-1 index 62 of an empty table", []step{{block: "be", err: "invalid indexed representation index 62"}}},
	{"7541-2.3.3-1 the same as a name", []step{{block: "7e0161", err: "invalid indexed representation index 62"}}},
	{"7541-2.3.3-1 one above the table", []step{{block: "4001610162 bf", want: ab(1),
		err: "invalid indexed representation index 63"}}},
	{"7541-3.2-1 only incremental indexing inserts", []step{
		{block: "0001610162 1001610162", want: []frame.Field{
			{Name: "a", Value: "b"}, {Name: "a", Value: "b", Sensitive: true}}},
		{block: "be", err: "invalid indexed representation index 62"}}},
	{"7541-4.1-1 an entry of exactly the maximum", []step{{block: "3f03 4001610162 be", want: ab(2)}}}, // 34 octets
	{"7541-4.1-1 an entry above the maximum", []step{{block: "3f02 4001610162 be", want: ab(1),
		err: "invalid indexed representation index 62"}}},
	{"7541-4.2-4 update after a field, empty table", []step{{block: "88 20", want: status200,
		err: "a table size update after a field"}}},
	{"7541-4.2-4 update after a field, table in use", []step{{block: "4001610162 20", want: ab(1),
		err: "a table size update after a field"}}},
	{"7541-4.2-5 two updates", []step{{block: "4001610162", want: ab(1)}, {block: "3f09 3fe11f be", want: ab(1)}}},
	{"7541-4.2-5 three updates", []step{{block: "20 20 20", err: "more than two table size updates"}}},
	{"7541-4.2-5 the count starts afresh with each block", []step{{block: "20 20"}, {block: "20 20"},
		{block: "20 88", want: status200}}},
	{"7541-4.3-1 an update evicts the oldest", []step{{block: "4001610162 4001630164",
		want: []frame.Field{{Name: "a", Value: "b"}, {Name: "c", Value: "d"}}},
		{block: "3f24 be", want: []frame.Field{{Name: "c", Value: "d"}}}, // 67 octets hold one of the two
		{block: "bf", err: "invalid indexed representation index 63"}}},
	{"7541-4.3-1 the smaller of two updates evicts too", []step{{block: "4001610162", want: ab(1)},
		{block: "20 3fe11f be", err: "invalid indexed representation index 62"}}},
	{"7541-4.4-2 a field above the maximum empties the table", []step{
		{block: "4001610162" + literal(4064), want: append(ab(1),
			frame.Field{Name: "a", Value: strings.Repeat("v", 4064)})},
		{block: "be", err: "invalid indexed representation index 62"}}},
	{"7541-4.4-1 a field of exactly the maximum", []step{
		{block: "4001610162" + literal(4063), want: append(ab(1),
			frame.Field{Name: "a", Value: strings.Repeat("v", 4063)})},
		{block: "be", want: []frame.Field{{Name: "a", Value: strings.Repeat("v", 4063)}}}}},
	{"7541-4.4-3 the name of an entry that is evicted", []step{
		{block: "3f04 40026e6d0176", want: []frame.Field{{Name: "nm", Value: "v"}}}, // 35 octets
		{block: "7e0177 be", want: []frame.Field{{Name: "nm", Value: "w"}, {Name: "nm", Value: "w"}}}}},
	{"7541-5.1-1 ten octets 0x80", []step{{block: "ff 80808080808080808080 00", err: "an integer of too many octets"}}},
	{"7541-5.1-1 index 2^32", []step{{block: "ff 81ffffff0f", err: "an integer above 2^31-1"}}},
	{"7541-5.1-1 index 2^62", []step{{block: "ff 81ffffffffffffff3f", err: "an integer above 2^31-1"}}},
	{"7541-7.4-1 value length 2^31", []step{{block: "41 7f 81ffffff07", err: "an integer above 2^31-1"}}},
	{"7541-5.1-1 name length 2^31", []step{{block: "40 7f 81ffffff07", err: "an integer above 2^31-1"}}},
	{"7541-5.1-1 value length of six octets", []step{{block: "41 7f 808080808000", err: "an integer of too many octets"}}},
	{"7541-5.1-1 needless octets within the limit", []step{{block: "00 7f8080808000" + strings.Repeat("6e", 127) + "00",
		want: []frame.Field{{Name: strings.Repeat("n", 127)}}}}},
	{"7541-5.2-1 Huffman padding of an octet", []step{{block: "000161 82 1fff", err: "hpack: invalid Huffman"}}},
	{"7541-5.2-2 Huffman padding of zeros", []step{{block: "000161 81 18", err: "hpack: invalid Huffman"}}},
	{"7541-5.2-3 Huffman EOS", []step{{block: "000161 84 ffffffff", err: "hpack: invalid Huffman"}}},
	{"7541-5.2-4 empty strings", []step{{block: "000161 80 000161 00",
		want: []frame.Field{{Name: "a"}, {Name: "a"}}}}},
	{"7541-6.1-1 index 0", []step{{block: "80", err: "invalid indexed representation index 0"}}},
	{"7541-6.2-1 name index 0", []step{{block: "4001610162 0001610162 1001610162", want: append(ab(2),
		frame.Field{Name: "a", Value: "b", Sensitive: true})}}},
	{"7541-6.2.3-1 never indexed, indexed name", []step{{block: "1f110161", // 15+17: cookie
		want: []frame.Field{{Name: "cookie", Value: "a", Sensitive: true}}}}},
	{"7541-6.3-1 an update to the limit", []step{{block: "3fe11f 88", want: status200}}},
	{"7541-6.3-1 an update above the limit", []step{{block: "3fe21f", err: "a table size update above the limit"}}},
	{"7541-6.3-1 a raised limit", []step{{sizes: []uint32{65536}, block: "3fe1ff03 88", want: status200}}},
	{"7541-6.3-1 above a raised limit", []step{{sizes: []uint32{65536}, block: "3fe2ff03",
		err: "a table size update above the limit"}}},
	{"9113-4.3.1-4 the update that is due", []step{{sizes: []uint32{0}, block: "20 88", want: status200}}},
	{"9113-4.3.1-4 the update that is due is missing", []step{{sizes: []uint32{0}, block: "88",
		err: "no table size update after the table size was lowered"}}},
	{"9113-4.3.1-4 lowered and raised again", []step{{sizes: []uint32{0, 4096}, block: "20 3fe11f 88",
		want: status200}}},
	{"9113-4.3.1-4 the lowest is not signalled", []step{{sizes: []uint32{0, 4096}, block: "3fe11f 88",
		err: "a table size update above the size that the table was lowered to"}}},
	{"9113-4.3.1-4 lower than demanded", []step{{sizes: []uint32{100}, block: "20 88", want: status200}}},
	{"9113-4.3.1-4 not due when the size in use is lower", []step{{block: "20 88", want: status200},
		{sizes: []uint32{100}, block: "88", want: status200}}},
	{"9113-4.3.1-4 not due when raised", []step{{sizes: []uint32{8192}, block: "88", want: status200}}},
	{"9113-4.3.1-4 an empty block leaves it due", []step{{sizes: []uint32{0}}, {block: "88",
		err: "no table size update after the table size was lowered"}}},
	{"9113-4.3.1-4 due once", []step{{sizes: []uint32{0}, block: "20 88", want: status200},
		{block: "88", want: status200}}},
	{"7541-A-1 ends within an index", []step{{block: "ff", err: "the field block ends within a representation"}}},
	{"7541-A-1 ends within a size update", []step{{block: "3f", err: "the field block ends within a representation"}}},
	{"7541-A-1 ends before the value", []step{{block: "88 400161", want: status200,
		err: "the field block ends within a representation"}}},
}

func TestFieldDecoder(t *testing.T) {
	for _, tt := range decoderTests {
		for _, chunk := range []int{1, 2, math.MaxInt} {
			t.Run(tt.name, func(t *testing.T) {
				rows.Cover(t, tt.name)
				d := h2flow.NewFieldDecoder()
				for _, s := range tt.steps {
					for _, n := range s.sizes {
						d.SetMaxTableSize(n)
					}
					got, err := decodeBlock(d, unhex(t, s.block), chunk)
					if diff := cmp.Diff(s.want, got); diff != "" {
						t.Errorf("block %s in chunks of %d (-want +got)\n%s", s.block, chunk, diff)
					}
					wantCompressionError(t, s.err, err)
					if err == nil {
						continue
					}
					if again := d.Decode([]byte{0x88}, nil); again != err || d.EndBlock() != err {
						t.Errorf("the error is not final: %v", again)
					}
				}
			})
		}
	}
}

func wantCompressionError(t *testing.T, reason string, err error) {
	t.Helper()
	if reason == "" && err == nil {
		return
	}
	var fe *frame.Error
	if !errors.As(err, &fe) || fe.Code != frame.CompressionError || fe.Stream != 0 ||
		!strings.HasPrefix(strings.TrimPrefix(fe.Reason, "decoding error: "), reason) || reason == "" {
		t.Errorf("error %v, want a COMPRESSION_ERROR %q", err, reason)
	}
}

func TestFieldDecoderEmitStops(t *testing.T) {
	d := h2flow.NewFieldDecoder()
	calls := 0
	block := unhex(t, "88 4001610162 4001630164 0001650166")
	emit := func(frame.Field) bool { calls++; return calls < 2 }
	for _, c := range block {
		if err := d.Decode([]byte{c}, emit); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.EndBlock(); err != nil {
		t.Fatal(err)
	}
	if calls != 2 {
		t.Errorf("emit was called %d times, want 2", calls)
	}
	// The fields that nobody saw are in the table all the same, and the next block is emitted again.
	wantTable(t, d, []frame.Field{{Name: "c", Value: "d"}, {Name: "a", Value: "b"}})
}

func TestFieldDecoderHugeLengthAllocatesNothing(t *testing.T) {
	rows.Cover(t, "7541-7.4-1")
	d := h2flow.NewFieldDecoder()
	emit := func(frame.Field) bool { return true }
	if err := d.Decode([]byte{0x00}, emit); err != nil {
		t.Fatal(err)
	}
	// A name of 2^31-1 octets of which four arrive.
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := d.Decode([]byte{0x7f, 0x80, 0xff, 0xff, 0xff, 0x07, 'a', 'a', 'a', 'a'}, emit)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err != nil || n > 64<<10 {
		t.Errorf("%d octets allocated, error %v", n, err)
	}
	wantCompressionError(t, "the field block ends within a representation", d.EndBlock())
}

func TestFieldDecoderAllocatesNothingForIndexedFields(t *testing.T) {
	d := h2flow.NewFieldDecoder()
	emit := func(frame.Field) bool { return true }
	if _, err := decodeBlock(d, unhex(t, "4001610162"), 1); err != nil {
		t.Fatal(err)
	}
	block := unhex(t, "88 be 82 be")
	got := testing.AllocsPerRun(100, func() {
		if err := errors.Join(d.Decode(block, emit), d.EndBlock()); err != nil {
			t.Fatal(err)
		}
	})
	if got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
}

// Blocks that arrive in any chunks give the same fields and the same verdict, and none panics.
func FuzzFieldDecoder(f *testing.F) {
	for _, v := range appendixC {
		for _, b := range v.blocks {
			f.Add(unhex(f, b.wire), uint32(4096), 1)
		}
	}
	for _, tt := range decoderTests {
		for _, s := range tt.steps {
			f.Add(unhex(f, s.block), uint32(100), 3)
		}
	}
	f.Fuzz(func(t *testing.T, block []byte, size uint32, chunk int) {
		whole, pieces := h2flow.NewFieldDecoder(), h2flow.NewFieldDecoder()
		whole.SetMaxTableSize(size)
		pieces.SetMaxTableSize(size)
		for range 2 {
			want, wantErr := decodeBlock(whole, block, math.MaxInt)
			got, err := decodeBlock(pieces, block, max(1, chunk))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("(-whole +pieces)\n%s", diff)
			}
			if diff := cmp.Diff(wantErr, err); diff != "" {
				t.Fatalf("error (-whole +pieces)\n%s", diff)
			}
		}
	})
}
