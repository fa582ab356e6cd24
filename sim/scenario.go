package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/strategy"
)

// A Scenario is one experiment: a path, what is transferred over it, who reads it and with which strategy. Every zero
// value means what its field says, so that a scenario names only what it is about. It is plain data: JSON with the same
// names is what [ReadScenario] reads. Equal scenarios give equal results, to the last octet.
type Scenario struct {
	// Name is what records are labelled with; empty means a description of the path and the transfer.
	Name string `json:"name"`

	// Strategy is read by strategy.Parse; empty means strategy.BDP{}. Flow, if not nil, is used instead of it.
	Strategy string      `json:"strategy,omitempty"`
	Flow     flow.Config `json:"-"`

	// Seed chooses which octets are lost. The same octets are lost for every strategy.
	Seed uint64 `json:"seed"`

	// RTTMs is the round-trip propagation delay in milliseconds; half of it is each way's.
	RTTMs float64 `json:"rtt_ms"`
	// RateMbit is the rate of the bottleneck on the way to the client, in 10^6 bits per second, headers of TCP and IP
	// included. Zero means no limit. UpRateMbit is that of the way to the server; zero means the same.
	RateMbit   float64 `json:"rate_mbit"`
	UpRateMbit float64 `json:"up_rate_mbit,omitempty"`
	// Loss is the probability with which a full segment is lost at random, on either way: 0 to below 1.
	Loss float64 `json:"loss"`
	// QueueBDP is the room of the bottleneck's queue, which drops what does not fit, in bandwidth-delay products of the
	// path; zero means 4. It is never less than 256 KiB, so that a short path does not drop a single burst. QueueBytes, if
	// not zero, is the room in octets.
	QueueBDP   float64 `json:"queue_bdp,omitempty"`
	QueueBytes int64   `json:"queue_bytes,omitempty"`
	// TraceMs are the times in milliseconds, in order, at which the bottleneck lets 1,500 octets pass towards the client,
	// instead of RateMbit; after the last one they begin anew. ReadTrace reads them from a file. RateMbit is then only what
	// bandwidth-delay products are reckoned with; zero means the mean of the trace.
	TraceMs []int64 `json:"trace_ms,omitempty"`
	// Changes change the path while the scenario runs, in the order of their times.
	Changes []Change `json:"changes,omitempty"`

	// Requests is how many times the client asks, one after the other on the same connection; zero means once. The
	// second and later ones are warm. Each asks on Streams streams at once (zero means 1) for Bytes octets on each, and
	// gives one Record. GapMs is the pause before each later request.
	Requests int     `json:"requests,omitempty"`
	Streams  int     `json:"streams,omitempty"`
	Bytes    int64   `json:"bytes"`
	GapMs    float64 `json:"gap_ms,omitempty"`
	// Reader takes the octets of each stream.
	Reader Reader `json:"reader,omitzero"`
	// UnreadStreams is how many of Streams, the first ones, nobody ever reads. A request is over when the others are.
	UnreadStreams int `json:"unread_streams,omitempty"`
	// SmallBytes is the size of small responses asked for beside the bulk of each request, one each SmallEveryMs; zero
	// means that there are none.
	SmallBytes   int64   `json:"small_bytes,omitempty"`
	SmallEveryMs float64 `json:"small_every_ms,omitempty"`

	// CongestionControl is what the sender of the body obeys: "cubic" (what empty means), "reno" or "bbr".
	CongestionControl string `json:"congestion_control,omitempty"`
	// NoHyStart lets slow start end by loss alone.
	NoHyStart bool `json:"no_hystart,omitempty"`
	// InitialWindowSegments is what a new connection sends before the first acknowledgement; zero means 10. A large one
	// stands for a sender that remembers the path.
	InitialWindowSegments int `json:"initial_window_segments,omitempty"`
	// ReceiveBufferBytes bounds the receive window of the client's TCP, which grows as Linux's does; zero means 64 MiB,
	// -1 that TCP has no window of its own at all.
	ReceiveBufferBytes int64 `json:"receive_buffer_bytes,omitempty"`
	// HandshakeRTTs is how many round trips pass before the client may send: zero means 1, as TCP; with TLS it is 2.
	HandshakeRTTs int `json:"handshake_rtts,omitempty"`
	// KernelRTT tells the strategy, before the first request, the round-trip time that TCP measured.
	KernelRTT bool `json:"kernel_rtt,omitempty"`

	// Server is how the server behaves.
	Server Server `json:"server,omitzero"`

	// Connections share the bottleneck, each doing all of the above; zero means 1. Each starts StaggerMs after the one
	// before it.
	Connections int     `json:"connections,omitempty"`
	StaggerMs   float64 `json:"stagger_ms,omitempty"`
	// CrossTraffic shares the bottleneck too.
	CrossTraffic []CrossTraffic `json:"cross_traffic,omitempty"`

	// LimitSeconds ends the run, with outcome "timeout" for what is unfinished; zero means 3,600.
	LimitSeconds float64 `json:"limit_seconds,omitempty"`
	// SeriesMs asks for a time series in each record, with at least that many milliseconds between two samples.
	SeriesMs float64 `json:"series_ms,omitempty"`
	// CheckInvariants makes the run fail at the first step after which an invariant of the connection, or of the octets
	// under way, does not hold. It is slow.
	CheckInvariants bool `json:"check_invariants,omitempty"`
}

