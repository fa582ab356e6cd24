package cli

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"example.com/h2flow/flow"
	"example.com/h2flow/sim"
)

var simRunCommand = command{
	name:    "sim run",
	args:    "[FILE.json|NAME|-]",
	summary: "run one scenario in virtual time",
	text: `
Runs the connection core over a modelled path. The scenario is a file of JSON, standard input (-) or a name of sim list;
without one it is 10 MiB over 50 ms and 100 Mbit/s. A flag replaces a field of the scenario. The same scenario gives the
same result on every machine.

Each request gives one line. With --json it is a record of these fields: scenario, strategy, seed, outcome (ok, stalled,
failed or timeout), rtt_ms, rate_mbit, loss, reader, warm, bytes, seconds, ideal_seconds, ratio_to_ideal,
blocked_stream_ms, blocked_conn_ms, peak_buffered_bytes, peak_window_bytes, bdp_bytes, window_updates, pings.

--series writes the state of the connections over time: connection, request, seconds, window_bytes, credit_bytes,
flight_bytes, congestion_bytes, unread_bytes, received_bytes, consumed_bytes, granted_bytes, queue_bytes; as CSV if the
name ends in .csv, else as lines of JSON.`,
	example: `
h2flow sim run transatlantic --strategy bdp
h2flow sim run --rtt-ms 200 --rate-mbit 1000 --bytes 100MiB --requests 2 --strategy unlimited --json
h2flow sim run paused-reader --series window.csv`,
	prepare: prepareSimRun,
}

func prepareSimRun(fs *flags) runner {
	var p simPlan
	var asJSON bool
	var series, record string
	var seriesMs float64
	p.declareStrategies(fs, "`NAME` of the strategy (default that of the scenario, else bdp)")
	p.declareFields(fs)
	fs.BoolVar(&asJSON, "json", false, "print a record for each request as a line of JSON")
	fs.StringVar(&series, "series", "", "write the state over time to `FILE`")
	fs.Float64Var(&seriesMs, "series-ms", 1, "with --series, the least time between two samples in `MILLISECONDS`")
	fs.StringVar(&record, "record", "", "write the events and decisions of the first connection to `FILE`, for sim replay")
	return func(ctx context.Context, e *env, args []string) error {
		s, err := p.single("sim run", args)
		if err != nil {
			return err
		}
		var recorders []*flow.Recorder
		if record != "" {
			s.Flow = flow.Record(s.Flow, func(r *flow.Recorder) { recorders = append(recorders, r) })
		}
		var out *outFile
		if series != "" {
			if seriesMs <= 0 {
				return usagef("--series-ms must be above 0")
			}
			s.SeriesMs = seriesMs
			if out, err = createOut(series); err != nil {
				return err
			}
			defer out.discard()
		}
		r, err := sim.Run(s)
		if err != nil {
			return err
		}
		if record != "" && len(recorders) > 0 {
			if err := writeWhole(record, func(w io.Writer) error { _, err := w.Write(recorders[0].Lines()); return err }); err != nil {
				return err
			}
		}
		if out != nil {
			if err := writeSeries(out, r.Records, strings.HasSuffix(series, ".csv")); err != nil {
				return err
			}
			if err := out.commit(); err != nil {
				return err
			}
		}
		if asJSON {
			return printRecords(e.stdout, r.Records)
		}
		return printRun(e.stdout, s, r)
	}
}

