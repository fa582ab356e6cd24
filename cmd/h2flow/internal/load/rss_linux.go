package load

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// statusHWM reads the peak from /proc, since on Linux ru_maxrss is inherited over exec: a small process would show the
// memory of whoever started it.
func statusHWM() *int64 { return statusLine("VmHWM:") }

// presentRSS is the memory that is resident now, in octets.
func presentRSS() *int64 { return statusLine("VmRSS:") }

// statusLine reads a size that /proc tells of this process, and returns it in octets.
func statusLine(name string) *int64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		rest, ok := strings.CutPrefix(lines.Text(), name)
		if !ok {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
		if err != nil {
			return nil
		}
		n := kib << 10
		return &n
	}
	return nil
}