// A Change is a change of the path at one time.
type Change struct {
	// AtMs is the time in milliseconds since the first connection started.
	AtMs float64 `json:"at_ms"`
	// RTTMs and RateMbit are the new delay and rate of the bottleneck; zero leaves them. What is under way keeps its order.
	RTTMs    float64 `json:"rtt_ms,omitempty"`
	RateMbit float64 `json:"rate_mbit,omitempty"`
}

// A Server is how the modelled server behaves. It obeys both windows and takes streams in turn, a frame at a time.
type Server struct {
	// FrameBytes is the largest payload of a DATA frame; zero means 16,384, which is also the most.
	FrameBytes int64 `json:"frame_bytes,omitempty"`
	// WriteBytes is how much the server gives to TCP at a time; what is left of it behind the last full segment is sent
	// in one that is not full. Zero means 64 KiB.
	WriteBytes int64 `json:"write_bytes,omitempty"`
	// ChunkBytes is how much of a body the server's handler hands over at a time: no DATA frame goes across the end of a
	// chunk, so that what a window leaves of one goes out as a frame of its own. Zero means the whole body. Go's handlers
	// that copy hand over 32 KiB.
	ChunkBytes int64 `json:"chunk_bytes,omitempty"`
	// ThinkMs is the time from a request's arrival to its response's head.
	ThinkMs float64 `json:"think_ms,omitempty"`
	// SendBufferBytes bounds what the server has written and TCP has not got acknowledged; zero means that it grows with
	// the congestion window, as Linux's does.
	SendBufferBytes int64 `json:"send_buffer_bytes,omitempty"`
	// PingStrikes is the number of PINGs tolerated between two frames of HEADERS or DATA that the server sends; one more
	// is answered by GOAWAY(ENHANCE_YOUR_CALM). Zero means that all are tolerated.
	PingStrikes int `json:"ping_strikes,omitempty"`
}

// CrossTraffic is a flow of others through the bottleneck, towards the client's side.
type CrossTraffic struct {
	// RateMbit is a constant rate that heeds nothing; zero means a TCP flow that always has something to send.
	RateMbit float64 `json:"rate_mbit,omitempty"`
	// CongestionControl is what a TCP flow obeys; see Scenario.
	CongestionControl string `json:"congestion_control,omitempty"`
	// StartMs and StopMs are when it begins and ends, since the first connection started; a StopMs of zero means never.
	StartMs float64 `json:"start_ms,omitempty"`
	StopMs  float64 `json:"stop_ms,omitempty"`
}

// ReadScenario reads a Scenario from JSON. A name that no field has is an error.
func ReadScenario(text []byte) (Scenario, error) {
	var s Scenario
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Scenario{}, fmt.Errorf("scenario: %w", err)
	}
	return s, s.Validate()
}

