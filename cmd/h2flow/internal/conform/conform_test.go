package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/conformance"
	"example.com/h2flow/h2http"
)

// The test binary is also the clients that the tests run: the first argument says which.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "client" {
		os.Exit(runClient(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

func runClient(kind string, args []string) int {
	switch kind {
	case "good": // h2flow's own transport
		closed := make(chan struct{})
		t := &h2http.Transport{
			AllowHTTP: true,
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				nc, err := new(net.Dialer).DialContext(ctx, network, addr)
				return &tellingConn{Conn: nc, tell: sync.OnceFunc(func() { close(closed) })}, err
			},
		}
		req, err := http.NewRequest(http.MethodGet, args[0], nil)
		if err != nil {
			return 3
		}
		resp, err := t.RoundTrip(req)
		if err != nil {
			// What the transport has to tell the server is on its way, which the end of the process would cut short.
			t.CloseIdleConnections()
			<-closed
			return 1
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return 1
		}
		return 0
	case "zero": // the same, but for its exit status
		if runClient("good", args) != 0 {
			_, _ = io.WriteString(os.Stdout, "it went wrong\n")
		}
		return 0
	case "absent":
		_, _ = io.WriteString(os.Stderr, "no connection today\n")
		return 4
	case "deaf": // connects and says nothing
		nc, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(args[0], "http://"), "/"))
		if err != nil {
			return 3
		}
		_, _ = io.Copy(io.Discard, nc)
		return 0
	}
	return 9
}

// A tellingConn tells when it is closed.
type tellingConn struct {
	net.Conn
	tell func()
}

func (c *tellingConn) Close() error {
	defer c.tell()
	return c.Conn.Close()
}

func self(kind string) []string { return []string{os.Args[0], "client", kind, "{url}"} }

func casesOf(t *testing.T, filter string) []conformance.Case {
	t.Helper()
	var cases []conformance.Case
	for _, c := range conformance.Cases() {
		if c.Match(filter) {
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		t.Fatalf("no case %s", filter)
	}
	return cases
}

// play runs the suite and returns "ID verdict" of each case.
func play(t *testing.T, s *Suite, cases []conformance.Case) (verdicts []string, report *Report) {
	t.Helper()
	report = NewReport()
	err := s.Run(t.Context(), cases, func(o Outcome) {
		verdicts = append(verdicts, o.ID+" "+o.Verdict.String())
		report.Add(o)
	})
	if err != nil {
		t.Fatal(err)
	}
	return verdicts, report
}

func TestCommands(t *testing.T) {
	tests := []struct {
		name string
		s    Suite
		want []string
	}{
		{"a good client", Suite{Get: self("good"), Jobs: 4},
			[]string{"9113-6.7-2 pass", "9113-6.7-4 pass", "9113-6.7-5/open pass", "9113-6.7-5/idle pass", "9113-6.7-6/empty pass",
				"9113-6.7-6/short pass", "9113-6.7-6/long pass", "9113-6.7-6/ack pass"}},
		{"one whose exit status says nothing", Suite{Get: self("zero"), Jobs: 4},
			[]string{"9113-6.7-2 pass", "9113-6.7-4 pass", "9113-6.7-5/open fail", "9113-6.7-5/idle fail", "9113-6.7-6/empty fail",
				"9113-6.7-6/short fail", "9113-6.7-6/long fail", "9113-6.7-6/ack fail"}},
		{"but its output does", Suite{Get: self("zero"), FailOn: "went wrong", Jobs: 4},
			[]string{"9113-6.7-2 pass", "9113-6.7-4 pass", "9113-6.7-5/open pass", "9113-6.7-5/idle pass", "9113-6.7-6/empty pass",
				"9113-6.7-6/short pass", "9113-6.7-6/long pass", "9113-6.7-6/ack pass"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, report := play(t, &tt.s, casesOf(t, "9113-6.7"))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
				for _, o := range report.Outcomes {
					t.Log(o.ID, o.Reason, o.Transcript, o.Output)
				}
			}
		})
	}
}

