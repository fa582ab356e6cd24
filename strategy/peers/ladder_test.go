package peers_test

import (
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/flow"
	"example.com/h2flow/sim"
)

var update = flag.Bool("update", false, "rewrite the table of models in docs/strategies.md")

const (
	pathExtra    = 0.4      // ms that the emulated path adds to the round trip asked for
	chunk        = 32 << 10 // octets that the handler of Go's server copies at a time
	timeWithin   = 0.15     // of the measured time
	framesWithin = 0.30     // of the measured frames
)

// measured is one row of testdata/ladder.csv; what was not measured is 0, frames -1.
type measured struct {
	client, model, control    string
	mib, rate, rtt            float64
	cold, warm, frames, pings float64
}

func readLadder(t *testing.T) []measured {
	t.Helper()
	text, err := os.ReadFile("testdata/ladder.csv")
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(strings.NewReader(string(text)))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string, none float64) float64 {
		if s == "" {
			return none
		}
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	var all []measured
	for _, row := range rows[1:] {
		all = append(all, measured{
			client: row[0], model: row[1], control: row[5],
			mib: number(row[2], 0), rate: number(row[3], 0), rtt: number(row[4], 0),
			cold: number(row[6], 0), warm: number(row[7], 0), frames: number(row[8], -1), pings: number(row[9], -1),
		})
	}
	return all
}

// run is m in the simulator: the same figures. A client without a warm exchange made one exchange.
func (m measured) run(t *testing.T) (got measured) {
	t.Helper()
	cfg := parse(t, m.model)
	s := sim.Scenario{
		RTTMs: m.rtt + pathExtra, RateMbit: m.rate, CongestionControl: m.control, Bytes: int64(m.mib) << 20,
		Requests: 1, Flow: cfg, Server: sim.Server{ChunkBytes: chunk},
	}
	if m.warm > 0 {
		s.Requests = 3
	}
	r, err := sim.Run(s)
	if err != nil {
		t.Fatal(err)
	}
	var warms []float64
	for i, rec := range r.Records {
		if rec.Outcome != sim.OutcomeOK {
			t.Fatalf("%s at %v ms: %s: %v", m.model, m.rtt, rec.Outcome, r.Errors)
		}
		got.frames += float64(rec.WindowUpdates)
		got.pings += float64(rec.Pings)
		if i > 0 {
			warms = append(warms, rec.Seconds)
		}
	}
	got.cold = r.Records[0].Seconds
	if len(warms) > 0 {
		got.warm = (slices.Min(warms) + slices.Max(warms)) / 2 // the median of two
	}
	if cfg.New().Open(now).Conn > flow.DefaultWindow {
		got.frames++ // of the preface
	}
	got.frames /= float64(s.Requests)
	got.pings /= float64(s.Requests)
	return got
}

// judged is one client over all its rows.
type judged struct {
	client, model          string
	times, timesOff        int
	frames, framesOff      int
	worstTime, worstFrames float64
	shown                  bool // its frames depend on reads of the socket and are shown without judging
}

func (j *judged) time(want, got float64) string {
	if want == 0 {
		return ""
	}
	err := got/want - 1
	j.times++
	if math.Abs(err) > timeWithin {
		j.timesOff++
	}
	if math.Abs(err) > math.Abs(j.worstTime) {
		j.worstTime = err
	}
	return fmt.Sprintf("%.3f / %.3f", got, want)
}

func (j *judged) count(want, got measured) string {
	if want.frames < 0 {
		return ""
	}
	// Whole frames are counted, and neither mean comes of the same number of exchanges: one frame is no error.
	diff := got.frames + got.pings - want.frames - want.pings
	err := diff / max(want.frames+want.pings, 1)
	j.frames++
	if math.Abs(err) > framesWithin && math.Abs(diff) > 1 {
		j.framesOff++
	}
	if math.Abs(err) > math.Abs(j.worstFrames) && math.Abs(diff) > 1 {
		j.worstFrames = err
	}
	return fmt.Sprintf("%.1f+%.1f / %.1f+%.1f", got.frames, got.pings, want.frames, want.pings)
}

func (j *judged) verdict() string {
	switch {
	case j.timesOff == 0 && (j.framesOff == 0 || j.shown):
		return "reproduces"
	case j.timesOff == 0:
		return "misses: frames"
	case j.framesOff == 0 || j.shown:
		return "misses: times"
	}
	return "misses: times and frames"
}

// The models of clients that were measured, against that. Which of them reproduce it is pinned by the document.
func TestModelsAgainstMeasurement(t *testing.T) {
	if testing.Short() {
		t.Skip("runs some hundred transfers")
	}
	var order []*judged
	byClient := make(map[string]*judged)
	var detail strings.Builder
	for _, want := range readLadder(t) {
		j := byClient[want.client]
		if j == nil {
			j = &judged{client: want.client, model: want.model, shown: strings.HasPrefix(want.model, "peer:nethttp")}
			byClient[want.client] = j
			order = append(order, j)
		}
		got := want.run(t)
		fmt.Fprintf(&detail, "| %s | %v | %v | %v | %s | %s | %s | %s |\n", want.client, want.mib, want.rate, want.rtt, want.control,
			j.time(want.cold, got.cold), j.time(want.warm, got.warm), j.count(want, got))
	}
	var b strings.Builder
	b.WriteString("| client | model | times | worst | frames | worst | verdict |\n|---|---|---|---|---|---|---|\n")
	for _, j := range order {
		frames := fmt.Sprintf("%d of %d", j.frames-j.framesOff, j.frames)
		if j.shown {
			frames = "not judged"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %d of %d | %+.1f %% | %s | %+.0f %% | %s |\n", j.client, j.model,
			j.times-j.timesOff, j.times, 100*j.worstTime, frames, 100*j.worstFrames, j.verdict())
	}
	b.WriteString("\nEach cell is model / measurement; frames are WINDOW_UPDATE+PING in the mean of the exchanges.\n\n")
	b.WriteString("| client | MiB | Mbit/s | RTT ms | control | cold s | warm s | frames |\n|---|---|---|---|---|---|---|---|\n")
	b.WriteString(detail.String())
	pin(t, b.String())
}

// pin compares text with what docs/strategies.md has between its marks, or writes it there.
func pin(t *testing.T, text string) {
	t.Helper()
	const file, begin, end = "../../docs/strategies.md", "<!-- models of clients: begin -->\n", "<!-- models of clients: end -->\n"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(doc), begin)
	old, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no marks for the table", file)
	}
	if *update {
		if err := os.WriteFile(file, []byte(head+begin+text+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(old, text); diff != "" {
		t.Errorf("%s is not what the models do; -update rewrites it (-want +got):\n%s", file, diff)
	}
}
