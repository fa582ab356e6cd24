package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/h2flow/cmd/h2flow/internal/conform"
	"example.com/h2flow/conformance"
	"example.com/h2flow/h2http"
)

var conformCommand = command{
	name:    "conform",
	args:    "[-- CMD [ARG...]]",
	summary: "test any HTTP/2 client against the rules of the RFCs, requirement by requirement",
	text: `
Plays the server of one case after another, legal and illegal, and judges the client by what it puts on the wire, the
error code too, and by whether its request succeeds. CMD is run once for each case; in its arguments
` + conform.Placeholders + `
are replaced. It has to exit with 0 if its request succeeded and with another status if it failed; a client that merely
gives up without telling the server does not pass. --post, --head and --pair are commands for the cases that need them,
split at spaces. Without CMD, h2flow's own transport is tested in this process; with --listen ADDR, a client that is no
command, by the wire alone: before each case a line on standard error says what to ask for.

The server speaks cleartext HTTP/2 by prior knowledge; with --tls, or if {ca} is used, TLS with a certificate of its own
for localhost and 127.0.0.1.

Verdicts: pass; allowed (what the RFC also permits: an error of the connection for one of the stream, a general code for
the exact one); gave-up (the connection ended without the error on the wire); fail; skipped. --known FILE names
cases that are expected to fail, one a line with a reason after it; they do not make the exit status 1.`,
	example: `
h2flow conform
h2flow conform --filter 9113-6.9 -- curl -s -S --fail --http2-prior-knowledge {url}
h2flow conform --head "curl -sI --cacert {ca} {url}" -- curl -s --cacert {ca} {url}
h2flow conform --format junit --known known.txt --fail-on "not processed" -- nghttp -n {url}`,
	prepare: prepareConform,
}

// conformOptions are what the flags of conform say.
type conformOptions struct {
	list             bool
	filter           []string
	format           string
	timeout          time.Duration
	jobs             int64
	tls              bool
	known            string
	listen           string
	cases            string
	post, head, pair string
	failOn           string
	verbose          bool
}

func prepareConform(fs *flags) runner {
	o := conformOptions{}
	fs.BoolVar(&o.list, "list", false, "list the cases, and the requirements without one, and play nothing")
	list(fs, &o.filter, "filter", "", "play only the cases whose name begins with one of `NAMES`, as in 9113-6.9",
		func(s string) (string, error) { return s, nil })
	fs.BoolFunc("json", "the same as --format json", func(string) error { o.format = "json"; return nil })
	fs.StringVar(&o.format, "format", "text", "write `FORMAT`: text, json (one object a line) or junit")
	fs.duration(&o.timeout, "timeout", conformance.DefaultTimeout, "give the client `TIME` for each step of a case")
	fs.Int64Var(&o.jobs, "jobs", 8, "play `N` cases at once")
	fs.BoolVar(&o.tls, "tls", false, "speak TLS")
	fs.StringVar(&o.known, "known", "", "read the names of cases that are expected to fail from `FILE`")
	fs.StringVar(&o.listen, "listen", "", "wait on `ADDR` for a client that is no command")
	fs.StringVar(&o.cases, "cases", "", "play the cases in `FILE` instead of those built in")
	fs.StringVar(&o.post, "post", "", "`COMMAND` for cases with a POST of the file {body}")
	fs.StringVar(&o.head, "head", "", "`COMMAND` for cases with a HEAD")
	fs.StringVar(&o.pair, "pair", "", "`COMMAND` for cases with two requests at once on one connection, {url} and {url2}")
	fs.StringVar(&o.failOn, "fail-on", "", "take `TEXT` in the output for a failure, of a command that always exits with 0")
	fs.BoolVar(&o.verbose, "v", false, "print the transcript of every case")
	return func(ctx context.Context, e *env, args []string) error { return o.run(ctx, e, args) }
}

func (o *conformOptions) run(ctx context.Context, e *env, argv []string) error {
	switch {
	case !slices.Contains([]string{"text", "json", "junit"}, o.format):
		return usagef("--format is text, json or junit, not %q", o.format)
	case len(argv) > 0 && o.listen != "":
		return usagef("--listen is for clients that are no command")
	case len(argv) == 0 && o.post+o.head+o.pair != "":
		return usagef("--post, --head and --pair go with a command for GET")
	case o.jobs < 1:
		return usagef("--jobs must be at least 1")
	}
	cases, err := o.selectCases()
	if err != nil {
		return err
	}
	if o.list {
		return listCases(e, cases)
	}
	known, err := readKnown(o.known)
	if err != nil {
		return err
	}
	suite := &conform.Suite{
		Get: argv, Post: strings.Fields(o.post), Head: strings.Fields(o.head), Pair: strings.Fields(o.pair),
		FailOn: o.failOn, Timeout: o.timeout, Jobs: int(o.jobs), Listen: o.listen,
		Waiting: func(c conformance.Case, url string) { fmt.Fprintf(e.stderr, "%s: GET %s\n", c.ID, url) },
	}
	dir, err := os.MkdirTemp("", "h2flow-conform-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := o.fill(suite, dir); err != nil {
		return err
	}
	return o.play(ctx, e, suite, cases, known)
}

