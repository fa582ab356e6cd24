package cli

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestUnits(t *testing.T) {
	size := func(s string) (int64, string, error) {
		n, err := parseSize(s)
		return n, formatSize(n), err
	}
	rate := func(s string) (int64, string, error) {
		n, err := parseRate(s)
		return n, formatRate(n), err
	}
	duration := func(s string) (int64, string, error) {
		d, err := parseTime(s)
		return int64(d), d.String(), err
	}
	for _, tt := range []struct {
		name    string
		parse   func(string) (int64, string, error)
		in      string
		want    int64
		printed string
	}{
		{"size", size, "65535", 65535, "65535"},
		{"size", size, "0", 0, "0"},
		{"size", size, "64KiB", 65536, "64KiB"},
		{"size", size, "10MiB", 10485760, "10MiB"},
		{"size", size, "10 MiB", 10485760, "10MiB"},
		{"size", size, "10M", 10485760, "10MiB"},
		{"size", size, "10Mi", 10485760, "10MiB"},
		{"size", size, "1.5GiB", 1610612736, "1536MiB"},
		{"size", size, "1GB", 1000000000, "1GB"},
		{"size", size, "0.1kB", 100, "100"},
		{"size", size, "512B", 512, "512"},
		{"size", size, "1_000_000", 1000000, "1MB"},
		{"size", size, "8388607TiB", 8388607 << 40, "8388607TiB"},
		{"rate", rate, "100Mbit", 100e6, "100Mbit"},
		{"rate", rate, "1Gbit", 1e9, "1Gbit"},
		{"rate", rate, "1.5Gbit/s", 1500e6, "1500Mbit"},
		{"rate", rate, "56kbit", 56000, "56kbit"},
		{"rate", rate, "100Mbps", 100e6, "100Mbit"},
		{"rate", rate, "10MB/s", 80e6, "80Mbit"},
		{"rate", rate, "10Mb/s", 10e6, "10Mbit"},
		{"rate", rate, "1MiB/s", 8388608, "8388608bit"},
		{"time", duration, "0", 0, "0s"},
		{"time", duration, "50ms", int64(50 * time.Millisecond), "50ms"},
		{"time", duration, "1.5 s", int64(1500 * time.Millisecond), "1.5s"},
		{"time", duration, "2m", int64(2 * time.Minute), "2m0s"},
	} {
		t.Run(tt.name+" "+tt.in, func(t *testing.T) {
			got, printed, err := tt.parse(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want || printed != tt.printed {
				t.Errorf("%q is %d, printed %q; want %d, %q", tt.in, got, printed, tt.want, tt.printed)
			}
			again, _, err := tt.parse(printed)
			if err != nil || again != got {
				t.Errorf("%q was printed as %q, which parses as %d, %v", tt.in, printed, again, err)
			}
		})
	}
}

func TestUnitsRefused(t *testing.T) {
	size := func(s string) error { _, err := parseSize(s); return err }
	rate := func(s string) error { _, err := parseRate(s); return err }
	duration := func(s string) error { _, err := parseTime(s); return err }
	for _, tt := range []struct {
		parse func(string) error
		in    string
		want  string
	}{
		{size, "", `"" is no size (want one like 65535, 64KiB, 10MiB or 1GB): it does not begin with a number`},
		{size, "MiB", `"MiB" is no size (want one like 65535, 64KiB, 10MiB or 1GB): it does not begin with a number`},
		{size, "10Mbit", `"10Mbit" is no size (want one like 65535, 64KiB, 10MiB or 1GB): its unit is unknown`},
		{size, "-1", `"-1" is no size (want one like 65535, 64KiB, 10MiB or 1GB): it is negative`},
		{size, "1.2.3K", `"1.2.3K" is no size (want one like 65535, 64KiB, 10MiB or 1GB): it does not begin with a number`},
		{size, "9000000TiB", `"9000000TiB" is no size (want one like 65535, 64KiB, 10MiB or 1GB): it is out of range`},
		{size, "9000000.5TiB", `"9000000.5TiB" is no size (want one like 65535, 64KiB, 10MiB or 1GB): it is out of range`},
		{rate, "100", `"100" is no rate (want one like 100Mbit, 1Gbit or 10MiB/s): its unit is missing`},
		{rate, "0Mbit", `"0Mbit" is no rate (want one like 100Mbit, 1Gbit or 10MiB/s): it is zero`},
		{rate, "10MiB", `"10MiB" is no rate (want one like 100Mbit, 1Gbit or 10MiB/s): its unit is unknown`},
		{duration, "50", `"50" is no time (want one like 50ms, 1.5s or 2m)`},
		{duration, "-1s", `"-1s" is no time (want one like 50ms, 1.5s or 2m)`},
	} {
		t.Run(tt.in, func(t *testing.T) {
			err := tt.parse(tt.in)
			if err == nil {
				t.Fatalf("%q was accepted", tt.in)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSplitList(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"one", "bdp", []string{"bdp"}},
		{"options stay together", "fixed:stream=1:conn=2,bdp", []string{"fixed:stream=1:conn=2", "bdp"}},
		{"blanks and empty elements", " a, ,b,", []string{"a", "b"}},
		{"nothing", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, splitList(tt.in)); diff != "" {
				t.Errorf("list (-want +got):\n%s", diff)
			}
		})
	}
}
