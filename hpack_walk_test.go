package h2flow

import (
	"testing"

	"example.com/h2flow/internal/rows"
)

// 7541-5.1-2: every prefix, every value from 0 to 2^16, with and without continuation.
func TestFieldWalkIntegers(t *testing.T) {
	rows.Cover(t, "7541-5.1-2")
	for _, form := range []struct {
		first byte
		bits  uint
	}{{0x80, 7}, {0x40, 6}, {0x20, 5}, {0x10, 4}, {0x00, 4}} {
		for v := range 1<<16 + 1 {
			limit := 1<<form.bits - 1
			p := []byte{form.first | byte(min(v, limit))}
			if rest := v - limit; rest >= 0 {
				for ; rest >= 0x80; rest >>= 7 {
					p = append(p, byte(rest)|0x80)
				}
				p = append(p, byte(rest))
			}
			var w fieldWalk
			complete := false
			for i, c := range p {
				if complete {
					t.Fatalf("first octet %#x, %d: complete after %d of %d octets", form.first, v, i, len(p))
				}
				var err error
				if complete, err = w.octet(c); err != nil {
					t.Fatalf("first octet %#x, %d: %v", form.first, v, err)
				}
			}
			if !complete || int(w.integer) != v {
				t.Fatalf("first octet %#x: got %d, complete %v, want %d", form.first, w.integer, complete, v)
			}
		}
	}
}
