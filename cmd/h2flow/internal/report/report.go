package report

import (
	_ "embed"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"
)

// A Report is the whole page.
type Report struct {
	Size    int64 // of each body, in octets
	TLS     bool
	Machine string // where it was measured
	Made    time.Time
	Cells   []Cell
}

// A Cell is what was measured on one path.
type Cell struct {
	Title string
	// Rows are the clients. The first one is what the others are compared with.
	Rows []Row
}

// A Row is one client on one path. Numbers that are not known are nil, times that were not measured 0.
type Row struct {
	Client        string
	Strategy      string  // empty if the client has none to choose
	Cold, Warm    float64 // seconds, medians
	Bytes         int64   // of the body
	WindowUpdates *int64
	Pings         *int64
	PeakBuffered  *int64 // octets
	PeakWindow    *int64 // octets
	Failure       string // why there are no numbers, or no more
	Runs          []Run
}

// A Run is one download.
type Run struct {
	Phase   string
	Number  int
	Seconds float64
	// Typical marks the run whose time is the median of its phase. The others are shown only on demand.
	Typical bool
	Curves  Curves
	// Opening are the curves of the first OpeningSeconds in more detail. They are shown if the run is much longer.
	Opening        Curves
	OpeningSeconds float64
}

// Curves are octets over the time of one run. Those that are not known are empty.
type Curves struct {
	Window   []Point // what is unread plus what the server may still send
	InFlight []Point // what is on the emulated path on its way to the client
	Unread   []Point // what arrived and was not read
	Received []Point // what was read, all together
}

// A Point is a number of octets from a time on, in seconds since the start of the run.
type Point struct {
	Seconds float64
	Octets  int64
}

//go:embed report.html.tmpl
var pageText string

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"size": func(n *int64) string {
		if n == nil {
			return "–"
		}
		return Size(*n)
	},
	"octets": Size,
	"count": func(n *int64) string {
		if n == nil {
			return "–"
		}
		return count(*n)
	},
	"split":   func(s string) []string { return strings.SplitAfter(s, ":") },
	"seconds": seconds, "rate": rate, "ratio": ratio, "bars": bars, "charts": charts,
}).Parse(pageText))

// Write writes the page.
func (r *Report) Write(w io.Writer) error { return page.Execute(w, r) }

// Name is the client with its strategy.
func (r Row) Name() string { return strings.TrimSpace(r.Client + " " + r.Strategy) }

// Typical are the runs to show at once.
func (r Row) Typical() []Run { return r.pick(true) }

// Others are the runs to show on demand.
func (r Row) Others() []Run { return r.pick(false) }

// pick returns the runs that are typical or are not, those of the same phase together.
func (r Row) pick(typical bool) []Run {
	var runs []Run
	for _, run := range r.Runs {
		if run.Typical == typical {
			runs = append(runs, run)
		}
	}
	slices.SortStableFunc(runs, func(a, b Run) int { return strings.Compare(a.Phase, b.Phase) })
	return runs
}
