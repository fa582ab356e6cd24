package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ReaderKind says how an application takes the octets of a stream.
type ReaderKind uint8

// The kinds of readers.
const (
	// ReadInstantly takes octets as they arrive.
	ReadInstantly ReaderKind = iota
	// ReadAtRate takes octets as they arrive, but not faster than RateMbit.
	ReadAtRate
	// ReadInBursts takes up to Bytes octets, or everything if Bytes is 0, once each Every.
	ReadInBursts
	// ReadWithPause takes octets as they arrive until After has passed since the request, then nothing for Pause; then
	// it reads in bursts if Every is set, else instantly again.
	ReadWithPause
	// ReadNever takes nothing.
	ReadNever
)

// A Reader is a model of the application that reads a response. The zero value reads instantly. As text it is a name and
// options joined by colons, as strategies are:
//
//	instant
//	rate:mbit=8
//	burst:bytes=65536:every=100ms
//	burst:every=1s
//	pause:after=2s:for=3s:bytes=65536:every=100ms
//	never
type Reader struct {
	Kind     ReaderKind
	RateMbit float64       // ReadAtRate: 10^6 bits per second
	Bytes    int64         // ReadInBursts, ReadWithPause: octets in each burst; 0 means everything
	Every    time.Duration // ReadInBursts, ReadWithPause: from burst to burst
	After    time.Duration // ReadWithPause: when the pause begins
	Pause    time.Duration // ReadWithPause: how long it is; 0 means for ever
}

// String describes r so that ParseReader reads it back.
func (r Reader) String() string {
	var b strings.Builder
	option := func(name, value string) { b.WriteString(":" + name + "=" + value) }
	switch r.Kind {
	case ReadAtRate:
		b.WriteString("rate")
		option("mbit", strconv.FormatFloat(r.RateMbit, 'g', -1, 64))
	case ReadInBursts:
		b.WriteString("burst")
	case ReadWithPause:
		b.WriteString("pause")
		option("after", r.After.String())
		if r.Pause > 0 {
			option("for", r.Pause.String())
		}
	case ReadNever:
		return "never"
	default:
		return "instant"
	}
	if r.Bytes > 0 {
		option("bytes", strconv.FormatInt(r.Bytes, 10))
	}
	if r.Every > 0 {
		option("every", r.Every.String())
	}
	return b.String()
}

// ParseReader reads a Reader as String writes it. Sizes may also be whole KiB or MiB.
func ParseReader(s string) (Reader, error) {
	name, rest, more := strings.Cut(s, ":")
	kinds := map[string]ReaderKind{
		"instant": ReadInstantly, "rate": ReadAtRate, "burst": ReadInBursts, "pause": ReadWithPause, "never": ReadNever,
	}
	kind, ok := kinds[name]
	if !ok {
		return Reader{}, fmt.Errorf("unknown reader %q: want instant, rate, burst, pause or never", name)
	}
	r := Reader{Kind: kind}
	for more {
		var part string
		part, rest, more = strings.Cut(rest, ":")
		option, value, _ := strings.Cut(part, "=")
		if err := r.set(option, value); err != nil {
			return Reader{}, fmt.Errorf("reader %s: %w", s, err)
		}
	}
	return r, r.validate()
}

func (r *Reader) set(option, value string) (err error) {
	bursts := r.Kind == ReadInBursts || r.Kind == ReadWithPause
	switch {
	case option == "mbit" && r.Kind == ReadAtRate:
		r.RateMbit, err = strconv.ParseFloat(value, 64)
	case option == "bytes" && bursts:
		r.Bytes, err = parseOctets(value)
	case option == "every" && bursts:
		r.Every, err = time.ParseDuration(value)
	case option == "after" && r.Kind == ReadWithPause:
		r.After, err = time.ParseDuration(value)
	case option == "for" && r.Kind == ReadWithPause:
		r.Pause, err = time.ParseDuration(value)
	default:
		return fmt.Errorf("unknown option %q", option)
	}
	return err
}

func parseOctets(s string) (int64, error) {
	digits, unit := s, int64(1)
	if d, ok := strings.CutSuffix(s, "KiB"); ok {
		digits, unit = d, 1<<10
	} else if d, ok := strings.CutSuffix(s, "MiB"); ok {
		digits, unit = d, 1<<20
	}
	n, err := strconv.ParseInt(digits, 10, 40)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%q is no size: want octets such as 65536, or 64KiB, 1MiB", s)
	}
	return n * unit, nil
}

// validate says what of r makes no sense.
func (r Reader) validate() error {
	switch {
	case r.Kind > ReadNever:
		return fmt.Errorf("unknown kind of reader %d", r.Kind)
	case r.Kind == ReadAtRate && (r.RateMbit <= 0 || r.RateMbit > 1e6):
		return fmt.Errorf("reader %s: want a rate above 0, up to 1,000,000", r)
	case r.Kind == ReadInBursts && r.Every <= 0:
		return fmt.Errorf("reader %s: bursts need every=TIME", r)
	case r.Bytes < 0 || r.Every < 0 || r.After < 0 || r.Pause < 0:
		return fmt.Errorf("reader %s: nothing may be negative", r)
	}
	return nil
}

// MarshalText is String.
func (r Reader) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is ParseReader.
func (r *Reader) UnmarshalText(text []byte) error {
	parsed, err := ParseReader(string(text))
	if err == nil {
		*r = parsed
	}
	return err
}
