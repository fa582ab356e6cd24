package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sample() *Report {
	n := func(v int64) *int64 { return &v }
	line := []Point{{0, 0}, {0.5, 1 << 20}, {1, 10 << 20}}
	return &Report{
		Size: 10 << 20, Machine: "a machine", Made: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Cells: []Cell{{
			Title: "RTT 50ms, 100Mbit/s",
			Rows: []Row{
				{Client: "net/http HTTP/1.1", Cold: 1, Warm: 0.5, Bytes: 10 << 20, Runs: []Run{
					{Phase: "cold", Number: 1, Seconds: 1, Typical: true, Curves: Curves{Received: line}},
				}},
				{Client: "h2flow", Strategy: "bdp:<b>&amp;", Cold: 2, Warm: 0.5, Bytes: 10 << 20,
					WindowUpdates: n(1234), Pings: n(0), PeakBuffered: n(100), PeakWindow: n(3 << 20),
					Runs: []Run{
						{Phase: "warm", Number: 1, Seconds: 1, Typical: true,
							Curves: Curves{Received: line, Window: line, InFlight: line}},
						{Phase: "cold", Number: 1, Seconds: 1, Typical: true, Curves: Curves{Received: line},
							OpeningSeconds: 0.1, Opening: Curves{Window: line[:1]}},
						{Phase: "cold", Number: 2, Seconds: 1, Curves: Curves{Received: line}},
					}},
				{Client: "h2flow", Strategy: "stubborn", Failure: "it stalled"},
			},
		}},
	}
}

func TestPage(t *testing.T) {
	var b bytes.Buffer
	if err := sample().Write(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"<title>h2flow demo: downloads of 10.0 MiB</title>", "2 January 2026, 03:04; a machine",
		"<h2>RTT 50ms, 100Mbit/s</h2>",
		"<td>2.000 s</td><td>5.0</td><td>2.00</td>", "<td>1,234</td><td>0</td><td>100 B</td><td>3.00 MiB</td>",
		"bdp:<wbr>&lt;b&gt;&amp;amp;", "failed: it stalled", "1 more runs", "The beginning: ",
		`class="line window"`, `class="line flight"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if found := regexp.MustCompile(`(?i)https?://|\bsrc=|\bhref=|@import|url\(|<script`).FindString(page); found != "" {
		t.Errorf("the page contains %q; it must need no network and no script", found)
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") || strings.Contains(page, "ZgotmplZ") {
		t.Error("the page contains something that is no number or was not safe to show")
	}
	for _, tag := range []string{"figure", "svg", "table", "tr", "td", "div", "details", "text", "p"} {
		opened := len(regexp.MustCompile(`<`+tag+`[\s>]`).FindAllString(page, -1))
		if closed := strings.Count(page, "</"+tag+">"); opened != closed {
			t.Errorf("%d <%s> are opened and %d closed", opened, tag, closed)
		}
	}
}

func TestEmptyPage(t *testing.T) {
	if err := (&Report{}).Write(&bytes.Buffer{}); err != nil {
		t.Error(err)
	}
}

func TestText(t *testing.T) {
	for _, tt := range []struct{ name, got, want string }{
		{"size", Size(0), "0 B"},
		{"size", Size(1023), "1023 B"},
		{"size", Size(65535), "64.0 KiB"},
		{"size", Size(4 << 20), "4.00 MiB"},
		{"size", Size(500 << 20), "500 MiB"},
		{"seconds", seconds(0), "–"},
		{"seconds", seconds(0.00512), "5.12 ms"},
		{"seconds", seconds(0.5), "500.0 ms"},
		{"seconds", seconds(8.0123), "8.012 s"},
		{"rate", rate(10<<20, 2), "5.0"},
		{"rate", rate(10<<20, 0), "–"},
		{"ratio", ratio(3, 2), "1.50"},
		{"ratio", ratio(3, 0), "–"},
		{"count", count(7), "7"},
		{"count", count(-1234567), "-1,234,567"},
	} {
		t.Run(tt.name+" "+tt.want, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("got %q, want %q", tt.got, tt.want)
			}
		})
	}
}

func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		limit float64
		want  string
	}{
		{10, "0 2 4 6 8 10"},
		{941, "0 200 400 600 800"},
		{8.1, "0 2 4 6 8"},
		{0.3, "0 0.05 0.1 0.15 0.2 0.25 0.3"},
		{67, "0 20 40 60"},
		{0, "0"},
	} {
		t.Run(fmt.Sprint(tt.limit), func(t *testing.T) {
			var got []string
			for _, tick := range ticks(tt.limit, 6, func(v float64) float64 { return v }) {
				got = append(got, tick.Label)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSteps(t *testing.T) {
	place := func(p Point) (x, y float64) { return 10 * p.Seconds, float64(p.Octets) }
	got := steps([]Point{{0, 5}, {1, 7}, {2, 6}, {9, 100}}, 3, place)
	if want := "M0.0 5.0H10.0V7.0H20.0V6.0H30.0"; got != want {
		t.Errorf("the path is %s, want %s", got, want)
	}
}
