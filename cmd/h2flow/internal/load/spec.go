package load

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"example.com/h2flow/flow"
)

// The clients that can be driven.
const (
	HTTP1     = "http1"       // net/http, HTTP/1.1
	NetH2     = "net/http-h2" // net/http, HTTP/2
	H2flow    = "h2flow"      // h2http.Transport
	H2flowRaw = "h2flow-raw"  // the low-level API, h2flow.ClientConn
)

// Clients are the names of all clients.
func Clients() []string { return []string{HTTP1, NetH2, H2flow, H2flowRaw} }

// The operations.
const (
	Get  = "get"
	Post = "post"
)

// AnySize is the Size of a GET whose bodies may have any length.
const AnySize = -1

// A Spec says what one run does. It is plain data, so that it can be handed to another process as JSON.
type Spec struct {
	Client string
	// URL says where; its scheme is http (cleartext, HTTP/2 by prior knowledge) or https.
	URL string
	// Dial, if not empty, is the host:port to connect to instead of the URL's.
	Dial string
	// Op is Get or Post.
	Op string
	// Size is how many octets each body has: those of the request for Post, those that the response must have for Get.
	Size int64
	// Chunked leaves the length of a request body unsaid.
	Chunked bool

	// Requests and Duration end the run; the first that is reached counts, and 0 means no limit.
	Requests int64
	Duration time.Duration
	// Conns connections carry Streams lanes each. HTTP/1.1 opens a connection for each lane.
	Conns, Streams int
	// Warmup is how many requests each lane does before anything is measured. With 0 the set-up of the connections is
	// measured too.
	Warmup int

	// Flow is the strategy of the h2flow clients; nil means their default. JSON leaves it out.
	Flow flow.Config `json:"-"`
	// Strategy is Flow as text, for the way through JSON. Run does not look at it.
	Strategy string
	// The client's buffers and its largest frame, in octets, where it has such an option; 0 means its default.
	ReadBuffer, WriteBuffer, MaxFrame int64
	// Pace is how many octets a second each lane takes of a body; 0 means all it can get.
	Pace int64
	// Beside, if not empty, is the URL of a large body: each connection downloads it over and over while the others
	// are measured. HTTP/1.1 has another connection for it. It does not count as a request.
	Beside string
	// Held makes the process of a run do Hold instead. Run does not look at it.
	Held bool
	// BodyBuffer is the size of the buffer that a lane reads bodies into, in octets; 0 means DefaultBodyBuffer. It is
	// smaller where a body, or what is taken of it at once, is.
	BodyBuffer int64

	// CACert, in PEM, are the certificates to trust instead of the system's; Insecure trusts any.
	CACert   string
	Insecure bool
}

// DefaultBodyBuffer is the most that a lane reads at once, in octets, unless the Spec says otherwise.
const DefaultBodyBuffer = 128 << 10

// check returns the URL, or what is wrong with the Spec.
func (s *Spec) check() (*url.URL, error) {
	u, err := url.Parse(s.URL)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("%q is no http or https URL with a host", s.URL)
	case !slices.Contains(Clients(), s.Client):
		return nil, fmt.Errorf("there is no client %q (want one of %s)", s.Client, strings.Join(Clients(), ", "))
	case s.Op != Get && s.Op != Post:
		return nil, fmt.Errorf("there is no operation %q (want get or post)", s.Op)
	case s.Op == Post && s.Size < 0:
		return nil, fmt.Errorf("a body to post needs a size")
	case s.Conns < 1 || s.Streams < 1:
		return nil, fmt.Errorf("%d connections with %d streams are no load", s.Conns, s.Streams)
	case s.Requests <= 0 && s.Duration <= 0:
		return nil, fmt.Errorf("neither the requests nor the time are limited")
	}
	return u, nil
}

// A Result says what a run took.
type Result struct {
	// Proto is what was spoken: "HTTP/1.1" or "HTTP/2"; empty if no response came.
	Proto string
	// Requests went well, and moved Bytes octets of body. Failures did not; FirstFailure is why the first of them.
	Requests, Bytes, Failures int64
	FirstFailure              string
	Seconds                   float64
	// Lanes were busy at once, over Conns connections with Streams each.
	Conns, Streams int

	// CPU time of this process while the run lasted.
	UserSeconds, SysSeconds *float64
	// What this process allocated while the run lasted.
	Allocs, AllocBytes int64
	// BesideBytes are the octets that came of what was downloaded beside, from its start before the warm-up on.
	BesideBytes int64
	// PeakHeapBytes is the most that live and not yet collected objects took, by samples every 10 ms.
	PeakHeapBytes int64
	// PeakRSSBytes is the most memory that the process ever held.
	PeakRSSBytes *int64

	// Percentiles of the time from the start of a request to the end of its body, in milliseconds; nil without requests.
	P50, P90, P99 *float64
}
