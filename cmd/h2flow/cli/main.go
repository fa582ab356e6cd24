package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"

	"example.com/h2flow/flow"
)

// The exit statuses of every verb.
const (
	exitDone   = 0 // what was asked is done
	exitFailed = 1 // what was asked failed; one line on standard error says why
	exitUsage  = 2 // what was asked makes no sense; one line on standard error says why
)

// commands are the verbs, in the order in which the help lists them.
var commands = []command{
	demoCommand, getCommand, benchCommand, serveCommand, framesCommand, conformCommand, corpusCommand,
	simRunCommand, simSweepCommand, simReplayCommand, simCompareCommand, simReportCommand, simListCommand,
	emulateCommand,
}

// Main runs the command line args, which are without the program's name, and returns the status to exit with.
// configs are strategies in addition to those of package strategy: --strategy selects one by its String or the part of
// it before the first colon, and demo runs each of them by default. An interrupt ends the verb early, but after its
// clean-up.
func Main(args []string, configs ...flow.Config) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // so that a second interrupt ends the process at once
	e := &env{
		stdout: os.Stdout, stderr: os.Stderr, configs: configs,
		terminal: term.IsTerminal(int(os.Stderr.Fd())), stdoutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
	}
	return run(ctx, e, args)
}

// env is the world that a verb sees.
type env struct {
	stdout, stderr io.Writer
	stdin          io.Reader // nil: os.Stdin
	terminal       bool      // stderr is a terminal, so progress may be shown
	stdoutTerminal bool
	configs        []flow.Config
}

// A command is one verb.
type command struct {
	name    string
	args    string // what follows the flags, for the help
	summary string // one line for the list of verbs
	text    string // the paragraphs of its own help
	example string // commands, one a line

	// prepare declares the flags and returns what runs the verb once they are parsed.
	prepare func(*flags) runner
}

// A runner does what a verb is for. args are the arguments that are no flags. Its error is printed as one line; a
// usageError makes the exit status 2.
type runner func(ctx context.Context, e *env, args []string) error

// A usageError is a mistake in the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func run(ctx context.Context, e *env, args []string) int {
	if len(args) == 0 {
		printVerbs(e.stderr)
		return exitUsage
	}
	switch args[0] {
	case "-h", "-help", "--help":
		printVerbs(e.stdout)
		return exitDone
	case "help":
		if len(args) == 1 {
			printVerbs(e.stdout)
			return exitDone
		}
		args = append(slices.Clone(args[1:]), "--help")
	}
	return dispatch(ctx, e, args)
}

// dispatch runs the verb that args begin with. A verb may have two words.
func dispatch(ctx context.Context, e *env, args []string) int {
	group := false
	for _, c := range commands {
		if c.name == args[0] {
			return runCommand(ctx, e, c, args[1:])
		}
		first, second, two := strings.Cut(c.name, " ")
		if !two || first != args[0] {
			continue
		}
		group = true
		if len(args) > 1 && args[1] == second {
			return runCommand(ctx, e, c, args[2:])
		}
	}
	switch {
	case !group:
		fmt.Fprintf(e.stderr, "h2flow: there is no verb %q; see h2flow --help\n", args[0])
	case len(args) == 1:
		fmt.Fprintf(e.stderr, "h2flow %s: a second word is missing; see h2flow --help\n", args[0])
	case slices.Contains([]string{"-h", "-help", "--help"}, args[1]):
		printVerbs(e.stdout)
		return exitDone
	default:
		fmt.Fprintf(e.stderr, "h2flow: there is no verb \"%s %s\"; see h2flow --help\n", args[0], args[1])
	}
	return exitUsage
}

func runCommand(ctx context.Context, e *env, c command, args []string) int {
	fs := newFlags(c.name, e.configs)
	do := c.prepare(fs)
	rest, err := fs.parse(args)
	if errors.Is(err, flag.ErrHelp) {
		printHelp(e.stdout, c, fs)
		return exitDone
	}
	if err == nil {
		err = do(ctx, e, rest)
	}
	if err == nil {
		return exitDone
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	if usage := (usageError{}); errors.As(err, &usage) {
		fmt.Fprintf(e.stderr, "h2flow %s: %s; see h2flow %s --help\n", c.name, oneLine(err), c.name)
		return exitUsage
	}
	fmt.Fprintf(e.stderr, "h2flow %s: %s\n", c.name, oneLine(err))
	return exitFailed
}

// oneLine is the text of err without line breaks or other control characters, which a peer may have put there, and
// without the name of the package that it comes from.
func oneLine(err error) string {
	clean := func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "h2http: "), "h2flow: ")
	return strings.Join(strings.Fields(strings.Map(clean, text)), " ")
}

func printVerbs(w io.Writer) {
	fmt.Fprint(w, "h2flow: an HTTP/2 client engine with pluggable flow control, and a laboratory for it\n\n")
	fmt.Fprint(w, "Usage: h2flow VERB [flags] [arguments]\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-12s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, "\nh2flow VERB --help tells more. The exit status is 0 for success, 1 for failure, 2 for wrong usage.\n")
}

func printHelp(w io.Writer, c command, fs *flags) {
	fmt.Fprintf(w, "h2flow %s: %s\n\n", c.name, c.summary)
	fmt.Fprintf(w, "Usage: h2flow %s\n\n", strings.TrimSpace(c.name+" [flags] "+c.args))
	fmt.Fprintf(w, "%s\n\nFlags:\n", strings.TrimSpace(c.text))
	fs.print(w)
	fmt.Fprint(w, "\nExample:\n")
	for line := range strings.Lines(strings.TrimSpace(c.example)) {
		fmt.Fprintf(w, "  %s\n", strings.TrimSpace(line))
	}
}
