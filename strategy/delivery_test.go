package strategy

import (
	"testing"
	"time"
)

var begin = time.Unix(1000, 0)

// steady feeds octets each millisecond from one time to another.
func steady(d *delivery, from, to time.Duration, octets int64) {
	for at := from; at < to; at += time.Millisecond {
		d.add(begin.Add(at), octets)
	}
}

func TestDeliverySum(t *testing.T) {
	var d delivery
	d.add(begin, 1000)
	if d.sum != 0 {
		t.Errorf("nothing is counted before the round-trip time is known, got %d", d.sum)
	}
	d.setSpan(80 * time.Millisecond)
	steady(&d, 0, time.Second, 100)
	if d.sum < 70*100 || d.sum > 80*100 {
		t.Errorf("100 octets each millisecond are 7,000 to 8,000 in 80 ms with slices of 10 ms, got %d", d.sum)
	}
	if got := d.peak(); got != 80*100 {
		t.Errorf("peak: want 8000, got %d", got)
	}
	d.add(begin.Add(2*time.Second), 1)
	if d.sum != 1 {
		t.Errorf("after a second of silence only the last octet counts, got %d", d.sum)
	}
}

// A server that waits for window half the time is seen at the rate of the path.
func TestDeliveryPeakSeesThroughPauses(t *testing.T) {
	var d delivery
	d.setSpan(80 * time.Millisecond)
	steady(&d, 0, 30*time.Millisecond, 1000)
	if d.sum != 30_000 {
		t.Errorf("sum: want 30000, got %d", d.sum)
	}
	if got := d.peak(); got != 80_000 {
		t.Errorf("1,000 octets a millisecond: want 80000, got %d", got)
	}
}

// Octets that were held up come all at once. They say nothing about a path that was seen to flow steadily.
func TestDeliveryDiscountsBursts(t *testing.T) {
	var d delivery
	d.setSpan(80 * time.Millisecond)
	steady(&d, 0, time.Second, 1000)
	// A lost segment: a round trip and a half of silence, then everything that the window allowed.
	at := 1120 * time.Millisecond
	for range 160 {
		d.add(begin.Add(at), 1000)
	}
	if d.sum > 30_000 {
		t.Errorf("160,000 octets at once after a steady 10,000 a slice count for 30,000 at most, got %d", d.sum)
	}
	// A path that really became faster is believed in time.
	steady(&d, 1200*time.Millisecond, 3*time.Second, 8000)
	if d.sum < 7*80_000 {
		t.Errorf("8,000 octets a millisecond are 560,000 and more in 80 ms, got %d", d.sum)
	}
}
