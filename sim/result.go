package sim

// The outcomes of a request.
const (
	// OutcomeOK: all octets were read.
	OutcomeOK = "ok"
	// OutcomeStalled: the strategy let a stream without window, and the connection gave it up.
	OutcomeStalled = "stalled"
	// OutcomeFailed: the stream or the connection failed otherwise; Result.Errors says how.
	OutcomeFailed = "failed"
	// OutcomeTimeout: the limit of the scenario passed.
	OutcomeTimeout = "timeout"
)

// A Record is what one request of one connection gave. Its JSON names are the columns of every table.
type Record struct {
	Scenario string  `json:"scenario"`
	Strategy string  `json:"strategy"`
	Seed     uint64  `json:"seed"`
	Outcome  string  `json:"outcome"`
	RTTMs    float64 `json:"rtt_ms"`
	RateMbit float64 `json:"rate_mbit"`
	Loss     float64 `json:"loss"`
	Reader   string  `json:"reader"`
	// Warm says that the request was not the first one of its connection.
	Warm bool `json:"warm"`
	// Bytes counts the octets of all bodies that the application read.
	Bytes int64 `json:"bytes"`
	// Seconds is the time from the request, for the first one from the start of the connection, until the application
	// had read the last octet.
	Seconds float64 `json:"seconds"`
	// IdealSeconds is the time that the octets need at the rate of the bottleneck with nothing in their way: the
	// handshake if it is the first request, one round trip, the server's time to think, all octets at full rate.
	IdealSeconds float64 `json:"ideal_seconds"`
	RatioToIdeal float64 `json:"ratio_to_ideal"`
	// BlockedStreamMs is how long TCP could have sent while the server had nothing for it because every stream with
	// octets left had used up its own window; BlockedConnMs is how long that held for the connection's window. A time in
	// which both were used up counts in both.
	BlockedStreamMs float64 `json:"blocked_stream_ms"`
	BlockedConnMs   float64 `json:"blocked_conn_ms"`
	// PeakBufferedBytes is the most that was received and not read at any instant.
	PeakBufferedBytes int64 `json:"peak_buffered_bytes"`
	// PeakWindowBytes is the most, at any instant, of unread octets plus the credit that the peer holds, the lower of
	// the connection's and the sum of the streams'.
	PeakWindowBytes int64 `json:"peak_window_bytes"`
	// BDPBytes is the bandwidth-delay product of the path; 0 if its rate has no limit.
	BDPBytes int64 `json:"bdp_bytes"`
	// WindowUpdates and Pings count the frames that the strategy sent, on both levels together.
	WindowUpdates int64 `json:"window_updates"`
	Pings         int64 `json:"pings"`

	// Series is the time series that Scenario.SeriesMs asked for; it is no column.
	Series []Sample `json:"-"`
	// Connection and Request say which request this was, counted from 0; they are no columns.
	Connection int `json:"-"`
	Request    int `json:"-"`
}

// A Sample is the state of one connection at one time. Octets but for Seconds.
type Sample struct {
	// Seconds is the time since the first connection started.
	Seconds float64 `json:"seconds"`
	// WindowBytes is what Record.PeakWindowBytes is the peak of.
	WindowBytes int64 `json:"window_bytes"`
	// CreditBytes is what the connection's window still allows the server to send, as the client sees it.
	CreditBytes int64 `json:"credit_bytes"`
	// FlightBytes is what the server's TCP has under way, CongestionBytes what it may have.
	FlightBytes     int64 `json:"flight_bytes"`
	CongestionBytes int64 `json:"congestion_bytes"`
	// UnreadBytes is what was received and not read.
	UnreadBytes int64 `json:"unread_bytes"`
	// ReceivedBytes, ConsumedBytes and GrantedBytes count from the start of the connection.
	ReceivedBytes int64 `json:"received_bytes"`
	ConsumedBytes int64 `json:"consumed_bytes"`
	GrantedBytes  int64 `json:"granted_bytes"`
	// QueueBytes is what waits at the bottleneck.
	QueueBytes int64 `json:"queue_bytes"`
}

// A Stream is what became of one response.
type Stream struct {
	Connection int  `json:"connection"`
	Request    int  `json:"request"`
	Small      bool `json:"small"` // one of the small responses beside the bulk
	// StartSeconds is when the request was made, since the first connection started; Seconds how long it then took until
	// the application had read the last octet, negative if it never had.
	StartSeconds float64 `json:"start_seconds"`
	Seconds      float64 `json:"seconds"`
	Bytes        int64   `json:"bytes"` // octets that the application read
}

// A Result is what a run gave.
type Result struct {
	// Records are ordered by connection, then by request.
	Records []Record
	// Streams are all responses, in the order in which they were asked for.
	Streams []Stream
	// Errors are the texts of failed streams and connections, in the order of their times.
	Errors []string

	// Path tells what the bottleneck and TCP did, for all flows together.
	Path PathStats
}

// PathStats counts what happened on the way to the client.
type PathStats struct {
	// SentBytes counts octets that entered the bottleneck, headers included.
	SentBytes int64 `json:"sent_bytes"`
	// QueueDrops and LossDrops count segments that the queue had no room for, and those lost at random.
	QueueDrops int64 `json:"queue_drops"`
	LossDrops  int64 `json:"loss_drops"`
	// Retransmitted counts segments sent again, Timeouts the retransmission timeouts.
	Retransmitted int64 `json:"retransmitted"`
	Timeouts      int64 `json:"timeouts"`
	// PeakQueueBytes is the most that waited at the bottleneck.
	PeakQueueBytes int64 `json:"peak_queue_bytes"`
	// SimulatedSeconds is how much virtual time passed.
	SimulatedSeconds float64 `json:"simulated_seconds"`
}

// Fairness is Jain's index of the goodputs of the completed streams that are not small: 1 means all equal, 1/n that one
// of n has it all. It is 0 if no stream completed.
func (r Result) Fairness() float64 {
	var sum, squares float64
	n := 0
	for _, s := range r.Streams {
		if s.Small || s.Seconds <= 0 {
			continue
		}
		goodput := float64(s.Bytes) / s.Seconds
		sum += goodput
		square := goodput * goodput // apart from the sum, so that no platform fuses the two
		squares += square
		n++
	}
	if n == 0 || squares == 0 {
		return 0
	}
	return sum * sum / (float64(n) * squares)
}
