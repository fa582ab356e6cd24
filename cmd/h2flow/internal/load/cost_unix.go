//go:build unix

package load

import (
	"runtime"
	"syscall"
)

// cpuTime returns the CPU time that this process has used, in seconds.
func cpuTime() (user, sys *float64) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return nil, nil
	}
	u, s := float64(r.Utime.Nano())/1e9, float64(r.Stime.Nano())/1e9
	return &u, &s
}

// peakRSS returns the most memory that this process has held, in octets.
func peakRSS() *int64 {
	if n := statusHWM(); n != nil {
		return n
	}
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return nil
	}
	n := int64(r.Maxrss)
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" { // the others count in KiB
		n <<= 10
	}
	return &n
}
