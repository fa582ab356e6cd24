package stream

// A Phase is where one direction of a message stands: interim heads, the final head, the body, trailers, the end.
// See RFC 9113, Section 8.1.
type Phase uint8

// The phases.
const (
	// AwaitingHead: no final head yet; interim heads may come.
	AwaitingHead Phase = iota
	// InBody: the final head has come; DATA and trailers may follow.
	InBody
	// Complete: the message has ended.
	Complete

	numPhases
)

var phaseNames = [numPhases]string{"awaiting head", "in body", "complete"}

// String names the phase.
func (p Phase) String() string {
	if p < numPhases {
		return phaseNames[p]
	}
	return "Phase(?)"
}

// A Part is a piece of a message.
type Part uint8

// The parts.
const (
	InterimHead        Part = iota // a 1xx head
	InterimHeadWithEnd             // a 1xx head with END_STREAM
	FinalHead
	FinalHeadWithEnd
	Body // DATA without END_STREAM
	BodyWithEnd
	TrailersWithEnd
	TrailersWithoutEnd

	numParts
)

var partNames = [numParts]string{
	"interim head", "interim head with END_STREAM", "final head", "final head with END_STREAM",
	"DATA", "DATA with END_STREAM", "trailers with END_STREAM", "trailers without END_STREAM",
}

// String names the part.
func (p Part) String() string {
	if p < numParts {
		return partNames[p]
	}
	return "Part(?)"
}

type phaseStep struct {
	ok   bool
	next Phase
}

// phaseSteps is the grammar of a message. What it does not list is malformed: DATA before the final head
// (9113-8.1-11), an interim head that ends the stream (9113-8.1-6), a second head that does not end it (9113-8.1-5).
var phaseSteps = [numPhases][numParts]phaseStep{
	AwaitingHead: {
		InterimHead:      {true, AwaitingHead},
		FinalHead:        {true, InBody},
		FinalHeadWithEnd: {true, Complete},
	},
	InBody: {
		Body:            {true, InBody},
		BodyWithEnd:     {true, Complete},
		TrailersWithEnd: {true, Complete},
	},
}

// Next returns the phase after part, and whether the part may come in phase p; if not, the message is malformed and
// the phase stays.
func (p Phase) Next(part Part) (next Phase, ok bool) {
	s := phaseSteps[p][part]
	if !s.ok {
		return p, false
	}
	return s.next, true
}
