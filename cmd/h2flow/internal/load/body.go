package load

import "io"

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

// drain reads r to its end and returns how many octets came.
func drain(r io.Reader, buf []byte) (int64, error) {
	var total int64
	for {
		n, err := r.Read(buf)
		total += int64(n)
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}
