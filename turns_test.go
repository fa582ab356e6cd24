package h2flow_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/h2flow"
)

// TestReadersAndWritersTakeTurns has several goroutines read and several write one stream. What each gets or sends is
// for them to sort out, but no octet is lost, and everybody returns.
func TestReadersAndWritersTakeTurns(t *testing.T) {
	const goroutines, writes, size = 4, 50, 5000
	everyWay(t, func(t *testing.T, dial func(*h2flow.Config) *h2flow.ClientConn, cfg h2flow.Config) {
		s, err := dial(&cfg).OpenStream(context.Background(), &h2flow.Request{Method: "POST", Scheme: "http", Authority: "x", Path: "/echo"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var total atomic.Int64
		var readers, writers sync.WaitGroup
		for range goroutines {
			readers.Go(func() {
				buf := make([]byte, 1000)
				for {
					n, err := s.Read(buf)
					total.Add(int64(n))
					if err != nil {
						return
					}
				}
			})
			writers.Go(func() {
				for range writes {
					if n, err := s.Write(make([]byte, size)); n != size || err != nil {
						t.Error(n, err)
					}
				}
			})
		}
		writers.Wait()
		if err := s.CloseWrite(); err != nil {
			t.Error(err)
		}
		readers.Wait()
		if total.Load() != goroutines*writes*size {
			t.Errorf("the readers got %d octets of %d", total.Load(), goroutines*writes*size)
		}
	})
}

// TestCloseEndsAllWhoWait has a second reader and a second writer wait for their turns when the stream is closed.
func TestCloseEndsAllWhoWait(t *testing.T) {
	everyWay(t, func(t *testing.T, dial func(*h2flow.Config) *h2flow.ClientConn, cfg h2flow.Config) {
		s, err := dial(&cfg).OpenStream(context.Background(), &h2flow.Request{Method: "POST", Scheme: "http", Authority: "x", Path: "/echo"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.ReadHead(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for buf := make([]byte, 1); ; {
					if _, err := s.Read(buf); err != nil {
						if !errors.Is(err, h2flow.ErrStreamClosed) {
							t.Error(err)
						}
						return
					}
					s.Close()
				}
			})
			all.Go(func() {
				if _, err := s.Write(make([]byte, 100<<20)); !errors.Is(err, h2flow.ErrStreamClosed) {
					t.Error(err)
				}
				s.CloseWrite()
			})
		}
		all.Wait()
	})
}
