package relay

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// An fdAlarm sleeps by a timer of the kernel that the runtime's poller watches like a socket: it wakes within some
// ten microseconds, where the runtime's own timers round up to milliseconds, and occupies no thread meanwhile.
type fdAlarm struct{ file *os.File }

// newAlarm returns an fdAlarm, or what the runtime has if the kernel gives none.
func newAlarm() alarm {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return newTimerAlarm()
	}
	return &fdAlarm{file: os.NewFile(uintptr(fd), "timerfd")}
}

func (a *fdAlarm) sleepUntil(t time.Time) bool {
	d := time.Until(t)
	if d <= 0 {
		return true
	}
	conn, err := a.file.SyscallConn()
	if err != nil {
		return false
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	set := func(fd uintptr) { err = unix.TimerfdSettime(int(fd), 0, &spec, nil) }
	if closed := conn.Control(set); closed != nil || err != nil {
		return false
	}
	var expirations [8]byte
	_, err = a.file.Read(expirations[:])
	return err == nil
}

func (a *fdAlarm) close() { a.file.Close() }
