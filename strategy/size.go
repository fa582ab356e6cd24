package strategy

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units of sizes, largest first, so that formatSize picks the largest that divides the size.
var units = []struct {
	name   string
	octets int64
}{
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
}

// parseSize reads a whole number of octets, or of KiB, MiB or GiB.
func parseSize(s string) (int64, error) {
	digits, octets := s, int64(1)
	for _, u := range units {
		if d, ok := strings.CutSuffix(s, u.name); ok {
			digits, octets = d, u.octets
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || int64(n) > math.MaxInt64/octets {
		return 0, fmt.Errorf("%q is no size: want octets such as 65535, or 64KiB, 16MiB, 1GiB", s)
	}
	return int64(n) * octets, nil
}

// formatSize writes n so that parseSize reads it back.
func formatSize(n int64) string {
	for _, u := range units {
		if n != 0 && n%u.octets == 0 {
			return strconv.FormatInt(n/u.octets, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}
