package interop

import (
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// superviseArg, as the first argument of the test's own program, makes it a supervisor of the command that follows.
const superviseArg = "supervise"

// supervises says that closing the standard input of a process ends it.
const supervises = true

// supervised is the command line that runs args below a supervisor.
func supervised(args []string) ([]string, error) {
	self, err := os.Executable()
	return append([]string{self, superviseArg}, args...), err
}

// ownGroup keeps what a terminal sends, such as an interrupt, from a supervisor.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// supervise runs a command until that ends or standard input does, which it does also when the test is killed or panics.
// It then ends all that the command left behind, by process id: servers have workers, and some outlive their master.
// Signals that ask a server for something are passed on to the command.
func supervise(args []string) (status int) {
	const prSetChildSubreaper = 36
	// Whoever loses its parent below this process becomes its child.
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM, syscall.SIGQUIT)
	// An absent standard input would have its number given to a socket, which some servers do not expect.
	null, err := os.Open(os.DevNull)
	if err != nil {
		os.Stderr.WriteString(err.Error())
		return 1
	}
	p, err := os.StartProcess(args[0], args, &os.ProcAttr{Files: []*os.File{null, os.Stdout, os.Stderr}})
	if err != nil {
		os.Stderr.WriteString(err.Error())
		return 1
	}
	go func() {
		for s := range signals {
			p.Signal(s)
		}
	}()
	go func() {
		io.Copy(io.Discard, os.Stdin)
		syscall.Kill(p.Pid, syscall.SIGKILL)
	}()
	status = reap(p.Pid)
	for left := children(); len(left) > 0; left = children() {
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGKILL)
			syscall.Wait4(pid, nil, 0, nil)
		}
	}
	return status
}

// reap waits for children until that with the given id has ended, and returns its exit status.
func reap(pid int) int {
	for {
		var status syscall.WaitStatus
		switch got, err := syscall.Wait4(-1, &status, 0, nil); {
		case err == syscall.EINTR:
		case err != nil:
			return 1
		case got == pid:
			return status.ExitStatus()
		}
	}
}

// children are the ids of the processes whose parent is this one.
func children() (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// The name of the program stands in parentheses and may hold anything; state and parent follow.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 2 || fields[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