// selectCases are the cases to play.
func (o *conformOptions) selectCases() ([]conformance.Case, error) {
	cases := conformance.Cases()
	if o.cases != "" {
		text, err := os.ReadFile(o.cases)
		if err != nil {
			return nil, err
		}
		if cases, err = conformance.Parse(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", o.cases, err)
		}
	}
	if len(o.filter) > 0 {
		cases = slices.DeleteFunc(cases, func(c conformance.Case) bool {
			return !slices.ContainsFunc(o.filter, c.Match)
		})
	}
	if len(cases) == 0 {
		return nil, usagef("no case is named %s", strings.Join(o.filter, " or "))
	}
	return cases, nil
}

// fill writes the files that the client needs to dir, and finishes the suite with them.
func (o *conformOptions) fill(s *conform.Suite, dir string) error {
	s.Body = filepath.Join(dir, "body")
	if err := os.WriteFile(s.Body, make([]byte, conformance.BodyLength), 0o600); err != nil {
		return err
	}
	pool := x509.NewCertPool()
	all := slices.Concat(s.Get, s.Post, s.Head, s.Pair)
	if o.tls || slices.ContainsFunc(all, func(arg string) bool { return strings.Contains(arg, "{ca}") }) {
		cert, err := makeCertificate()
		if err != nil {
			return err
		}
		s.Certificate, s.CA = &cert, filepath.Join(dir, "ca.pem")
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})
		if err := os.WriteFile(s.CA, text, 0o600); err != nil {
			return err
		}
		pool.AddCert(cert.Leaf)
	}
	if len(s.Get) == 0 && s.Listen == "" {
		s.RoundTripper = func() conform.RoundTripper {
			return &h2http.Transport{
				AllowHTTP: true, MaxConnsPerHost: 1, TLSClientConfig: &tls.Config{RootCAs: pool},
			}
		}
	}
	return nil
}

// play plays the cases and writes what came of them.
func (o *conformOptions) play(
	ctx context.Context, e *env, suite *conform.Suite, cases []conformance.Case, known map[string]string,
) error {
	report := conform.NewReport()
	var writing error
	err := suite.Run(ctx, cases, func(out conform.Outcome) {
		out.Known = known[out.ID]
		report.Add(out)
		switch o.format {
		case "text":
			conform.WriteOutcome(e.stdout, out)
			if o.verbose && out.Err() == nil {
				fmt.Fprintln(e.stdout, out.Transcript)
			}
		case "json":
			if err := conform.WriteJSON(e.stdout, out); writing == nil {
				writing = err
			}
		}
	})
	if err == nil {
		err = writing
	}
	if err != nil {
		return err
	}
	switch o.format {
	case "text":
		fmt.Fprintln(e.stdout)
		report.WriteScores(e.stdout)
		fmt.Fprintf(e.stdout, "\n%d more requirements are checked in every case, and %d have no case; see --list.\n",
			len(conformance.Always()), countUnshown())
	case "json":
		err = report.WriteJSON(e.stdout)
	case "junit":
		err = report.WriteJUnit(e.stdout)
	}
	bad := 0
	for _, out := range report.Outcomes {
		if out.Bad() {
			bad++
		}
	}
	if err == nil && bad > 0 {
		err = fmt.Errorf("%d of %d cases failed", bad, report.Total().Played())
	}
	return err
}

func countUnshown() (n int) {
	for _, rows := range conformance.Unshown() {
		n += len(rows.IDs)
	}
	return n
}

// listCases prints the cases, and the requirements for which there is none.
func listCases(e *env, cases []conformance.Case) error {
	for _, c := range cases {
		level := ""
		if c.Should {
			level = " (should)"
		}
		fmt.Fprintf(e.stdout, "%s%s: %s [%s]\n", c.ID, level, c.Name, strings.Join(c.Requirements, " "))
	}
	fmt.Fprintf(e.stdout, "\nChecked of every frame, in every case:\n  %s\n", strings.Join(conformance.Always(), " "))
	fmt.Fprintf(e.stdout, "\nNot shown to a server, or not by a case:\n")
	for _, rows := range conformance.Unshown() {
		fmt.Fprintf(e.stdout, "  %s:\n    %s\n", rows.Reason, strings.Join(rows.IDs, " "))
	}
	return nil
}

// readKnown reads the cases that are expected to fail: a name, and why.
func readKnown(file string) (map[string]string, error) {
	known := map[string]string{}
	if file == "" {
		return known, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		name, why, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		if why = strings.TrimLeft(why, " \t#"); why == "" {
			why = "no reason given"
		}
		known[name] = why
	}
	return known, nil
}
