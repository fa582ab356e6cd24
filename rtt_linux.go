//go:build !386 && !s390x

package h2flow

import (
	"syscall"
	"time"
	"unsafe"
)

// roundTrip is the round-trip time that the kernel has measured for the connection of s, 0 if it does not know: TCP
// knows it from the handshake on. It is that of the way to the next hop of TCP, which may be a proxy. It takes a
// microsecond.
func (s *socket) roundTrip() time.Duration {
	if s == nil || !s.tcp {
		return 0
	}
	var info syscall.TCPInfo
	size := uint32(unsafe.Sizeof(info))
	var errno syscall.Errno
	err := s.raw.Control(func(fd uintptr) {
		_, _, errno = syscall.RawSyscall6(syscall.SYS_GETSOCKOPT, fd, syscall.IPPROTO_TCP, syscall.TCP_INFO,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	})
	if err != nil || errno != 0 || uintptr(size) < unsafe.Offsetof(info.Rtt)+unsafe.Sizeof(info.Rtt) {
		return 0
	}
	return time.Duration(info.Rtt) * time.Microsecond
}
