package conformance

import "fmt"

// A Verdict is what a case found out about a client. Pass and Allowed mean that the client kept the rule.
type Verdict uint8

// The verdicts.
const (
	// Pass: the client did exactly what the rule says, with the exact error code where there is one.
	Pass Verdict = iota
	// Allowed: it did what the RFC also permits. An error of a stream may be treated as one of the connection, and
	// PROTOCOL_ERROR or INTERNAL_ERROR may stand for a more exact code. RFC 9113, Section 5.4.
	Allowed
	// GaveUp: it ended the connection and failed the request, but told the server no error, or none before the end.
	GaveUp
	// Fail: it broke the rule, did nothing, or gave the application what it should not have got.
	Fail
	// Skipped: the case does not apply to this client; the reason says why.
	Skipped
)

var verdictNames = [...]string{Pass: "pass", Allowed: "allowed", GaveUp: "gave-up", Fail: "fail", Skipped: "skipped"}

// String is the verdict as reports have it.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}

// MarshalText is String, for reports.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Good says whether the client kept the rule.
func (v Verdict) Good() bool { return v == Pass || v == Allowed }

// A Result is the outcome of one case.
type Result struct {
	Verdict Verdict
	// Reason says in what way the verdict is not Pass; empty if it is.
	Reason string
	// Transcript is everything that was said, one frame a line, as the client sees it: "<" received, ">" sent.
	Transcript string
}

// Err is nil if the client kept the rule, or else an error with reason and transcript. Skipped is no error.
func (r Result) Err() error {
	if r.Verdict.Good() || r.Verdict == Skipped {
		return nil
	}
	return fmt.Errorf("%v: %s\n%s", r.Verdict, r.Reason, r.Transcript)
}

// A stop is what a step panics with to leave the script.
type stop struct {
	verdict Verdict
	reason  string
}

func failf(format string, args ...any) { panic(stop{Fail, fmt.Sprintf(format, args...)}) }
