package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/sim"
)

// An emulatedReader reads a stream as a model of package sim does, in real time.
type emulatedReader struct {
	stream *h2flow.ClientStream
	model  sim.Reader
	start  time.Time // of the request
	buffer []byte
	octets int64
}

// readAll reads until the stream ends; its error is io.EOF then.
func (r *emulatedReader) readAll(ctx context.Context) error {
	switch r.model.Kind {
	case sim.ReadAtRate:
		return r.paced(ctx)
	case sim.ReadInBursts:
		return r.bursts(ctx)
	case sim.ReadWithPause:
		return r.paused(ctx)
	case sim.ReadNever:
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return r.instantly(time.Time{})
}

// read reads up to n octets once.
func (r *emulatedReader) read(n int64) error {
	m, err := r.stream.Read(r.buffer[:min(n, int64(len(r.buffer)))])
	r.octets += int64(m)
	return err
}

// instantly reads until the deadline, whose error is then os.ErrDeadlineExceeded; the zero time means the end.
func (r *emulatedReader) instantly(deadline time.Time) error {
	if err := r.stream.SetReadDeadline(deadline); err != nil {
		return err
	}
	for {
		if err := r.read(readSize); err != nil {
			return err
		}
	}
}

// paced reads no faster than the model's rate: each piece waits until all before it would have been read.
func (r *emulatedReader) paced(ctx context.Context) error {
	begun := time.Now()
	for {
		if err := r.read(4096); err != nil {
			return err
		}
		due := begun.Add(time.Duration(float64(r.octets) * 8e3 / r.model.RateMbit))
		if err := pause(ctx, time.Until(due)); err != nil {
			return err
		}
	}
}

// bursts reads up to the model's octets, or all that is there, once each period since the request.
func (r *emulatedReader) bursts(ctx context.Context) error {
	for next := r.start.Add(r.model.Every); ; next = next.Add(r.model.Every) {
		if err := pause(ctx, time.Until(next)); err != nil {
			return err
		}
		if err := r.burst(); err != nil {
			return err
		}
	}
}

// gleaning is how long a burst waits for more before it takes what it has for all that is there.
const gleaning = time.Millisecond

func (r *emulatedReader) burst() error {
	end := r.octets + r.model.Bytes
	for r.model.Bytes == 0 || r.octets < end {
		if err := r.stream.SetReadDeadline(time.Now().Add(gleaning)); err != nil {
			return err
		}
		n := int64(readSize)
		if r.model.Bytes > 0 {
			n = end - r.octets
		}
		err := r.read(n)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// paused reads instantly, then nothing for the pause, then in bursts if the model has a period, else instantly.
func (r *emulatedReader) paused(ctx context.Context) error {
	err := r.instantly(r.start.Add(r.model.After))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if r.model.Pause == 0 {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	r.start = r.start.Add(r.model.After + r.model.Pause)
	if err := pause(ctx, time.Until(r.start)); err != nil {
		return err
	}
	if r.model.Every > 0 {
		return r.bursts(ctx)
	}
	return r.instantly(time.Time{})
}