// Validate says what of the scenario cannot be run.
func (s Scenario) Validate() error {
	switch {
	case s.RTTMs < 0 || s.RTTMs > 1e6:
		return s.fault("rtt_ms %v: want 0 to 1,000,000", s.RTTMs)
	case s.RateMbit < 0 || s.UpRateMbit < 0 || s.RateMbit > 1e6 || s.UpRateMbit > 1e6:
		return s.fault("rate_mbit %v, up_rate_mbit %v: want 0 to 1,000,000", s.RateMbit, s.UpRateMbit)
	case s.Loss < 0 || s.Loss >= 1:
		return s.fault("loss %v: want 0 to below 1", s.Loss)
	case s.QueueBDP < 0 || s.QueueBytes < 0:
		return s.fault("a queue below 0")
	case s.Bytes < 0 || s.Bytes > 1<<40 || s.SmallBytes < 0 || s.SmallBytes > 1<<40:
		return s.fault("bytes %d, small_bytes %d: want 0 to 2^40", s.Bytes, s.SmallBytes)
	case s.Requests < 0 || s.Streams < 0 || s.Connections < 0 || s.InitialWindowSegments < 0 || s.HandshakeRTTs < 0:
		return s.fault("a negative count")
	case s.Streams > 10000 || s.Connections > 1000 || s.Requests > 1e6:
		return s.fault("more than 10,000 streams, 1,000 connections or 1,000,000 requests")
	case s.UnreadStreams < 0 || s.UnreadStreams > max(s.Streams, 1):
		return s.fault("unread_streams %d of %d streams", s.UnreadStreams, max(s.Streams, 1))
	case s.SmallBytes > 0 && s.SmallEveryMs <= 0:
		return s.fault("small_bytes without small_every_ms")
	case !knownControl(s.CongestionControl):
		return s.fault("congestion_control %q: want cubic, reno or bbr", s.CongestionControl)
	case s.Server.FrameBytes < 0 || s.Server.FrameBytes > maxFrameBytes:
		return s.fault("server.frame_bytes %d: want at most %d", s.Server.FrameBytes, maxFrameBytes)
	case s.ReceiveBufferBytes < -1 || s.Server.SendBufferBytes < 0 || s.Server.WriteBytes < 0 ||
		s.Server.ChunkBytes < 0 || s.Server.PingStrikes < 0 || s.Server.ThinkMs < 0:
		return s.fault("a negative option of TCP or of the server")
	case s.GapMs < 0 || s.StaggerMs < 0 || s.LimitSeconds < 0 || s.SeriesMs < 0 || s.SmallEveryMs < 0:
		return s.fault("a negative time")
	}
	if err := checkTrace(s.TraceMs); err != nil {
		return s.fault("trace_ms: %w", err)
	}
	for i, c := range s.CrossTraffic {
		if c.RateMbit < 0 || c.StartMs < 0 || c.StopMs < 0 || !knownControl(c.CongestionControl) {
			return s.fault("cross_traffic %d: %+v", i, c)
		}
	}
	for i, c := range s.Changes {
		if c.AtMs < 0 || c.RTTMs < 0 || c.RateMbit < 0 || i > 0 && c.AtMs < s.Changes[i-1].AtMs {
			return s.fault("changes %d: %+v: want times in order and nothing negative", i, c)
		}
	}
	if _, err := s.flow(); err != nil {
		return s.fault("%w", err)
	}
	return s.Reader.validate()
}

// maxFrameBytes is the largest frame payload that a client accepts which has not said otherwise, in octets. See RFC
// 9113, Section 4.2.
const maxFrameBytes = 16384

func knownControl(name string) bool {
	return name == "" || name == "cubic" || name == "reno" || name == "bbr"
}

func (s Scenario) fault(format string, args ...any) error {
	return fmt.Errorf("scenario %q: "+format, append([]any{s.Name}, args...)...)
}

// flow is the strategy to run.
func (s Scenario) flow() (flow.Config, error) {
	switch {
	case s.Flow != nil:
		return s.Flow, nil
	case s.Strategy == "":
		return strategy.BDP{}, nil
	}
	return strategy.Parse(s.Strategy)
}

// Title is the Name, or a description if there is none.
func (s Scenario) Title() string {
	if s.Name != "" {
		return s.Name
	}
	return fmt.Sprintf("%vms %vMbit %vB", s.RTTMs, s.RateMbit, s.Bytes)
}

// BDPBytes is the bandwidth-delay product of the path in octets, 0 if the rate has no limit.
func (s Scenario) BDPBytes() int64 {
	return int64(math.Round(s.RTTMs * s.RateMbit * 125))
}

// normalised is s with its defaults spelled out.
func (s Scenario) normalised() Scenario {
	setDefault(&s.RateMbit, traceRate(s.TraceMs))
	setDefault(&s.UpRateMbit, s.RateMbit)
	setDefault(&s.QueueBDP, 4)
	setDefault(&s.Requests, 1)
	setDefault(&s.Streams, 1)
	setDefault(&s.CongestionControl, "cubic")
	setDefault(&s.InitialWindowSegments, 10)
	setDefault(&s.ReceiveBufferBytes, 64<<20)
	setDefault(&s.HandshakeRTTs, 1)
	setDefault(&s.Connections, 1)
	setDefault(&s.LimitSeconds, 3600)
	setDefault(&s.Server.FrameBytes, maxFrameBytes)
	setDefault(&s.Server.WriteBytes, 64<<10)
	setDefault(&s.QueueBytes, max(int64(math.Round(float64(s.BDPBytes())*s.QueueBDP)), leastQueue))
	return s
}

// leastQueue is the least room of a queue that is given in bandwidth-delay products, in octets.
const leastQueue = 256 << 10

func setDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// milliseconds converts a time of a scenario to one that is exact from there on.
func milliseconds(ms float64) time.Duration {
	return time.Duration(math.Round(ms * 1e6))
}
