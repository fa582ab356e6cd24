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

// drain reads r to its end and returns how many octets came. It takes at most pace of them a second, unless that is 0.
func drain(r io.Reader, buf []byte, pace int64) (int64, error) {
	var total int64
	var start time.Time
	if pace > 0 {
		start = time.Now()
		buf = buf[:min(int64(len(buf)), max(pace/paceSteps, 1))]
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
