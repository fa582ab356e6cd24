package pipe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow/internal/pipe"
)

func Example() {
	client, server := pipe.New(pipe.Link{RTT: 2 * time.Millisecond})
	go func() {
		defer client.Close()
		fmt.Fprint(client, "hello")
	}()
	got, err := io.ReadAll(server)
	fmt.Printf("%s %v\n", got, err)
	// Output: hello <nil>
}

// bubble runs f in virtual time and hands it a clock that starts at zero.
func bubble(t *testing.T, f func(t *testing.T, elapsed func() time.Duration)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f(t, func() time.Duration { return time.Since(start) })
	})
}

// send writes n octets in a goroutine of its own and then ends that direction.
func send(t *testing.T, c *pipe.Conn, n int) {
	go func() {
		if m, err := c.Write(make([]byte, n)); m != n || err != nil {
			t.Errorf("wrote %d of %d octets: %v", m, n, err)
		}
		_ = c.CloseWrite()
	}()
}

func TestDelay(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		client, server := pipe.New(pipe.Link{RTT: 50 * time.Millisecond})
		go func() {
			buf := make([]byte, 10)
			n, _ := server.Read(buf)
			_, _ = server.Write(buf[:n])
			_ = server.Close()
		}()
		if _, err := client.Write([]byte("ping")); err != nil || elapsed() != 0 {
			t.Errorf("Write took %v, %v", elapsed(), err)
		}
		got, err := io.ReadAll(client)
		if string(got) != "ping" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if elapsed() != 50*time.Millisecond {
			t.Errorf("the round trip took %v, want 50ms", elapsed())
		}
	})
}

func TestRate(t *testing.T) {
	for _, tt := range []struct {
		name string
		link pipe.Link
		size int
		want time.Duration
	}{
		// 10 MiB at 100 Mbit/s are 838.86 ms, and the delay comes on top once.
		{"fast", pipe.Link{RTT: 50 * time.Millisecond, Rate: 100e6}, 10 << 20, 863860800 * time.Nanosecond},
		{"small queue", pipe.Link{RTT: 50 * time.Millisecond, Rate: 100e6, Queue: 32 << 10}, 10 << 20, 863860800},
		{"long path", pipe.Link{RTT: 600 * time.Millisecond, Rate: 100e6}, 10 << 20, 1138860800},
		{"slow", pipe.Link{Rate: 64e3}, 80000, 10 * time.Second},
		{"no delay", pipe.Link{Rate: 1e9}, 10 << 20, 83886080},
	} {
		t.Run(tt.name, func(t *testing.T) {
			began := time.Now()
			bubble(t, func(t *testing.T, elapsed func() time.Duration) {
				client, server := pipe.New(tt.link)
				send(t, server, tt.size)
				n, err := io.Copy(io.Discard, client)
				if n != int64(tt.size) || err != nil {
					t.Errorf("%d octets, %v", n, err)
				}
				if got := elapsed(); got < tt.want*99/100 || got > tt.want*101/100 {
					t.Errorf("took %v, want %v within 1%%", got, tt.want)
				}
				if s := server.Stats(); s != (pipe.Stats{Sent: int64(tt.size)}) {
					t.Errorf("the writer counts %+v", s)
				}
				if s := client.Stats(); s != (pipe.Stats{Received: int64(tt.size)}) {
					t.Errorf("the reader counts %+v", s)
				}
			})
			t.Logf("%v of real time", time.Since(began))
		})
	}
}

func TestSmallWritesKeepTheRate(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		client, server := pipe.New(pipe.Link{Rate: 8e6}) // an octet in a microsecond
		go func() {
			for range 10000 {
				_, _ = client.Write(make([]byte, 9))
			}
			_ = client.Close()
		}()
		n, err := io.Copy(io.Discard, server)
		if n != 90000 || err != nil || elapsed() != 90*time.Millisecond {
			t.Errorf("%d octets in %v, %v; want 90000 in 90ms", n, elapsed(), err)
		}
	})
}

// Every octet arrives once and in order, whatever the sizes of writes and reads.
func TestContent(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		client, server := pipe.New(pipe.Link{RTT: time.Millisecond, Rate: 50e6, Queue: 5000})
		want := make([]byte, 300_000)
		for i := range want {
			want[i] = byte(i * 7 >> 3)
		}
		go func() {
			for rest, k := want, 1; len(rest) > 0; k = k*3%9001 + 1 {
				n, err := client.Write(rest[:min(k, len(rest))])
				if err != nil {
					t.Error(err)
				}
				rest = rest[n:]
			}
			_ = client.Close()
		}()
		var got []byte
		buf := make([]byte, 1000)
		for k := 1; ; k = k*5%997 + 1 {
			n, err := server.Read(buf[:k])
			got = append(got, buf[:n]...)
			if err != nil {
				break
			}
		}
		if !bytes.Equal(want, got) {
			t.Errorf("%d octets arrived, or in another order, of %d", len(got), len(want))
		}
	})
}

