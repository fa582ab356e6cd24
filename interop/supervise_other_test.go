//go:build !linux

package interop

import "syscall"

// superviseArg is an argument that nobody gives: only Linux has supervisors, see supervise.
const superviseArg = "supervise"

const supervises = false

// supervised is the command itself.
func supervised(args []string) ([]string, error) { return args, nil }

func ownGroup() *syscall.SysProcAttr { return nil }

func supervise([]string) int { return 2 }
