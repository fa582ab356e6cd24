package hostile

import "math/rand/v2"

// A Chooser makes the decisions of one life.
type Chooser interface {
	// IntN returns a number from 0 to n-1; n is at least 1.
	IntN(n int) int
}

// Seed returns the Chooser of a seed.
func Seed(seed uint64) Chooser { return rand.New(rand.NewPCG(seed, 0x68326677)) }

// Octets returns a Chooser that takes its decisions from octets, and decides for the first of all choices when there
// are none left.
func Octets(octets []byte) Chooser { return &octetChooser{octets} }

type octetChooser struct{ rest []byte }

func (o *octetChooser) IntN(n int) int {
	v, scale := 0, 1
	for scale < n && len(o.rest) > 0 {
		v, scale = v<<8|int(o.rest[0]), scale<<8
		o.rest = o.rest[1:]
	}
	return v % n
}

// oneIn reports true once in n times.
func (w *world) oneIn(n int) bool { return w.choose.IntN(n) == n-1 }

// pick returns one of the choices.
func pick[T any](w *world, choices ...T) T { return choices[w.choose.IntN(len(choices))] }
