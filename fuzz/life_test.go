package fuzz

import (
	"testing"
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/flow/flowtest"
	"example.com/h2flow/internal/hostile"
	"example.com/h2flow/strategy"
)

// FuzzConnFrames: the input decides the life of a connection, what a server says right and wrong, what a user does, how
// time goes on and how the transport behaves; every law of package hostile holds.
func FuzzConnFrames(f *testing.F) {
	f.Add([]byte(nil))
	for seed := range 24 {
		octets := make([]byte, 400)
		choose := hostile.Seed(uint64(seed))
		for i := range octets {
			octets[i] = byte(choose.IntN(256))
		}
		f.Add(octets)
	}
	f.Fuzz(func(t *testing.T, octets []byte) {
		if report := hostile.Run(hostile.Octets(octets), hostile.NewTally()); report.Err != nil {
			t.Errorf("%v\n%s", report.Err, hostile.Tell(hostile.Octets(octets), hostile.NewTally()).Transcript())
		}
	})
}

// strategies are those that FuzzStrategy tries.
var strategies = []flow.Config{strategy.BDP{}, strategy.Threshold{}, strategy.Fixed{}}

// FuzzStrategy: under any path, any sizes and any life, a strategy never breaks a law of the windows, and what it is to
// deliver arrives.
func FuzzStrategy(f *testing.F) {
	for i := range strategies {
		f.Add(uint8(i), uint16(20), uint32(1_000_000), uint32(1<<20), uint32(5000), []byte("a life"))
		f.Add(uint8(i), uint16(300), uint32(100_000_000), uint32(3<<20), uint32(0), []byte{0, 5, 200, 17})
	}
	f.Fuzz(func(t *testing.T, which uint8, rtt uint16, rate, a, b uint32, life []byte) {
		cfg := strategies[int(which)%len(strategies)]
		path := flowtest.Path{RTT: time.Duration(rtt%2000+1) * time.Millisecond, Rate: int64(rate%200_000_000) + 10_000}
		if _, err := flowtest.Download(cfg, path, int64(a%(4<<20)), int64(b%(1<<20))); err != nil {
			t.Errorf("%v over %+v: %v", cfg, path, err)
		}
		if report := hostile.RunStrategy(hostile.Octets(life), hostile.NewTally(), cfg); report.Err != nil {
			t.Errorf("%v: %v", cfg, report.Err)
		}
	})
}
