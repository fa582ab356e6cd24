package report

import (
	"fmt"
	"strconv"
)

// Size is n octets to about three digits, with a binary unit.
func Size(n int64) string {
	value, unit := float64(n), "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, u
	}
	switch {
	case unit == "B":
		return strconv.FormatInt(n, 10) + " B"
	case value < 10:
		return fmt.Sprintf("%.2f %s", value, unit)
	case value < 100:
		return fmt.Sprintf("%.1f %s", value, unit)
	}
	return fmt.Sprintf("%.0f %s", value, unit)
}

// seconds is a time to about four digits.
func seconds(s float64) string {
	switch {
	case s == 0:
		return "–"
	case s < 0.1:
		return fmt.Sprintf("%.2f ms", 1000*s)
	case s < 1:
		return fmt.Sprintf("%.1f ms", 1000*s)
	}
	return fmt.Sprintf("%.3f s", s)
}

// rate is in MiB per second.
func rate(bytes int64, s float64) string {
	if s == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", float64(bytes)/(1<<20)/s)
}

func ratio(s, base float64) string {
	if s == 0 || base == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", s/base)
}

// count groups the digits of n by thousands.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
