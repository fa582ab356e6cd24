//go:build !unix

package load

func cpuTime() (user, sys *float64) { return nil, nil }

func peakRSS() *int64 { return nil }
