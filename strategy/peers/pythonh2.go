package peers

import "example.com/h2flow/flow"

// PythonH2 is the h2 library of python-hyper (bc239af2), with an application that acknowledges what it reads.
//
// A window is given back at half, or when it is used up and more than a quarter of it, or 1 KiB, is due.
type PythonH2 struct {
	// Stream and Conn are the windows, in octets; zero means 65,535.
	Stream, Conn int64
}

const pythonH2Least = 1024

var _ flow.Config = PythonH2{}

// New makes the strategy of one connection.
func (p PythonH2) New() flow.Strategy {
	return newClient(side{size: orDefault(p.Stream, flow.DefaultWindow), give: pythonH2Rule},
		side{size: min(max(p.Conn, flow.DefaultWindow), flow.MaxWindow), give: pythonH2Rule})
}

// String describes p so that Parse reads it back.
func (p PythonH2) String() string {
	return describe("python-h2", size("stream", p.Stream), size("conn", p.Conn))
}

func pythonH2Rule(v view) int64 {
	if v.rem == 0 && v.due > min(pythonH2Least, v.size/4) || v.due > 0 && v.due >= v.size/2 {
		return min(v.due, v.size-v.rem)
	}
	return 0
}

// Httpx is httpx, by its httpcore, on PythonH2: each stream is raised by 2^24 together with its request, the connection
// once. Its constants are not from its source but from frames that were counted.
type Httpx struct{}

const httpxMore = 1 << 24

var _ flow.Config = Httpx{}

// New makes the strategy of one connection.
func (Httpx) New() flow.Strategy {
	c := newClient(side{size: flow.DefaultWindow, give: pythonH2Rule},
		side{size: flow.DefaultWindow + httpxMore, give: pythonH2Rule})
	c.atOpen = httpxMore
	return c
}

// String describes the model so that Parse reads it back.
func (Httpx) String() string { return describe("httpx") }
