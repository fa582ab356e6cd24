package sweep

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"example.com/h2flow/sim"
)

// Columns are the names of the columns of WriteCSV, which are those of a record's JSON.
var Columns = []string{
	"scenario", "strategy", "seed", "outcome", "rtt_ms", "rate_mbit", "loss", "reader", "warm", "bytes", "seconds",
	"ideal_seconds", "ratio_to_ideal", "blocked_stream_ms", "blocked_conn_ms", "peak_buffered_bytes", "peak_window_bytes",
	"bdp_bytes", "window_updates", "pings",
}

// WriteCSV writes one line for each record, below a line with the names of the columns.
func WriteCSV(w io.Writer, outcomes []Outcome) error {
	c := csv.NewWriter(w)
	c.Write(Columns)
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	whole := func(v int64) string { return strconv.FormatInt(v, 10) }
	for _, o := range outcomes {
		for _, r := range o.Records {
			c.Write([]string{
				r.Scenario, r.Strategy, strconv.FormatUint(r.Seed, 10), r.Outcome, number(r.RTTMs), number(r.RateMbit),
				number(r.Loss), r.Reader, strconv.FormatBool(r.Warm), whole(r.Bytes), number(r.Seconds),
				number(r.IdealSeconds), number(r.RatioToIdeal), number(r.BlockedStreamMs), number(r.BlockedConnMs),
				whole(r.PeakBufferedBytes), whole(r.PeakWindowBytes), whole(r.BDPBytes), whole(r.WindowUpdates), whole(r.Pings),
			})
		}
	}
	c.Flush()
	return c.Error()
}

// WriteRecords writes each record as a line of JSON.
func WriteRecords(w io.Writer, outcomes []Outcome) error {
	e := json.NewEncoder(w)
	for _, o := range outcomes {
		for _, r := range o.Records {
			if err := e.Encode(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// WriteOutcomes writes each outcome as a line of JSON, which ReadOutcomes reads.
func WriteOutcomes(w io.Writer, outcomes []Outcome) error {
	e := json.NewEncoder(w)
	for _, o := range outcomes {
		if err := e.Encode(o); err != nil {
			return err
		}
	}
	return nil
}

// ReadOutcomes reads lines of WriteOutcomes, or of WriteRecords; those become outcomes of one record each, whose
// scenario has only what the record says. A last line that is cut short is passed over.
func ReadOutcomes(r io.Reader) ([]Outcome, error) {
	var outcomes []Outcome
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && !json.Valid(line) {
			return outcomes, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			o, err := readOutcome(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			outcomes = append(outcomes, o)
		}
		if err != nil {
			return outcomes, nil
		}
	}
}

func readOutcome(line []byte) (Outcome, error) {
	var o Outcome
	var probe struct {
		Records json.RawMessage `json:"records"`
		Outcome string          `json:"outcome"`
	}
	if err := json.Unmarshal(line, &probe); err != nil {
		return o, err
	}
	if probe.Records != nil {
		err := json.Unmarshal(line, &o)
		return o, err
	}
	if probe.Outcome == "" {
		return o, fmt.Errorf("it is neither a record nor a cell of a sweep")
	}
	var r sim.Record
	if err := json.Unmarshal(line, &r); err != nil {
		return o, err
	}
	o.Records = []sim.Record{r}
	o.Scenario = sim.Scenario{
		Name: r.Scenario, Strategy: r.Strategy, Seed: r.Seed, RTTMs: r.RTTMs, RateMbit: r.RateMbit, Loss: r.Loss, Bytes: r.Bytes,
	}
	reader, err := sim.ParseReader(r.Reader)
	o.Scenario.Reader = reader
	return o, err
}