func printRecords(w io.Writer, records []sim.Record) error {
	encoder := json.NewEncoder(w)
	for _, r := range records {
		if err := encoder.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// printRun prints the table of one run.
func printRun(w io.Writer, s sim.Scenario, r sim.Result) error {
	fmt.Fprintf(w, "%s: %s\n", s.Title(), describePath(s))
	fmt.Fprintf(w, "strategy %s\n\n", s.Flow)
	t := newGrid(w, "connection", "request", "outcome", "seconds", "x ideal", "Mbit/s", "stream-blocked", "conn-blocked",
		"peak window", "peak unread", "WINDOW_UPDATE", "PING")
	for _, rec := range r.Records {
		phase := fmt.Sprintf("%d cold", rec.Request+1)
		if rec.Warm {
			phase = fmt.Sprintf("%d warm", rec.Request+1)
		}
		t.row(strconv.Itoa(rec.Connection+1), phase, rec.Outcome, fmt.Sprintf("%.4f", rec.Seconds),
			fmt.Sprintf("%.3f", rec.RatioToIdeal), fmt.Sprintf("%.1f", goodputMbit(rec)),
			fmt.Sprintf("%.1f ms", rec.BlockedStreamMs), fmt.Sprintf("%.1f ms", rec.BlockedConnMs),
			roundSize(rec.PeakWindowBytes), roundSize(rec.PeakBufferedBytes),
			strconv.FormatInt(rec.WindowUpdates, 10), strconv.FormatInt(rec.Pings, 10))
	}
	if err := t.end(); err != nil {
		return err
	}
	for _, text := range r.Errors {
		fmt.Fprintf(w, "%s\n", text)
	}
	_, err := fmt.Fprintf(w, "\n%.3f s simulated; lost %d at random and %d at the full queue, sent %d again; Jain's index %.3f\n",
		r.Path.SimulatedSeconds, r.Path.LossDrops, r.Path.QueueDrops, r.Path.Retransmitted, r.Fairness())
	return err
}

// describePath says what the scenario's path is and what is transferred over it.
func describePath(s sim.Scenario) string {
	rate := "no limit of rate"
	if s.RateMbit > 0 {
		rate = fmt.Sprintf("%v Mbit/s", s.RateMbit)
	}
	text := fmt.Sprintf("RTT %v ms, %s", s.RTTMs, rate)
	if s.Loss > 0 {
		text += fmt.Sprintf(", loss %v", s.Loss)
	}
	text += fmt.Sprintf(", %s on %d stream(s), reader %s", formatSize(s.Bytes), max(s.Streams, 1), s.Reader)
	if bdp := s.BDPBytes(); bdp > 0 {
		text += ", BDP " + roundSize(bdp)
	}
	return text
}

// goodputMbit is how fast the application got the octets, in Mbit/s.
func goodputMbit(r sim.Record) float64 {
	if r.Seconds <= 0 {
		return 0
	}
	return float64(r.Bytes) * 8 / r.Seconds / 1e6
}

// A seriesLine is one sample, with the request it belongs to.
type seriesLine struct {
	Connection int `json:"connection"`
	Request    int `json:"request"`
	sim.Sample
}

// writeSeries writes the samples of all records.
func writeSeries(w io.Writer, records []sim.Record, asCSV bool) error {
	buffered := bufio.NewWriter(w)
	encoder := json.NewEncoder(buffered)
	table := csv.NewWriter(buffered)
	if asCSV {
		table.Write([]string{
			"connection", "request", "seconds", "window_bytes", "credit_bytes", "flight_bytes", "congestion_bytes",
			"unread_bytes", "received_bytes", "consumed_bytes", "granted_bytes", "queue_bytes",
		})
	}
	for _, r := range records {
		for _, s := range r.Series {
			if !asCSV {
				if err := encoder.Encode(seriesLine{r.Connection, r.Request, s}); err != nil {
					return err
				}
				continue
			}
			row := []string{
				strconv.Itoa(r.Connection), strconv.Itoa(r.Request), strconv.FormatFloat(s.Seconds, 'f', -1, 64),
			}
			for _, n := range []int64{
				s.WindowBytes, s.CreditBytes, s.FlightBytes, s.CongestionBytes, s.UnreadBytes, s.ReceivedBytes,
				s.ConsumedBytes, s.GrantedBytes, s.QueueBytes,
			} {
				row = append(row, strconv.FormatInt(n, 10))
			}
			table.Write(row)
		}
	}
	table.Flush()
	if err := table.Error(); err != nil {
		return err
	}
	return buffered.Flush()
}
