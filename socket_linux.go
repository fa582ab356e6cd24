package h2flow

import (
	"crypto/tls"
	"io"
	"net"
	"syscall"
	"unsafe"
)

// socket is the operating system's side of a transport that is a TCP or Unix socket, for what net.Conn has no call for.
type socket struct {
	raw   syscall.RawConn
	plain bool // its octets are HTTP/2 itself, not TLS
	tcp   bool

	// The functions that raw calls, kept since making them anew would allocate, and what they work with. Whoever holds
	// the pen uses the one, whoever reads the other.
	poll     func(fd uintptr)
	writing  bool // the socket takes octets
	write    func(fd uintptr) bool
	out      []byte
	written  int
	readv    func(fd uintptr) bool
	vector   *pieceVector
	n        int
	readvErr syscall.Errno
}

// socketOf returns the socket below nc, or nil if it is not known or not supported.
func socketOf(nc net.Conn) *socket {
	tc, secure := nc.(*tls.Conn)
	if secure {
		nc = tc.NetConn()
	}
	var raw syscall.RawConn
	var err error
	switch nc := nc.(type) {
	case *net.TCPConn:
		raw, err = nc.SyscallConn()
	case *net.UnixConn:
		raw, err = nc.SyscallConn()
	}
	if raw == nil || err != nil {
		return nil
	}
	_, tcp := nc.(*net.TCPConn)
	s := &socket{raw: raw, plain: !secure, tcp: tcp}
	s.poll, s.write, s.readv = s.pollOnce, s.writeOnce, s.readvOnce
	return s
}

// writable reports whether the socket takes a few KiB without blocking: Linux says so when a third of its buffer is
// free.
func (s *socket) writable() bool {
	s.writing = false
	return s.raw.Control(s.poll) == nil && s.writing
}

func (s *socket) pollOnce(fd uintptr) {
	const pollOut = 4
	p := struct {
		fd              int32
		events, revents int16
	}{fd: int32(fd), events: pollOut}
	var zero syscall.Timespec
	n, _, errno := syscall.RawSyscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&zero)), 0, 0, 0)
	s.writing = errno == 0 && n == 1 && p.revents&pollOut != 0
}

// tryWrite writes what the socket takes of p at once, which may be nothing, and returns how much that was.
func (s *socket) tryWrite(p []byte) int {
	s.out = p
	err := s.raw.Write(s.write)
	if s.out = nil; err != nil {
		return 0
	}
	return s.written
}

func (s *socket) writeOnce(fd uintptr) bool {
	n, err := syscall.Write(int(fd), s.out)
	if err != nil {
		n = 0
	}
	s.written = n
	return true
}

// hasMark reports whether setMark works.
func (s *socket) hasMark() bool { return s != nil && s.tcp }

// setMark sets how many octets have to be there before a blocked read returns. One that is lowered to what is there
// ends such a read.
func (s *socket) setMark(n int) {
	s.raw.Control(func(fd uintptr) {
		syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, n)
	})
}

// pieceVector is what the system wants to know of the pieces of a read; it is memory to be used again.
type pieceVector struct{ pieces []syscall.Iovec }

// scatters reports whether readPieces works.
func (s *socket) scatters() bool { return s != nil && s.plain }

// readPieces reads into the pieces, one after the other, and returns how many octets came. It blocks until some did, as
// Read does, and heeds the read deadline.
func (s *socket) readPieces(pieces [][]byte, v *pieceVector) (int, error) {
	v.pieces = v.pieces[:0]
	for _, p := range pieces {
		piece := syscall.Iovec{Base: unsafe.SliceData(p)}
		piece.SetLen(len(p))
		v.pieces = append(v.pieces, piece)
	}
	s.vector = v
	err := s.raw.Read(s.readv)
	s.vector = nil
	clear(v.pieces)
	switch {
	case err != nil:
		return 0, err
	case s.readvErr != 0:
		return 0, s.readvErr
	case s.n == 0:
		return 0, io.EOF
	}
	return s.n, nil
}

// readvOnce reports whether it is done: it is not while nothing has come.
func (s *socket) readvOnce(fd uintptr) bool {
	v := s.vector.pieces
	for {
		n, _, errno := syscall.Syscall(syscall.SYS_READV, fd, uintptr(unsafe.Pointer(&v[0])), uintptr(len(v)))
		if errno == syscall.EINTR {
			continue
		}
		s.n, s.readvErr = int(n), errno
		return errno != syscall.EAGAIN
	}
}