// A client that never connects, one that is no program, and one that says nothing fail, each with a reason.
func TestCommandsThatDoNothing(t *testing.T) {
	tests := []struct {
		name       string
		get        []string
		wantReason string
		wantOutput string
	}{
		{"ends at once", self("absent"), "the client did not connect", "no connection today"},
		{"is not there", []string{"/nonexistent/client", "{url}"}, "the client did not connect", ""},
		{"is deaf", self("deaf"), "at the start: the client says nothing", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &Suite{Get: tt.get, Timeout: 200 * time.Millisecond}
			_, report := play(t, s, casesOf(t, "9113-6.7-2"))
			o := report.Outcomes[0]
			if o.Verdict != conformance.Fail || !strings.Contains(o.Reason, tt.wantReason) || o.Output != tt.wantOutput {
				t.Errorf("%v: %q, output %q; want fail, %q, %q", o.Verdict, o.Reason, o.Output, tt.wantReason, tt.wantOutput)
			}
		})
	}
}

func TestSkipped(t *testing.T) {
	s := &Suite{Get: self("good")}
	reasons := map[string]string{}
	for _, c := range conformance.Cases() {
		if _, reason := s.command(c); reason != "" {
			reasons[c.ID] = reason
		}
	}
	want := map[string]string{
		"9113-8.1.1-2/head":        "needs a command for HEAD",
		"9113-5.2.1-2":             "needs a command for POST",
		"9113-5.1.2-1":             "needs a command for GET and GET",
		"9113-5.4.2-4":             "needs a command for POST and GET",
		"9113-6.9.1-8":             "needs a client that is led step by step",
		"9113-4.3.1-3/zero":        "needs a client that is led step by step",
		"9113-8.1.1-3":             "needs a command for GET and GET",
		"9113-6.9-2/first":         "needs a command for POST",
		"9110-6.4.1-2":             "needs a command for HEAD",
		"9113-10.5.1-1":            "needs a command for GET and GET",
		"9113-4.3.1-3/down-and-up": "needs a client that is led step by step",
	}
	for id, reason := range want {
		if reasons[id] != reason {
			t.Errorf("%s: %q, want %q", id, reasons[id], reason)
		}
	}
	if len(reasons) > len(conformance.Cases())/4 {
		t.Errorf("%d of %d cases need more than one GET", len(reasons), len(conformance.Cases()))
	}
}

