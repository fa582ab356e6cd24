package strategy

import (
	"testing"
	"time"
)

// feed counts octets that come at a rate, in octets a millisecond, for so many milliseconds from ms on.
func feed(r *provenRate, ms, octets int64, times int) int64 {
	for range times {
		r.add(time.UnixMilli(ms), octets, 1<<20)
		ms++
	}
	return ms
}

func TestProvenRate(t *testing.T) {
	const span = 50 * time.Millisecond
	tests := []struct {
		name string
		feed func(r *provenRate, ms int64)
		want int64 // octets in a span
	}{
		{"nothing", func(*provenRate, int64) {}, 0},
		{"a steady rate", func(r *provenRate, ms int64) { feed(r, ms, 1000, 500) }, 50_000},
		{"one flight", func(r *provenRate, ms int64) { feed(r, ms, 1000, 10) }, 10_000},
		{"flights that double", func(r *provenRate, ms int64) {
			for i := range 6 {
				feed(r, ms+int64(i)*50, 1000, 1<<i)
			}
		}, 32_000},
		{"a higher rate", func(r *provenRate, ms int64) { feed(r, feed(r, ms, 1000, 500), 1250, 500) }, 62_500},
		{"a lower rate proves nothing", func(r *provenRate, ms int64) { feed(r, feed(r, ms, 1000, 500), 500, 500) }, 50_000},
		{"octets held up for two spans", func(r *provenRate, ms int64) {
			ms = feed(r, ms, 1000, 500) + 100
			r.add(time.UnixMilli(ms), 100_000, 1<<20)
			feed(r, ms+1, 1000, 500)
		}, 50_000},
		{"octets held up for a second, trickling out", func(r *provenRate, ms int64) {
			ms = feed(r, ms, 1000, 500)
			for range 50 {
				ms += 20
				r.add(time.UnixMilli(ms), 1448, 1<<20)
			}
			r.add(time.UnixMilli(ms), 900_000, 1<<20)
			feed(r, ms+1, 1000, 500)
		}, 50_000},
		{"no more than the window is held up", func(r *provenRate, ms int64) {
			ms = feed(r, ms, 1000, 500) + 60_000
			r.add(time.UnixMilli(ms), 1<<20, 1<<20)
		}, 50_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r provenRate
			r.setSpan(span)
			tt.feed(&r, 1_000_000)
			if got := r.rate(); got < tt.want-tt.want/20 || got > tt.want+tt.want/20 {
				t.Errorf("want %d octets in a span within 5 %%, got %d", tt.want, got)
			}
		})
	}
}

// What is known survives a better round-trip time.
func TestProvenRateScales(t *testing.T) {
	var r provenRate
	if _, ok := r.add(time.UnixMilli(1), 1000, 1<<20); ok || r.rate() != 0 {
		t.Error("octets count though no round trip is known")
	}
	r.setSpan(100 * time.Millisecond)
	feed(&r, 1_000_000, 1000, 500)
	r.setSpan(25 * time.Millisecond)
	if got := r.rate(); got < 24_000 || got > 26_000 {
		t.Errorf("want about 25000 octets in 25 ms, got %d", got)
	}
}

// Trains of octets tell the rate of the bottleneck, also while the server waits most of the time; what came before the
// first measurement of a train does not count.
func TestProvenRatePeak(t *testing.T) {
	var r provenRate
	r.setSpan(100 * time.Millisecond)
	for i := range int64(4) {
		feed(&r, 1_000_000+i*100, 100_000, 20)
	}
	if got := r.peak; got < 8_000_000 || got > 10_000_000 {
		t.Errorf("want about 10000000 octets in 100 ms and no more, got %d", got)
	}
}
