//go:build unix && !solaris && !aix

package sweep

import (
	"os"
	"syscall"
)

// lock keeps other processes from locking the file until it is closed. It does not wait.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
