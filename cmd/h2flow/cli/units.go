package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A unit is a suffix and what it multiplies by. In each table the first unit that fits exactly is the one printed.
type unit struct {
	name   string
	factor int64
}

var sizeUnits = []unit{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"", 1},
}

// Further spellings of sizes. A letter alone is binary, as in ls and dd.
var sizeAliases = []unit{
	{"Ti", 1 << 40}, {"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10},
	{"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"KB", 1e3}, {"B", 1},
}

var rateUnits = []unit{{"Tbit", 1e12}, {"Gbit", 1e9}, {"Mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}}

// Further spellings of rates. The case tells bits from octets: 100Mb/s against 100MB/s.
var rateAliases = []unit{
	{"Gbps", 1e9}, {"Mbps", 1e6}, {"kbps", 1e3}, {"Kbps", 1e3}, {"bps", 1}, {"Kbit", 1e3},
	{"Gb/s", 1e9}, {"Mb/s", 1e6}, {"kb/s", 1e3}, {"b/s", 1},
	{"Gbit/s", 1e9}, {"Mbit/s", 1e6}, {"kbit/s", 1e3}, {"Kbit/s", 1e3}, {"bit/s", 1},
	{"GiB/s", 8 << 30}, {"MiB/s", 8 << 20}, {"KiB/s", 8 << 10}, {"GB/s", 8e9}, {"MB/s", 8e6}, {"kB/s", 8e3}, {"B/s", 8},
}

// parseSize reads a number of octets: 65535, 64KiB, 10MiB, 1.5GB, 10M.
func parseSize(s string) (int64, error) {
	n, err := parseUnits(s, sizeUnits, sizeAliases)
	if err != nil {
		return 0, fmt.Errorf("%q is no size (want one like 65535, 64KiB, 10MiB or 1GB): %w", s, err)
	}
	return n, nil
}

// formatSize is the shortest exact spelling of n octets.
func formatSize(n int64) string { return formatUnits(n, sizeUnits) }

// parseRate reads a number of bits per second: 100Mbit, 1Gbit, 10MiB/s. A unit is required.
func parseRate(s string) (int64, error) {
	n, err := parseUnits(s, rateUnits, rateAliases)
	if err == nil && n == 0 {
		err = errZero
	}
	if err != nil {
		return 0, fmt.Errorf("%q is no rate (want one like 100Mbit, 1Gbit or 10MiB/s): %w", s, err)
	}
	return n, nil
}

// formatRate is the shortest exact spelling of n bits per second.
func formatRate(n int64) string { return formatUnits(n, rateUnits) }

// parseTime reads a duration that is not negative: 50ms, 1.5s, 2m, 0. A unit is required but for 0.
func parseTime(s string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.ReplaceAll(strings.TrimSpace(s), " ", ""))
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no time (want one like 50ms, 1.5s or 2m)", s)
	}
	return d, nil
}

var (
	errNumber   = fmt.Errorf("it does not begin with a number")
	errUnit     = fmt.Errorf("its unit is unknown")
	errRange    = fmt.Errorf("it is out of range")
	errZero     = fmt.Errorf("it is zero")
	errNoUnit   = fmt.Errorf("its unit is missing")
	errNegative = fmt.Errorf("it is negative")
)

func parseUnits(s string, tables ...[]unit) (int64, error) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "-") {
		return 0, errNegative
	}
	end := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '_' })
	if end < 0 {
		end = len(s)
	}
	number, suffix := strings.ReplaceAll(s[:end], "_", ""), strings.TrimSpace(s[end:])
	if number == "" || number == "." || strings.Count(number, ".") > 1 {
		return 0, errNumber
	}
	factor, err := findUnit(suffix, tables)
	if err != nil {
		return 0, err
	}
	if whole, err := strconv.ParseInt(number, 10, 64); err == nil {
		if whole > math.MaxInt64/factor {
			return 0, errRange
		}
		return whole * factor, nil
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || value*float64(factor) >= math.MaxInt64 {
		return 0, errRange
	}
	return int64(math.Round(value * float64(factor))), nil
}

func findUnit(suffix string, tables [][]unit) (int64, error) {
	for _, table := range tables {
		for _, u := range table {
			if u.name == suffix {
				return u.factor, nil
			}
		}
	}
	if suffix == "" {
		return 0, errNoUnit
	}
	return 0, errUnit
}

func formatUnits(n int64, units []unit) string {
	for _, u := range units {
		if n != 0 && n%u.factor == 0 {
			return strconv.FormatInt(n/u.factor, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + units[len(units)-1].name
}

// splitList splits a comma-separated list and drops empty elements.
func splitList(s string) []string {
	var list []string
	for _, e := range strings.Split(s, ",") {
		if e = strings.TrimSpace(e); e != "" {
			list = append(list, e)
		}
	}
	return list
}
