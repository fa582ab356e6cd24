package httpbench

import (
	"fmt"
	"runtime"
	"testing"
)

// concurrency is how many requests ParallelGet has under way.
const concurrency = 32

// Bodies, in octets.
const (
	smallBody = 1 << 10
	largeBody = 16 << 20
)

// Get measures a GET of 1 KiB on a connection that is open.
func Get(b *testing.B, open func(base string) (Client, error)) {
	compare(b, open, smallBody, func(b *testing.B, c Client) {
		buf := make([]byte, BodyBuffer)
		for b.Loop() {
			get(b, c, smallBody, buf)
		}
	})
}

// ParallelGet measures GETs of 1 KiB, 32 at once.
func ParallelGet(b *testing.B, open func(base string) (Client, error)) {
	compare(b, open, smallBody, func(b *testing.B, c Client) {
		b.SetParallelism(max(concurrency/runtime.GOMAXPROCS(0), 1))
		b.RunParallel(func(pb *testing.PB) {
			for buf := make([]byte, BodyBuffer); pb.Next(); {
				get(b, c, smallBody, buf)
			}
		})
	})
}

// Download measures GETs of 16 MiB, one at a time.
func Download(b *testing.B, open func(base string) (Client, error)) {
	compare(b, open, largeBody, func(b *testing.B, c Client) {
		buf := make([]byte, BodyBuffer)
		for b.Loop() {
			get(b, c, largeBody, buf)
		}
	})
}

// Upload measures POSTs of 16 MiB, one at a time.
func Upload(b *testing.B, open func(base string) (Client, error)) {
	compare(b, open, largeBody, func(b *testing.B, c Client) {
		buf := make([]byte, BodyBuffer)
		for b.Loop() {
			if err := c.Post("/0", largeBody, buf); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// compare runs a benchmark for the client that open returns, and for net/http's. Each has done one request before.
func compare(b *testing.B, open func(base string) (Client, error), size int64, run func(*testing.B, Client)) {
	base := startServer(b)
	for _, client := range []struct {
		name string
		open func(base string) (Client, error)
	}{
		{"h2flow", open},
		{"net/http-http1", func(base string) (Client, error) { return netHTTP(base, false), nil }},
		{"net/http-h2", func(base string) (Client, error) { return netHTTP(base, true), nil }},
	} {
		b.Run("client="+client.name, func(b *testing.B) {
			c, err := client.open(base)
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			get(b, c, smallBody, make([]byte, BodyBuffer))
			b.SetBytes(size)
			b.ReportAllocs()
			b.ResetTimer()
			run(b, c)
		})
	}
}

// get does one GET of size octets. It may be called from goroutines of the benchmark, so it does not end it.
func get(b *testing.B, c Client, size int64, buf []byte) {
	n, err := c.Get(fmt.Sprint("/", size), buf)
	if err != nil || n != size {
		b.Errorf("%d octets of %d came: %v", n, size, err)
	}
}