func TestFullQueueBlocks(t *testing.T) {
	for _, rate := range []int64{0, 1e6} {
		bubble(t, func(t *testing.T, elapsed func() time.Duration) {
			client, server := pipe.New(pipe.Link{RTT: 10 * time.Millisecond, Rate: rate, Queue: 10000})
			_ = client.SetWriteDeadline(time.Now().Add(time.Minute))
			n, err := client.Write(make([]byte, 1<<20))
			if !errors.Is(err, os.ErrDeadlineExceeded) || elapsed() != time.Minute {
				t.Errorf("rate %d: %v after %v", rate, err, elapsed())
			}
			// With a rate, what travels does not count: 5 ms at 1 Mbit/s are 625 octets.
			if s := client.Stats(); n < 10000 || n > 12000 || s.Sent != int64(n) || s.Waiting != int64(n) {
				t.Errorf("rate %d: wrote %d octets without a reader, counted %+v", rate, n, s)
			}
			_ = client.Close()
			if m, err := io.Copy(io.Discard, server); m != int64(n) || err != nil {
				t.Errorf("rate %d: %d octets arrived of %d: %v", rate, m, n, err)
			}
		})
	}
}

func TestReadDeadline(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		client, server := pipe.New(pipe.Link{RTT: 20 * time.Millisecond})
		buf := make([]byte, 10)

		_ = client.SetReadDeadline(time.Now().Add(3 * time.Second))
		n, err := client.Read(buf)
		var ne net.Error
		if n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &ne) || !ne.Timeout() {
			t.Errorf("got %d, %v", n, err)
		}
		if elapsed() != 3*time.Second {
			t.Errorf("the deadline ended Read after %v, want 3s", elapsed())
		}

		// A deadline in the past wakes a Read that is blocked without one.
		_ = client.SetReadDeadline(time.Time{})
		done := make(chan error)
		go func() {
			_, err := client.Read(buf)
			done <- err
		}()
		synctest.Wait()
		_, _ = server.Write([]byte("abc"))
		_ = client.SetReadDeadline(time.Unix(1, 0))
		if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		time.Sleep(time.Second)
		if n, err := client.Read(buf); n != 0 || err == nil {
			t.Errorf("a deadline in the past let %d octets through, %v", n, err)
		}

		// And nothing was lost.
		_ = client.SetReadDeadline(time.Time{})
		if n, err := client.Read(buf); string(buf[:n]) != "abc" || err != nil {
			t.Errorf("got %q, %v", buf[:n], err)
		}
	})
}

func TestWriteDeadlineIsPartial(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		client, server := pipe.New(pipe.Link{Rate: 8e6, Queue: 1000})
		server.PauseReads()
		done := make(chan int)
		for range 2 { // the second waits for the first
			go func() {
				n, err := client.Write(make([]byte, 5000))
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Error(err)
				}
				done <- n
			}()
		}
		synctest.Wait()
		time.Sleep(time.Second)
		_ = client.SetWriteDeadline(time.Unix(1, 0))
		n := <-done + <-done
		_ = client.Close()
		server.ResumeReads()
		if m, err := io.Copy(io.Discard, server); m != int64(n) || n < 1000 || n >= 5000 || err != nil {
			t.Errorf("%d octets arrived, Write said %d, %v", m, n, err)
		}
	})
}

func TestNoDeadlines(t *testing.T) {
	client, _ := pipe.New(pipe.Link{NoDeadlines: true})
	for _, f := range []func(time.Time) error{client.SetDeadline, client.SetReadDeadline, client.SetWriteDeadline} {
		if err := f(time.Unix(1, 0)); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("got %v", err)
		}
	}
	if n, err := client.Write([]byte("a")); n != 1 || err != nil {
		t.Errorf("Write after a refused deadline: %d, %v", n, err)
	}
}

func TestCloseWrite(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		client, server := pipe.New(pipe.Link{RTT: 10 * time.Millisecond, Rate: 8e6})
		_, _ = client.Write(make([]byte, 5000)) // 5 ms
		_ = client.CloseWrite()
		if _, err := client.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("Write after CloseWrite: %v", err)
		}
		if n, err := io.Copy(io.Discard, server); n != 5000 || err != nil || elapsed() != 10*time.Millisecond {
			t.Errorf("%d octets, %v, after %v", n, err, elapsed())
		}
		// The other direction goes on.
		_, _ = server.Write([]byte("answer"))
		_ = server.Close()
		if got, err := io.ReadAll(client); string(got) != "answer" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestCloseEndsBlockedCalls(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		client, server := pipe.New(pipe.Link{Queue: 100})
		read, write := make(chan error), make(chan error)
		var n int
		go func() { _, err := client.Read(make([]byte, 1)); read <- err }()
		go func() { m, err := client.Write(make([]byte, 1000)); n = m; write <- err }()
		synctest.Wait()
		_ = client.Close()
		if err := <-read; !errors.Is(err, net.ErrClosed) {
			t.Errorf("Read: %v", err)
		}
		if err := <-write; !errors.Is(err, net.ErrClosed) || n != 100 {
			t.Errorf("Write: %d, %v", n, err)
		}
		if err := client.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
		if m, err := io.Copy(io.Discard, server); m != 100 || err != nil {
			t.Errorf("%d octets arrived, %v; Write said %d", m, err, n)
		}
	})
}

