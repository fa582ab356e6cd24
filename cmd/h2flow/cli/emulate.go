package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/sim"
	"example.com/h2flow/strategy"
)

var emulateCommand = command{
	name:    "emulate",
	args:    "[FILE.json|NAME|-]",
	summary: "run a scenario on real sockets, over an emulated path",
	text: `
Runs a scenario of sim in real time: Go's own HTTP/2 server in this process, behind the emulated path of demo, and
h2flow's client. The path has the scenario's rate, delay and queue, and TCP's window on it is open from the start, so that
what is measured is flow control and the machine. What the path cannot do is refused: loss, traces, changes, cross traffic
and the fields of TCP; so are small responses, and the server's fields but for think_ms and chunk_bytes.

--json prints the records of sim run with a further field, path, which is "relay". How long the server was blocked cannot
be seen from here: blocked_stream_ms and blocked_conn_ms are null. The time of the same scenario in sim is beside the
measured one in the table; it includes TCP's slow start.`,
	example: `
h2flow emulate --rtt-ms 20 --rate-mbit 100 --strategy 'bdp;fixed:stream=64KiB:conn=64KiB'
h2flow emulate slow-reader --json`,
	prepare: prepareEmulate,
}

func prepareEmulate(fs *flags) runner {
	var p simPlan
	var asJSON bool
	p.declareStrategies(fs, "strategies `NAME;...`, also with ranges, one after the other\n(default that of the scenario, else bdp)")
	p.declareFields(fs)
	fs.BoolVar(&asJSON, "json", false, "print a record for each request as a line of JSON")
	return func(ctx context.Context, e *env, args []string) error {
		if err := p.fixed("emulate"); err != nil {
			return err
		}
		base, err := p.baseScenario(args)
		if err != nil {
			return err
		}
		p.settleStrategies(base, []flow.Config{strategy.BDP{}})
		cells, err := p.plan(base).Cells()
		if err != nil {
			return usageError{err}
		}
		if err := emulable(cells[0].Scenario); err != nil {
			return usageError{err}
		}
		table := newGrid(e.stdout, "strategy", "connection", "request", "outcome", "seconds", "in sim", "Mbit/s",
			"peak window", "peak unread", "WINDOW_UPDATE", "PING")
		if !asJSON {
			fmt.Fprintf(e.stdout, "%s: %s\n\n", cells[0].Scenario.Title(), describePath(cells[0].Scenario))
		}
		var failures []error
		for _, cell := range cells {
			records, err := emulate(ctx, cell.Scenario)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			failures = append(failures, err)
			if asJSON {
				err = printEmulated(e, records)
			} else {
				err = addEmulated(table, cell.Scenario, records)
			}
			if err != nil {
				return err
			}
		}
		if !asJSON {
			if err := table.end(); err != nil {
				return err
			}
		}
		return errors.Join(failures...)
	}
}

// emulable says what of the scenario the emulated path cannot do.
func emulable(s sim.Scenario) error {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"loss", s.Loss > 0},
		{"trace_ms", len(s.TraceMs) > 0},
		{"changes", len(s.Changes) > 0},
		{"cross_traffic", len(s.CrossTraffic) > 0},
		{"congestion_control", s.CongestionControl != ""},
		{"no_hystart", s.NoHyStart},
		{"initial_window_segments", s.InitialWindowSegments != 0},
		{"receive_buffer_bytes", s.ReceiveBufferBytes != 0},
		{"handshake_rtts", s.HandshakeRTTs > 1},
		{"kernel_rtt", s.KernelRTT},
		{"small_bytes", s.SmallBytes > 0},
		{"check_invariants", s.CheckInvariants},
		{"server.frame_bytes", s.Server.FrameBytes != 0},
		{"server.write_bytes", s.Server.WriteBytes != 0},
		{"server.send_buffer_bytes", s.Server.SendBufferBytes != 0},
		{"server.ping_strikes", s.Server.PingStrikes != 0},
	} {
		if f.given {
			return fmt.Errorf("emulate cannot do what %s asks for; sim run can", f.name)
		}
	}
	if s.UnreadStreams >= max(s.Streams, 1) {
		return fmt.Errorf("emulate needs a stream that is read, and unread_streams is all of them")
	}
	return nil
}

// emulatedRecord is a record of emulate: what cannot be seen on real sockets is null.
type emulatedRecord struct {
	sim.Record
	BlockedStreamMs *float64 `json:"blocked_stream_ms"`
	BlockedConnMs   *float64 `json:"blocked_conn_ms"`
	Path            string   `json:"path"`
}

func printEmulated(e *env, records []sim.Record) error {
	encoder := json.NewEncoder(e.stdout)
	for _, r := range records {
		if err := encoder.Encode(emulatedRecord{Record: r, Path: "relay"}); err != nil {
			return err
		}
	}
	return nil
}

// addEmulated adds rows to the table, each with the time that sim gives.
func addEmulated(t *grid, s sim.Scenario, records []sim.Record) error {
	simulated, err := sim.Run(s)
	if err != nil {
		return err
	}
	times := make(map[[2]int]float64)
	for _, r := range simulated.Records {
		times[[2]int{r.Connection, r.Request}] = r.Seconds
	}
	for _, r := range records {
		phase := "cold"
		if r.Warm {
			phase = "warm"
		}
		t.row(r.Strategy, strconv.Itoa(r.Connection+1), fmt.Sprintf("%d %s", r.Request+1, phase), r.Outcome,
			fmt.Sprintf("%.4f", r.Seconds), fmt.Sprintf("%.4f", times[[2]int{r.Connection, r.Request}]),
			fmt.Sprintf("%.1f", goodputMbit(r)), roundSize(r.PeakWindowBytes), roundSize(r.PeakBufferedBytes),
			strconv.FormatInt(r.WindowUpdates, 10), strconv.FormatInt(r.Pings, 10))
	}
	return nil
}

// scenarioTime is a time of a scenario.
func scenarioTime(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
