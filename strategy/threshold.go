package strategy

import (
	"fmt"
	"strconv"
	"strings"

	"example.com/h2flow/flow"
)

// Threshold keeps both windows constant and gives octets back once a fraction of the window is due.
//
// A larger fraction sends fewer frames and leaves less of the window usable: down to 1 - Fraction of it per round trip.
// One reader that does not read takes up to Stream octets of Conn from all others: to tolerate n of them, Conn must be
// above n times Stream. At most Conn octets are ever buffered.
type Threshold struct {
	// Stream is the window of each stream, in octets. Zero means 16 MiB.
	Stream int64
	// Conn is the window of the connection, in octets. Zero means 32 MiB.
	Conn int64
	// Fraction is the share of a window that must be due before it is granted. Zero means 1/4.
	Fraction Fraction
}

var _ flow.Config = Threshold{}

// The defaults of Threshold.
const (
	defaultThresholdStream = 16 << 20
	defaultThresholdConn   = 32 << 20
)

var defaultFraction = Fraction{1, 4}

// frame is the payload of the largest DATA frame that every peer may send. See RFC 9113, Section 4.2.
const frame = 16384

// New makes the strategy of one connection. What Validate would report is brought into range: windows into what the
// protocol can express, the fraction to what leaves the peer a whole frame.
func (t Threshold) New() flow.Strategy {
	return newConstant(t.levels())
}

// MemoryBound is the most octets that are unread on one connection and granted to its peer, together.
func (t Threshold) MemoryBound() int64 {
	_, conn := t.windows()
	return conn
}

// SlowReaders is how many streams of one connection may have no reader while all others still make progress.
func (t Threshold) SlowReaders() int {
	stream, conn := t.levels()
	return slowReaders(stream.size, conn)
}

func (t Threshold) levels() (stream, conn level) {
	f := t.fraction()
	if f.validate() != nil {
		f = defaultFraction
	}
	stream.size, conn.size = t.windows()
	stream.hold, conn.hold = f.hold(stream.size), f.hold(conn.size)
	return stream, conn
}

// String describes t so that Parse reads it back.
func (t Threshold) String() string {
	stream, conn := t.windows()
	return describe("threshold", "stream", formatSize(stream), "conn", formatSize(conn), "fraction", t.fraction().String())
}

// Validate reports windows that the protocol cannot express, and a fraction that would wait for the window to be empty.
//
// The last case is a deadlock with peers that use no part of a window that is smaller than the frame they have in mind:
// some stop at 65,500 of 65,535 octets and wait.
func (t Threshold) Validate() error {
	if err := validateWindows(t.Stream, t.Conn); err != nil {
		return err
	}
	f := t.fraction()
	if err := f.validate(); err != nil {
		return err
	}
	stream, conn := t.windows()
	for _, size := range []int64{stream, conn} {
		if due := f.of(size); due > maxHold(size) {
			return fmt.Errorf("fraction %s of a window of %s waits for %d octets: "+
				"at most %d leave the peer room for a frame of %d", f, formatSize(size), due, maxHold(size), frame)
		}
	}
	return nil
}

func (t Threshold) windows() (stream, conn int64) {
	return clampWindows(t.Stream, t.Conn, defaultThresholdStream, defaultThresholdConn)
}

func (t Threshold) fraction() Fraction {
	if t.Fraction == (Fraction{}) {
		return defaultFraction
	}
	return t.Fraction
}

// A Fraction is Num / Den, above 0 and below 1.
type Fraction struct{ Num, Den int64 }

// String writes the fraction as 1/4.
func (f Fraction) String() string { return fmt.Sprintf("%d/%d", f.Num, f.Den) }

// maxFraction bounds both parts, so that a share of a window never overflows.
const maxFraction = 1 << 20

func (f Fraction) validate() error {
	if f.Num <= 0 || f.Den <= 0 || f.Num >= f.Den || f.Den > maxFraction {
		return fmt.Errorf("fraction %s: want a number above 0 and below 1, such as 1/4, with a denominator up to %d",
			f, maxFraction)
	}
	return nil
}

// of is the fraction of size, at least 1.
func (f Fraction) of(size int64) int64 { return max(1, size*f.Num/f.Den) }

// hold is the fraction of size as far as it leaves room for a frame.
func (f Fraction) hold(size int64) int64 { return min(f.of(size), maxHold(size)) }

// maxHold is the most of a window of size octets that may be held back: what leaves room for a whole frame, and in
// windows that have no room for one and a half anyway, a quarter.
func maxHold(size int64) int64 { return max(size-frame-1, size/4, 1) }

// parseFraction reads 1/4 or 0.25.
func parseFraction(s string) (Fraction, error) {
	bad := fmt.Errorf("%q is no fraction: want a number above 0 and below 1, such as 1/4 or 0.25", s)
	var f Fraction
	if num, den, ok := strings.Cut(s, "/"); ok {
		n, err1 := strconv.ParseUint(num, 10, 32)
		d, err2 := strconv.ParseUint(den, 10, 32)
		if err1 != nil || err2 != nil {
			return f, bad
		}
		f = Fraction{int64(n), int64(d)}
	} else {
		whole, decimals, _ := strings.Cut(s, ".")
		n, err := strconv.ParseUint(decimals, 10, 32)
		if err != nil || len(decimals) > 6 || strings.Trim(whole, "0") != "" {
			return f, bad
		}
		f = Fraction{int64(n), 1}
		for range decimals {
			f.Den *= 10
		}
	}
	if f.validate() != nil {
		return f, bad
	}
	d := gcd(f.Num, f.Den)
	return Fraction{f.Num / d, f.Den / d}, nil
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
