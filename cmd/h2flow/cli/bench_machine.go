package cli

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"example.com/h2flow/cmd/h2flow/internal/load"
)

// congestionFile says which congestion control TCP connections of this machine use, on Linux.
const congestionFile = "/proc/sys/net/ipv4/tcp_congestion_control"

// printMachine says what figures depend on besides the clients.
func printMachine(w io.Writer) {
	control := "not known on " + runtime.GOOS
	if text, err := os.ReadFile(congestionFile); err == nil {
		control = strings.TrimSpace(string(text))
	}
	fmt.Fprintf(w, "%s %s/%s, %d CPUs, GOMAXPROCS %d, TCP congestion control: %s\n", runtime.Version(), runtime.GOOS,
		runtime.GOARCH, runtime.NumCPU(), runtime.GOMAXPROCS(0), control)
	if note := congestionNote(control); note != "" {
		fmt.Fprintln(w, note)
	}
}

// congestionNote warns of a congestion control that makes loopback a slow path.
func congestionNote(control string) string {
	if !strings.HasPrefix(control, "bbr") {
		return ""
	}
	return "note: " + control + " paces what it sends, which caps the throughput of loopback and hides differences; " +
		"measure with\n      sysctl -w net.ipv4.tcp_congestion_control=cubic"
}

// title says in one line what is done.
func (o *benchOptions) title(t *target) string {
	text := strings.ToUpper(o.op) + " " + t.url.String()
	if t.own {
		text += " (a server of ours in a process of its own)"
	} else if t.program != "" {
		text += " (" + t.program + ")"
	}
	if o.op == load.Post {
		text += ", " + formatSize(o.size) + " each"
		if o.chunked {
			text += " of unsaid length"
		}
	}
	text += fmt.Sprintf(", %s, %s on each", count(o.conns, "connection"), count(o.streams, "stream"))
	if o.requests > 0 {
		text += ", " + count(int(o.requests), "request")
	}
	if o.duration > 0 {
		text += fmt.Sprintf(", %v", o.duration)
	}
	if o.rtt > 0 {
		text += fmt.Sprintf(", RTT %v", o.rtt)
	}
	if o.rate > 0 {
		text += ", " + formatRate(o.rate)
	}
	if o.pace > 0 {
		text += ", read at " + formatRate(o.pace)
	}
	if o.beside > 0 {
		text += fmt.Sprintf(", beside downloads of %s", formatSize(o.beside))
	}
	if o.warmup == 0 {
		text += ", cold"
	}
	return text + ", " + count(o.rounds, "round")
}

// count is n with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
