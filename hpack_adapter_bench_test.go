package h2flow_test

import (
	"testing"

	"example.com/h2flow"
	"example.com/h2flow/frame"
)

// A request and a response of a kind that browsers and servers exchange.
var benchFields = map[string][]frame.Field{
	"request": {
		{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"},
		{Name: ":authority", Value: "www.example.com"}, {Name: ":path", Value: "/assets/app.js?v=17"},
		{Name: "accept-encoding", Value: "gzip"}, {Name: "user-agent", Value: "h2flow-bench/1.0"},
		{Name: "authorization", Value: "Bearer 0123456789abcdef", Sensitive: true},
	},
	"response": {
		{Name: ":status", Value: "200"}, {Name: "content-type", Value: "application/javascript"},
		{Name: "content-length", Value: "48213"}, {Name: "date", Value: "Mon, 21 Oct 2013 20:13:21 GMT"},
		{Name: "etag", Value: "\"5f3e-11aa\""}, {Name: "cache-control", Value: "max-age=3600"},
		{Name: "server", Value: "example"},
	},
}

func BenchmarkFieldEncoder(b *testing.B) {
	for name, fields := range benchFields {
		b.Run(name, func(b *testing.B) {
			e := h2flow.NewFieldEncoder(4096)
			var block []byte
			b.ReportAllocs()
			for b.Loop() {
				block = block[:0]
				for _, f := range fields {
					block = e.AppendField(block, f)
				}
			}
			b.ReportMetric(float64(len(block)), "octets/block")
		})
	}
}

func BenchmarkFieldDecoder(b *testing.B) {
	for name, fields := range benchFields {
		b.Run(name, func(b *testing.B) {
			e, d := h2flow.NewFieldEncoder(4096), h2flow.NewFieldDecoder()
			n := 0
			emit := func(f frame.Field) bool { n += len(f.Value); return true }
			// The first block fills the table; the second is what all the following look like.
			var block []byte
			for range 2 {
				block = encodeBlock(e, fields)
				if err := d.Decode(block, emit); err != nil {
					b.Fatal(err)
				}
				if err := d.EndBlock(); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(block)))
			b.ReportAllocs()
			for b.Loop() {
				if err := d.Decode(block, emit); err != nil {
					b.Fatal(err)
				}
				if err := d.EndBlock(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
