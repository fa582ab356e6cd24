package cli

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"example.com/h2flow/cmd/h2flow/internal/load"
	"example.com/h2flow/cmd/h2flow/internal/stats"
)

// heldConns is how many connections the suite opens.
const heldConns = 1500

// heldPath is a body that begins and then pauses for longer than anybody measures.
const heldPath = "/bytes/65536?chunk=1024&pause=1h"

// A heldRow is one process of the memory suite, as --json prints it.
type heldRow struct {
	Case              string   `json:"case"`
	Client            string   `json:"client"`
	TLS               bool     `json:"tls"`
	Round             int      `json:"round"`
	Conns             int      `json:"conns"`
	IdleBytes         *float64 `json:"idle_bytes"`
	IdleGoroutines    float64  `json:"idle_goroutines"`
	WaitingBytes      *float64 `json:"waiting_bytes"`
	WaitingGoroutines float64  `json:"waiting_goroutines"`
}

// memorySuite prints what connections and streams cost that do nothing.
func (b *bencher) memorySuite(ctx context.Context, w io.Writer, o *benchOptions) error {
	clients := load.Clients()
	b.total = 2 * o.rounds * len(clients)
	printMachine(w)
	fmt.Fprintf(w, "resident memory and goroutines for each of %d connections, medians of %s\n"+
		"waiting: what one stream on each adds whose body has begun (HTTP/1.1: one request)\n\n",
		o.conns, count(o.rounds, "round"))
	rows := [][]string{{"", "idle KiB", "goroutines", "waiting KiB", "goroutines"}}
	for _, useTLS := range []bool{false, true} {
		bo := benchOptions{op: load.Get, size: 1024, streams: 1, conns: o.conns, requests: 1, tls: useTLS}
		t, err := bo.startTarget(ctx)
		if err != nil {
			return err
		}
		held, err := b.held(ctx, t, &bo, clients, o.rounds)
		t.close()
		if err != nil {
			return err
		}
		b.clear()
		for _, of := range held {
			rows = append(rows, heldCells(of))
		}
	}
	printAligned(w, rows)
	return nil
}

// held runs every client in turn and returns the rows of each.
func (b *bencher) held(ctx context.Context, t *target, o *benchOptions, clients []string, rounds int) ([][]heldRow, error) {
	path, err := url.Parse(heldPath)
	if err != nil {
		return nil, err
	}
	all := make([][]heldRow, len(clients))
	for round := 1; round <= rounds; round++ {
		for i, client := range clients {
			b.progress("memory, %s, round %d", client, round)
			spec := o.spec()
			spec.Client, spec.Held = client, true
			t.aim(&spec)
			spec.Beside = t.url.ResolveReference(path).String()
			var h load.Held
			if err := callWorker(ctx, spec, &h); err != nil {
				return nil, fmt.Errorf("client %s: %w", client, err)
			}
			row := heldRow{
				Case: "memory", Client: client, TLS: o.tls, Round: round, Conns: h.Conns, IdleBytes: h.IdleRSS, IdleGoroutines: h.IdleGoroutines,
				WaitingBytes: h.WaitingRSS, WaitingGoroutines: h.WaitingGoroutines,
			}
			all[i] = append(all[i], row)
			for _, line := range b.lines {
				if err := line.Encode(row); err != nil {
					return nil, err
				}
			}
		}
	}
	return all, nil
}

// heldCells are the medians of one client.
func heldCells(of []heldRow) []string {
	name := of[0].Client + ", cleartext"
	if of[0].TLS {
		name = of[0].Client + ", TLS"
	}
	cell := func(value func(r heldRow) *float64, unit float64) string {
		var values []float64
		for _, r := range of {
			if v := value(r); v != nil {
				values = append(values, *v/unit)
			}
		}
		if len(values) == 0 {
			return "-"
		}
		return strconv.FormatFloat(stats.Median(values), 'f', 1, 64)
	}
	return []string{
		name,
		cell(func(r heldRow) *float64 { return r.IdleBytes }, 1<<10),
		cell(func(r heldRow) *float64 { return &r.IdleGoroutines }, 1),
		cell(func(r heldRow) *float64 { return r.WaitingBytes }, 1<<10),
		cell(func(r heldRow) *float64 { return &r.WaitingGoroutines }, 1),
	}
}
