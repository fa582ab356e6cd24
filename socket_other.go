//go:build !linux

package h2flow

import "net"

// socket is what a transport can do beyond net.Conn; nothing on this system.
type socket struct{ plain bool }

func socketOf(net.Conn) *socket { return nil }

func (s *socket) writable() bool { return false }

func (s *socket) scatters() bool { return false }

func (s *socket) readPieces([][]byte, *pieceVector) (int, error) { panic("h2flow: bug: no socket") }

func (s *socket) tryWrite([]byte) int { return 0 }

func (s *socket) hasMark() bool { return false }

func (s *socket) setMark(int) {}

// pieceVector is what the system wants to know of the pieces of a read.
type pieceVector struct{}
