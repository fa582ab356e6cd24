package hostile

import (
	"fmt"
	"slices"
	"strings"

	"example.com/h2flow/frame"
	"example.com/h2flow/stream"
)

// A Tally counts over many lives what was reached. It must not be used by two lives at once.
type Tally struct {
	// Rare counts the rare states by name; all names are there from the beginning.
	Rare map[string]int
	// First is the seed that first reached each, as Seeding told.
	First map[string]uint64

	received, sent map[cell]int
	seed           uint64
}

// A cell is a place in the table of stream states and frame types.
type cell struct {
	state stream.State
	typ   frame.Type
}

// NewTally returns a Tally with nothing reached.
func NewTally() *Tally {
	t := &Tally{Rare: map[string]int{}, First: map[string]uint64{}, received: map[cell]int{}, sent: map[cell]int{}}
	for _, name := range rareStates {
		t.Rare[name] = 0
	}
	return t
}

// Seeding says which seed the next life has.
func (t *Tally) Seeding(seed uint64) { t.seed = seed }

// Missing returns the names never reached, sorted.
func (t *Tally) Missing() []string {
	var names []string
	for name, n := range t.Rare {
		if n == 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Text lists the rare states: how often each was reached, and first by which seed.
func (t *Tally) Text() string {
	var b strings.Builder
	for _, name := range rareStates {
		fmt.Fprintf(&b, "%8d  first by seed %-8d %s\n", t.Rare[name], t.First[name], name)
	}
	return b.String()
}

// reach counts a rare state; a name that is not registered is a mistake.
func (t *Tally) reach(name string) {
	n, ok := t.Rare[name]
	if !ok {
		panic("hostile: rare state " + name + " is not registered")
	}
	if n == 0 {
		t.First[name] = t.seed
	}
	t.Rare[name] = n + 1
}

// receivedTypes and sentTypes are the columns of the tables.
var (
	receivedTypes = []frame.Type{frame.TypeData, frame.TypeHeaders, frame.TypePriority, frame.TypeRSTStream,
		frame.TypePushPromise, frame.TypeWindowUpdate, frame.TypeContinuation, frame.TypeAltSvc, otherType}
	sentTypes = []frame.Type{frame.TypeData, frame.TypeHeaders, frame.TypeRSTStream, frame.TypeWindowUpdate}
)

// otherType stands for all types that are not known.
const otherType frame.Type = 0xfb

// cellStates are the rows: no stream of a client stays reserved, since every promise is refused at once.
var cellStates = []stream.State{stream.Idle, stream.Open, stream.HalfClosedLocal, stream.HalfClosedRemote,
	stream.ClosedEnded, stream.ClosedSentReset, stream.ClosedRecvReset, stream.ClosedForgotten}

// Table prints the cells: how many frames of each type came in each state of their stream, then how many were sent.
// Empty lists the cells that were not hit and could have been: all that the server may say, right or wrong, and all
// that the life cycle allows the client. Illegal lists what the client sent and may not have.
func (t *Tally) Table() (text string, empty, illegal []string) {
	var b strings.Builder
	for _, side := range []struct {
		name  string
		types []frame.Type
		count map[cell]int
	}{{"received", receivedTypes, t.received}, {"sent", sentTypes, t.sent}} {
		fmt.Fprintf(&b, "%-24s", side.name)
		for _, typ := range side.types {
			fmt.Fprintf(&b, "%15s", typ)
		}
		b.WriteString("\n")
		for _, state := range cellStates {
			fmt.Fprintf(&b, "%-24s", state)
			for _, typ := range side.types {
				n := side.count[cell{state, typ}]
				legal := side.name == "received" || maySend(state, typ)
				switch {
				case n > 0 && !legal:
					fmt.Fprintf(&b, "%15s", "ILLEGAL")
					illegal = append(illegal, fmt.Sprintf("%v in state %v, %d times", typ, state, n))
				case n > 0:
					fmt.Fprintf(&b, "%15d", n)
				case legal:
					fmt.Fprintf(&b, "%15s", "MISSING")
					empty = append(empty, fmt.Sprintf("%s %v in state %v", side.name, typ, state))
				default:
					fmt.Fprintf(&b, "%15s", "-")
				}
			}
			b.WriteString("\n")
		}
	}
	return b.String(), empty, illegal
}

// maySend reports whether the life cycle allows the client to send the type.
func maySend(state stream.State, typ frame.Type) bool {
	in := map[frame.Type]stream.Input{frame.TypeData: stream.SendData, frame.TypeHeaders: stream.SendHeaders,
		frame.TypeRSTStream: stream.SendReset, frame.TypeWindowUpdate: stream.SendWindowUpdate}[typ]
	_, v := stream.Next(state, in)
	return v.Kind == stream.Accept
}
