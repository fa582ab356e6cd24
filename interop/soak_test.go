package interop

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/h2flow/h2http"
)

const (
	soakTime  = 10 * time.Minute
	dipTime   = time.Second
	soakLooks = 10
)

// Ten minutes of everything at once, downloads, uploads, small requests, responses left unread, cancelled requests, and
// restarts, meant for -race. Nothing fails that was not cancelled, and nothing grows. Without H2FLOW_LONG it is a second.
func TestSoak(t *testing.T) {
	length := dipTime
	if long() {
		length = soakTime
	}
	o := newOrigin(t)
	p := newPhoenix(t, o, o.handler())
	transport := &h2http.Transport{TLSClientConfig: o.trust, Policy: h2http.MostConns{}, MaxConnsPerHost: 4}
	s := &soak{origin: o, transfer: roundTrip(transport, target{scheme: "https", addr: p.addr})}
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	restarting := make(chan int)
	go func() { restarting <- p.restartEvery(ctx, max(length/60, 300*time.Millisecond)) }()
	var flat flatness
	var wg sync.WaitGroup
	for _, kind := range []func(context.Context) error{
		s.download, s.upload, s.small, s.small, s.small, s.small, s.abandon, s.cancel,
	} {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := kind(t.Context()); err != nil {
					t.Error(err)
				}
				s.done.Add(1)
			}
		})
	}
	for tick := time.NewTicker(length / (soakLooks + 1)); len(flat.heap) < soakLooks; <-tick.C {
		flat.look()
	}
	wg.Wait()
	t.Logf("%d transfers, %d restarts", s.done.Load(), <-restarting)
	flat.check(t, 4*uploadSize) // bodies that are on their way
	transport.CloseIdleConnections()
}

// A soak makes transfers of each kind.
type soak struct {
	origin   *origin
	transfer transfer
	done     atomic.Int64
}

var errSoak = errors.New("other octets than were sent")

func (s *soak) download(ctx context.Context) error {
	got, err := download(ctx, s.transfer)
	if err == nil && got != s.origin.download {
		err = errSoak
	}
	return err
}

func (s *soak) small(ctx context.Context) error {
	return s.transfer(ctx, smallPath, nil, 0, func(body io.Reader) error {
		got, err := digestOf(body)
		if err == nil && got != s.origin.small {
			err = errSoak
		}
		return err
	})
}

func (s *soak) upload(ctx context.Context) error {
	sent := octets(uploadSize, 4)
	want, err := digestOf(bytes.NewReader(sent))
	if err != nil {
		return err
	}
	return s.transfer(ctx, uploadPath, bytes.NewReader(sent), uploadSize, func(body io.Reader) error {
		got, err := io.ReadAll(body)
		if err == nil && string(got) != want.SHA256 {
			err = errSoak
		}
		return err
	})
}

// abandon reads the first octets of a response and no more.
func (s *soak) abandon(ctx context.Context) error {
	return s.transfer(ctx, downloadPath, nil, 0, func(body io.Reader) error {
		_, err := io.CopyN(io.Discard, body, 100_000)
		return err
	})
}

// cancel ends a download from another goroutine while it is read.
func (s *soak) cancel(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := s.transfer(ctx, downloadPath, nil, 0, func(body io.Reader) error {
		if _, err := io.CopyN(io.Discard, body, 100_000); err != nil {
			return err
		}
		go cancel()
		_, err := io.Copy(io.Discard, body)
		return err
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
