package load

import (
	"io"
	"time"
)

// A zeros is a request body of n octets that costs nothing to read: what it gives is whatever the buffer held.
type zeros struct{ left int64 }

var _ io.ReadCloser = (*zeros)(nil)

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), z.left)
	z.left -= n
	return int(n), nil
}

func (z *zeros) Close() error { return nil }

// paceSteps is how often in a second a paced reader reads.
const paceSteps = 50

// bodyBuffer is the size of the buffer of a lane: as large as asked for, but no larger than it can use, since a
// thousand of them would hide what the client itself needs.
func (s *Spec) bodyBuffer() int64 {
	n := s.BodyBuffer
	if n <= 0 {
		n = DefaultBodyBuffer
	}
	switch {
	case s.Op == Post:
		n = min(n, postBuffer)
	case s.Size != AnySize:
		n = min(n, max(s.Size, 1))
	}
	if s.Pace > 0 {
		n = min(n, max(s.Pace/paceSteps, 1))
	}
	return n
}

// postBuffer is enough for the short answer to a POST.
const postBuffer = 4 << 10

// drain reads r to its end and returns how many octets came. It takes at most pace of them a second, unless that is 0.
func drain(r io.Reader, buf []byte, pace int64) (int64, error) {
	var total int64
	var start time.Time
	if pace > 0 {
		start = time.Now()
	}
	for {
		n, err := r.Read(buf)
		total += int64(n)
		if pace > 0 && err == nil {
			time.Sleep(time.Until(start.Add(time.Duration(float64(total) / float64(pace) * float64(time.Second)))))
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}