func TestWriteToClosedEnd(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		client, server := pipe.New(pipe.Link{RTT: 20 * time.Millisecond, Queue: 100})
		blocked := make(chan error)
		go func() { _, err := client.Write(make([]byte, 1000)); blocked <- err }()
		synctest.Wait()
		_ = server.Close()
		// Until the news is there, octets vanish.
		if err := <-blocked; err != nil || elapsed() != 0 {
			t.Errorf("Write in the meantime: %v after %v", err, elapsed())
		}
		time.Sleep(10 * time.Millisecond)
		if _, err := client.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("Write to a closed end: %v", err)
		}
		if _, err := client.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("Read from a closed end: %v", err)
		}
	})
}

func TestAbort(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		client, server := pipe.New(pipe.Link{RTT: 20 * time.Millisecond, Queue: 100})
		read, write := make(chan error), make(chan error)
		go func() { _, err := client.Read(make([]byte, 1)); read <- err }()
		server.PauseReads()
		go func() { _, err := client.Write(make([]byte, 200)); write <- err }()
		synctest.Wait()
		server.Abort()
		// The reader of server is gone, so that the blocked Write has room at once.
		if err := <-write; err != nil {
			t.Errorf("Write: %v", err)
		}
		if err := <-read; !errors.Is(err, syscall.ECONNRESET) || elapsed() != 10*time.Millisecond {
			t.Errorf("Read: %v after %v", err, elapsed())
		}
		if _, err := client.Write([]byte("x")); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("Write after the reset: %v", err)
		}
		if _, err := server.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Read on the aborted end: %v", err)
		}
	})
}

func TestPauseWrites(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		client, server := pipe.New(pipe.Link{RTT: 20 * time.Millisecond})
		client.PauseWrites()
		if n, err := client.Write([]byte("abc")); n != 3 || err != nil {
			t.Fatal(n, err)
		}
		_ = client.CloseWrite()
		time.AfterFunc(time.Hour, client.ResumeWrites)
		got, err := io.ReadAll(server)
		if string(got) != "abc" || err != nil || elapsed() != time.Hour {
			t.Errorf("got %q, %v after %v", got, err, elapsed())
		}
	})
}

func TestRealTime(t *testing.T) {
	client, server := pipe.New(pipe.Link{RTT: 10 * time.Millisecond, Rate: 800e6})
	start := time.Now()
	send(t, server, 1<<20) // 10.5 ms
	n, err := io.Copy(io.Discard, client)
	if d := time.Since(start); n != 1<<20 || err != nil || d < 15*time.Millisecond {
		t.Errorf("%d octets in %v, %v; want at least 15ms", n, d, err)
	}
}

func TestListenerServesHTTP(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		l := pipe.Listen(pipe.Link{RTT: 100 * time.Millisecond})
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
		})}
		served := make(chan error)
		go func() { served <- srv.Serve(l) }()
		rt := &http.Transport{DialContext: l.DialContext}
		client := &http.Client{Transport: rt}
		for i := range 3 {
			res, err := client.Post("http://a.example/", "", bytes.NewReader([]byte("hello")))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if string(got) != "hello" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			if want := time.Duration(i+1) * 100 * time.Millisecond; elapsed() != want {
				t.Errorf("%d exchanges took %v, want %v", i+1, elapsed(), want)
			}
		}
		rt.CloseIdleConnections()
		_ = srv.Close()
		if err := <-served; err != http.ErrServerClosed {
			t.Error(err)
		}
		if _, err := l.Dial(); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("Dial after Close: %v", err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Accept after Close: %v", err)
		}
	})
}

func TestDialWhileNobodyAccepts(t *testing.T) {
	bubble(t, func(t *testing.T, elapsed func() time.Duration) {
		l := pipe.Listen(pipe.Link{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		dialled := 0
		var last error
		var first net.Conn
		for last == nil {
			var c net.Conn
			if c, last = l.DialContext(ctx, "", ""); last == nil {
				if dialled++; first == nil {
					first = c
				}
			}
		}
		if !errors.Is(last, context.DeadlineExceeded) || elapsed() != time.Second || dialled != 128 {
			t.Errorf("%d connections, then %v after %v", dialled, last, elapsed())
		}
		_ = l.Close()
		if _, err := first.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("a connection that nobody accepted: %v", err)
		}
	})
}