func TestExpand(t *testing.T) {
	pair := casesOf(t, "9113-8.1.1-3")[0]
	s := &Suite{CA: "/ca.pem", Body: "/body"}
	got := expand([]string{"x", "{url}", "{url2}", "-h={host}:{port}", "{ca}", "@{body}"}, s, pair, "https://127.0.0.1:99")
	want := []string{"x", "https://127.0.0.1:99/a", "https://127.0.0.1:99/b", "-h=127.0.0.1:99", "/ca.pem", "@/body"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A client that comes by itself is judged by the wire alone.
func TestListen(t *testing.T) {
	transport := &h2http.Transport{AllowHTTP: true}
	defer transport.CloseIdleConnections()
	waiting := make(chan string, 10)
	s := &Suite{Listen: "127.0.0.1:0", Waiting: func(c conformance.Case, url string) { waiting <- url }}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for url := range waiting {
			if req, err := http.NewRequest(http.MethodGet, url, nil); err == nil {
				if resp, err := transport.RoundTrip(req); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
				}
			}
			transport.CloseIdleConnections()
		}
	}()
	got, _ := play(t, s, casesOf(t, "9113-6.3-1"))
	close(waiting)
	<-done
	if diff := cmp.Diff([]string{"9113-6.3-1 pass"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	s := &Suite{Get: self("deaf"), Timeout: time.Minute}
	cases := casesOf(t, "9113-6.7")
	cancel(stop)
	if err := s.Run(ctx, cases, func(o Outcome) { t.Error("an outcome of", o.ID) }); !errors.Is(err, stop) {
		t.Errorf("got %v, want %v", err, stop)
	}
}

func outcomes(t *testing.T) []Outcome {
	c := casesOf(t, "9113-6.7-2")[0]
	should := casesOf(t, "9113-6.8-6")[0]
	result := func(v conformance.Verdict, reason string) conformance.Result {
		return conformance.Result{Verdict: v, Reason: reason, Transcript: "+0.000s  >  SETTINGS"}
	}
	return []Outcome{
		{Case: c, Result: result(conformance.Pass, ""), Time: time.Second},
		{Case: c, Result: result(conformance.Allowed, "GOAWAY last=0 code=INTERNAL_ERROR")},
		{Case: c, Result: result(conformance.GaveUp, "> GOAWAY\n  got  the end"), Output: "oh"},
		{Case: c, Result: result(conformance.Fail, "> GOAWAY\n  got  nothing"), Known: "a story"},
		{Case: should, Result: result(conformance.Fail, "> GOAWAY")},
		{Case: should, Result: conformance.Result{Verdict: conformance.Skipped, Reason: "needs luck"}},
	}
}

func TestReport(t *testing.T) {
	r := NewReport()
	var text bytes.Buffer
	for _, o := range outcomes(t) {
		r.Add(o)
		WriteOutcome(&text, o)
	}
	text.WriteString("\n")
	r.WriteScores(&text)
	want := `pass     9113-6.7-2: PING is answered by PING with ACK and the same octets; an answer is not answered.
allowed  9113-6.7-2: PING is answered by PING with ACK and the same octets; an answer is not answered.
         GOAWAY last=0 code=INTERNAL_ERROR
gave-up  9113-6.7-2: PING is answered by PING with ACK and the same octets; an answer is not answered.
         of RFC 9113, Section 6.7; requirements 9113-6.7-2, 9113-6.7-4, 9113-6.7-1, 9113-6.7-3
         > GOAWAY
           got  the end
         +0.000s  >  SETTINGS
         the command printed:
         oh
known    9113-6.7-2: PING is answered by PING with ACK and the same octets; an answer is not answered.
         known: a story
fail     9113-6.8-6 (should): a client that has no more use for the connection after GOAWAY says GOAWAY and closes.
         of RFC 9113, Section 6.8; requirements 9113-6.8-6, 9113-5.4.1-3
         > GOAWAY
         +0.000s  >  SETTINGS
skipped  9113-6.8-6 (should): a client that has no more use for the connection after GOAWAY says GOAWAY and closes.
         needs luck

  cases  pass  allowed  gave up  fail  skipped  score  section
      4     1        1        1     1        0  50.0%  RFC 9113, Section 6.7
      2     0        0        0     1        1   0.0%  RFC 9113, Section 6.8
      6     1        1        1     2        1  40.0%  all

Of the 3 that were not kept, 1 are recommendations or limits of the client's own; 1 were known.
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJSON(t *testing.T) {
	r := NewReport()
	var out bytes.Buffer
	for _, o := range outcomes(t) {
		r.Add(o)
		if err := WriteJSON(&out, o); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var verdicts []string
	var total Score
	for line := range strings.Lines(out.String()) {
		var v struct {
			Case, Verdict, Level string
			Total                *Score
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if v.Total != nil {
			total = *v.Total
			continue
		}
		verdicts = append(verdicts, v.Case+" "+v.Level+" "+v.Verdict)
	}
	want := []string{"9113-6.7-2 must pass", "9113-6.7-2 must allowed", "9113-6.7-2 must gave-up", "9113-6.7-2 must fail",
		"9113-6.8-6 should fail", "9113-6.8-6 should skipped"}
	if diff := cmp.Diff(want, verdicts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantTotal := Score{Section: "all", Cases: 6, Pass: 1, Allowed: 1, GaveUp: 1, Fail: 2, Skipped: 1, Should: 1, Known: 1}
	if diff := cmp.Diff(wantTotal, total); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJUnit(t *testing.T) {
	r := NewReport()
	for _, o := range outcomes(t) {
		r.Add(o)
	}
	var out bytes.Buffer
	if err := r.WriteJUnit(&out); err != nil {
		t.Fatal(err)
	}
	var got junitSuites
	if err := xml.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	counts := []int{got.Tests, got.Failures, got.Skipped, len(got.Suites)}
	if diff := cmp.Diff([]int{6, 2, 2, 2}, counts); diff != "" {
		t.Errorf("tests, failures, skipped, suites (-want +got):\n%s", diff)
	}
	if f := got.Suites[0].Cases[2].Failure; f == nil || f.Message != "gave-up: > GOAWAY" {
		t.Errorf("the failure of the client that gave up is %+v", f)
	}
	if s := got.Suites[0].Cases[3].Skipped; s == nil || s.Message != "known: a story" {
		t.Errorf("the known failure is %+v", s)
	}
}
