package h2flow_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/rows"
	"github.com/google/go-cmp/cmp"
)

func TestFieldEncoderTableSize(t *testing.T) {
	rows.Cover(t, "7541-4.2-2", "7541-4.2-3", "9113-4.3.1-3", "7541-4.2-1")
	custom := frame.Field{Name: "a", Value: "b"}
	tests := []struct {
		name  string
		cap   uint32
		sizes []uint32
		want  string // the first block, of custom and :status 200
		again string // the second
	}{
		{"nothing changes", 4096, nil, "4001610162 88", "be 88"},
		{"7541-4.2-2 lowered to 0", 4096, []uint32{0}, "20 0001610162 88", "0001610162 88"},
		{"7541-4.2-3 0, 64, 4096", 4096, []uint32{0, 64, 4096}, "20 3fe11f 4001610162 88", "be 88"},
		{"7541-4.2-3 falling", 4096, []uint32{100, 0}, "20 0001610162 88", "0001610162 88"},
		{"7541-4.2-3 4096, 0, 4096", 4096, []uint32{4096, 0, 4096}, "20 3fe11f 4001610162 88", "be 88"},
		{"9113-4.3.1-3 lowered", 4096, []uint32{100}, "3f45 4001610162 88", "be 88"},
		{"raised above our own limit", 4096, []uint32{math.MaxUint32}, "4001610162 88", "be 88"},
		{"raised to our own limit", 65536, []uint32{math.MaxUint32}, "3fe1ff03 4001610162 88", "be 88"},
		{"7541-4.2-1 our own limit does not count before the peer's", 65536, nil, "4001610162 88", "be 88"},
		{"own limit below the default", 100, nil, "3f45 4001610162 88", "be 88"},
		{"own limit and a larger value", 100, []uint32{math.MaxUint32}, "3f45 4001610162 88", "be 88"},
		{"no table", 0, []uint32{math.MaxUint32}, "20 0001610162 88", "0001610162 88"},
		{"an entry larger than the table", 33, nil, "3f02 0001610162 88", "0001610162 88"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := h2flow.NewFieldEncoder(tt.cap)
			for _, n := range tt.sizes {
				e.SetMaxTableSize(n)
			}
			for _, want := range []string{tt.want, tt.again} {
				block := encodeBlock(e, []frame.Field{custom, status200[0]})
				if diff := cmp.Diff(strings.ReplaceAll(want, " ", ""), hex.EncodeToString(block)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
}

func TestFieldEncoderShrinksBetweenBlocks(t *testing.T) {
	e, d := h2flow.NewFieldEncoder(4096), h2flow.NewFieldDecoder()
	fields := []frame.Field{{Name: "a", Value: "b"}, {Name: "c", Value: "d"}, {Name: "e", Value: "f"}}
	for _, n := range []uint32{4096, 70, 0, 35, 4096, 102, 101} {
		e.SetMaxTableSize(n)
		d.SetMaxTableSize(n)
		for range 3 {
			got, err := decodeBlock(d, encodeBlock(e, fields), 1)
			if err != nil {
				t.Fatalf("table of %d: %v", n, err)
			}
			if diff := cmp.Diff(fields, got); diff != "" {
				t.Errorf("table of %d (-want +got)\n%s", n, diff)
			}
		}
	}
}

func TestFieldEncoderSensitive(t *testing.T) {
	rows.Cover(t, "7541-7.1.3-1")
	e := h2flow.NewFieldEncoder(4096)
	secret := frame.Field{Name: "a", Value: "b", Sensitive: true}
	// 7541-7.1.3-1: never indexed, and again a literal the second time.
	for range 2 {
		if got := hex.EncodeToString(e.AppendField(nil, secret)); got != "1001610162" {
			t.Errorf("encoded as %s, want 1001610162", got)
		}
	}
}

func TestFieldEncoderAllocatesNothingPerField(t *testing.T) {
	e := h2flow.NewFieldEncoder(4096)
	fields := []frame.Field{
		{Name: ":method", Value: "GET"}, {Name: "cookie", Value: "abc", Sensitive: true}, {Name: "a", Value: "b"},
	}
	buf := make([]byte, 0, 1024)
	got := testing.AllocsPerRun(100, func() {
		for _, f := range fields {
			buf = e.AppendField(buf[:0], f)
		}
	})
	if got != 0 {
		t.Errorf("%v allocations for a block of fields that are in the table or never enter it, want 0", got)
	}
}

// The static table of RFC 7541, Appendix A.
var staticTable = [...]frame.Field{
	{Name: ":authority"}, {Name: ":method", Value: "GET"}, {Name: ":method", Value: "POST"},
	{Name: ":path", Value: "/"}, {Name: ":path", Value: "/index.html"}, {Name: ":scheme", Value: "http"},
	{Name: ":scheme", Value: "https"}, {Name: ":status", Value: "200"}, {Name: ":status", Value: "204"},
	{Name: ":status", Value: "206"}, {Name: ":status", Value: "304"}, {Name: ":status", Value: "400"},
	{Name: ":status", Value: "404"}, {Name: ":status", Value: "500"}, {Name: "accept-charset"},
	{Name: "accept-encoding", Value: "gzip, deflate"}, {Name: "accept-language"}, {Name: "accept-ranges"},
	{Name: "accept"}, {Name: "access-control-allow-origin"}, {Name: "age"}, {Name: "allow"}, {Name: "authorization"},
	{Name: "cache-control"}, {Name: "content-disposition"}, {Name: "content-encoding"}, {Name: "content-language"},
	{Name: "content-length"}, {Name: "content-location"}, {Name: "content-range"}, {Name: "content-type"},
	{Name: "cookie"}, {Name: "date"}, {Name: "etag"}, {Name: "expect"}, {Name: "expires"}, {Name: "from"},
	{Name: "host"}, {Name: "if-match"}, {Name: "if-modified-since"}, {Name: "if-none-match"}, {Name: "if-range"},
	{Name: "if-unmodified-since"}, {Name: "last-modified"}, {Name: "link"}, {Name: "location"},
	{Name: "max-forwards"}, {Name: "proxy-authenticate"}, {Name: "proxy-authorization"}, {Name: "range"},
	{Name: "referer"}, {Name: "refresh"}, {Name: "retry-after"}, {Name: "server"}, {Name: "set-cookie"},
	{Name: "strict-transport-security"}, {Name: "transfer-encoding"}, {Name: "user-agent"}, {Name: "vary"},
	{Name: "via"}, {Name: "www-authenticate"},
}

// 7541-2.3.1-1: the static table, both ways.
func TestStaticTable(t *testing.T) {
	rows.Cover(t, "7541-2.3.1-1")
	var block []byte
	for i := range staticTable {
		block = append(block, 0x80|byte(i+1))
	}
	got, err := decodeBlock(h2flow.NewFieldDecoder(), block, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(staticTable[:], got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(block, encodeBlock(h2flow.NewFieldEncoder(4096), staticTable[:])); diff != "" {
		t.Errorf("encoded (-want +got)\n%s", diff)
	}
}

// 7541-2.2-1: what one direction puts into its table does not show in the other.
func TestTablesAreIndependent(t *testing.T) {
	rows.Cover(t, "7541-2.2-1")
	e, d := h2flow.NewFieldEncoder(4096), h2flow.NewFieldDecoder()
	e.AppendField(nil, frame.Field{Name: "a", Value: "b"})
	wantNoEntry(t, d, 0)
}

func ExampleNewFieldEncoder() {
	enc, dec := h2flow.NewFieldEncoder(4096), h2flow.NewFieldDecoder()
	for range 2 {
		block := enc.AppendField(nil, frame.Field{Name: "user-agent", Value: "example"})
		fmt.Printf("%x\n", block)
		err := dec.Decode(block, func(f frame.Field) bool {
			fmt.Println(f.Name, f.Value)
			return true
		})
		if err == nil {
			err = dec.EndBlock()
		}
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 7a852f91d35d05
	// user-agent example
	// be
	// user-agent example
}
