package cli

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"example.com/h2flow/cmd/h2flow/internal/load"
	"example.com/h2flow/flow"
)

var benchCommand = command{
	name:    "bench",
	args:    "[URL]",
	summary: "load a server with h2flow or net/http, and measure speed, CPU, memory and latency",
	text: `
Sends requests to URL as fast as they are answered, and says how many went through, how long they took, and what that
cost the client: CPU time, allocations, memory. Without URL a server is started for the run: h2flow serve, or with
--origin another program. Every client runs in a process of its own, so that its cost is its own; so does the server.

--compare runs several clients in turn, A B C A B C, and prints for each the median of its rounds, and the median of its
ratios to net/http in the same round with a 95 % bootstrap interval. Every list of clients, strategies, buffers and
frame sizes is compared in the same way. A strategy and a frame size do not concern http1, and net/http's HTTP/2 has no
buffers to set.

--suite report measures what the report on dio's HTTP/2 measured: 32 concurrent small requests, 1 MiB and 10 MiB
downloads, a 1 MiB upload; over HTTP/1.1 and HTTP/2, in cleartext and over TLS, on loopback and at 1 and 10 ms of
round-trip time. --suite buffers measures what Go's change did that gave http.Transport its buffer sizes: an upload of
10 GiB with buffers of 4 and 128 KiB, and a download with 4 and 256 KiB beside it. --suite memory measures what 1,500
connections (or -c) cost that do nothing, and a stream on each that waits for its body.

With --json, one line for each run: client, proto, tls, op, round, bytes, requests, failures, conns, streams, seconds,
mib_per_s, req_per_s, user_s, sys_s, allocs_per_req, bytes_per_req (allocated), peak_rss_bytes, p50_ms, p90_ms, p99_ms,
ratio_to_http1 (req_per_s by that of http1 in the same round). What this platform cannot give is null. Where several
values of an option are compared, client names them too. The suites add case and rtt_ms.`,
	example: `
h2flow bench -m 32 -n 100000
h2flow bench --compare --size 1GiB -n 1 --tls
h2flow bench --strategy fixed:stream=65535:conn=65535,bdp --rtt 10ms --size 10MiB http://localhost:8080/
h2flow bench --compare --origin nginx --size 1GiB -n 1
h2flow bench --suite report -o runs.jsonl`,
	prepare: prepareBench,
}

// benchOptions are what the flags of bench say.
type benchOptions struct {
	url      *url.URL // nil: an own origin
	http1URL string
	origin   string

	clients    []string
	compare    bool
	rounds     int
	requests   int64
	duration   time.Duration
	conns      int
	streams    int
	warmup     int
	op         string
	size       int64
	sizeGiven  bool
	chunked    bool
	tls        bool
	strategies []flow.Config

	readBuffers, writeBuffers, maxFrames []int64
	bodyBuffer                           int64
	pace                                 int64 // bits per second
	beside                               int64 // octets; 0: nothing
	http1Conns                           int   // 0: as many as lanes

	rtt      time.Duration
	rate     int64
	cacert   string
	insecure bool

	suite  string
	json   bool
	out    string
	worker bool
}

// The suites.
const (
	suiteReport  = "report"
	suiteBuffers = "buffers"
	suiteMemory  = "memory"
)

func prepareBench(fs *flags) runner {
	var o benchOptions
	list(fs, &o.clients, "client", "h2flow", "`LIST` of clients: "+strings.Join(load.Clients(), ", ")+
		"\n(h2flow-raw is the low-level API)", parseClient)
	fs.BoolVar(&o.compare, "compare", false, "compare all clients, or those of --client, in 11 rounds")
	fs.IntVar(&o.rounds, "rounds", 0,
		"how often each client has its turn, `N` (default 1; with --compare 11, for a suite 3)")
	fs.Int64Var(&o.requests, "n", 0, "end a run after `N` requests")
	fs.duration(&o.duration, "duration", 0, "begin no request after `TIME` (default 3s without -n)")
	fs.IntVar(&o.conns, "c", 1, "`N` connections")
	fs.IntVar(&o.streams, "m", 1, "`N` concurrent requests on each; HTTP/1.1 opens a connection for each")
	fs.IntVar(&o.warmup, "warmup", 1, "every one of the -c times -m lanes begins with `N` requests that are not measured;\n"+
		"with 0 the set-up of the connections is measured too")
	fs.StringVar(&o.op, "op", load.Get, "`OP`: get or post")
	fs.size(&o.size, "size", 1<<10, "`SIZE` of each body: that is asked for, posted, or expected of a URL with a path")
	fs.BoolVar(&o.chunked, "chunked", false, "post without telling the length")
	fs.BoolVar(&o.tls, "tls", false, "without URL: use TLS")
	fs.strategies(&o.strategies, "strategy", "", "`LIST` of flow-control strategies of h2flow: "+
		strings.Join(strategyNames(fs.configs), ", ")+",\nwith options joined by colons")
	list(fs, &o.readBuffers, "read-buffer", "", "`SIZES` of a connection's read buffer (default the client's)",
		parseSize)
	list(fs, &o.writeBuffers, "write-buffer", "", "`SIZES` of a connection's write buffer (default the client's)",
		parseSize)
	list(fs, &o.maxFrames, "max-frame-size", "", "`SIZES` of the largest frame to receive (default the client's)",
		parseSize)
	fs.size(&o.bodyBuffer, "body-buffer", load.DefaultBodyBuffer, "`SIZE` that a body is read by")
	fs.duration(&o.rtt, "rtt", 0, "put an emulated path with a round trip of `TIME` in front of the server")
	fs.Var(&value{
		set: func(s string) (err error) { o.pace, err = parseRate(s); return err },
		get: func() string { return "" },
	}, "pace", "read every body at `RATE`, as in 1MiB/s, as a slow reader does (default as fast as it comes)")
	fs.size(&o.beside, "beside", 0, "measure while a body of `SIZE` is downloaded over and over on each connection, from a\n"+
		"server like serve's; http1 has another connection for it")
	fs.IntVar(&o.http1Conns, "http1-conns", 0, "let http1 have `N` connections, with one request at a time on each\n"+
		"(default -c times -m)")
	fs.Var(&value{
		set: func(s string) (err error) { o.rate, err = parseRate(s); return err },
		get: func() string { return "" },
	}, "rate", "and with `RATE`, as in 100Mbit (default unlimited)")
	fs.StringVar(&o.origin, "origin", originGo, "without URL: start the server `NAME`, where it is installed: "+
		strings.Join(originNames(), ", "))
	fs.StringVar(&o.http1URL, "http1-url", "", "`URL` for http1, where the server has another port for it")
	fs.StringVar(&o.cacert, "cacert", "", "trust only the certificates in `FILE` (PEM)")
	fs.BoolVar(&o.insecure, "insecure", false, "do not check the server's certificate")
	fs.StringVar(&o.suite, "suite", "", "run the `NAME` of a suite: report, buffers, memory")
	fs.BoolVar(&o.json, "json", false, "print one line of JSON for each run instead of tables")
	fs.StringVar(&o.out, "o", "", "write the lines of JSON to `FILE`, too")
	fs.BoolVar(&o.worker, workerFlag, false, "")
	return func(ctx context.Context, e *env, args []string) error {
		if o.worker {
			return work(ctx, os.Stdin, e.stdout, fs.parseStrategy)
		}
		if err := o.settle(fs, args); err != nil {
			return err
		}
		return runBench(ctx, e, &o)
	}
}

func parseClient(s string) (string, error) {
	for _, c := range load.Clients() {
		if c == s {
			return c, nil
		}
	}
	return "", fmt.Errorf("there is no client %q (want some of %s)", s, strings.Join(load.Clients(), ", "))
}

// settle checks what the flags say and fills in what they leave open.
func (o *benchOptions) settle(fs *flags, args []string) error {
	if len(args) > 1 {
		return usagef("want at most one URL, got %d arguments", len(args))
	}
	if o.suite != "" {
		return o.settleSuite(fs, args)
	}
	if len(args) == 1 {
		if err := o.settleURL(args[0]); err != nil {
			return err
		}
	} else if o.cacert != "" || o.insecure || o.http1URL != "" {
		return usagef("--cacert, --insecure and --http1-url need a URL")
	}
	o.sizeGiven = fs.given("size")
	if len(o.clients) == 0 {
		o.clients = []string{load.H2flow}
		if o.compare {
			o.clients = load.Clients()
		}
	}
	if o.rounds == 0 && !fs.given("rounds") {
		o.rounds = 1
		if o.compare {
			o.rounds = 11
		}
	}
	if o.requests == 0 && !fs.given("n") && o.duration == 0 {
		o.duration = 3 * time.Second
	}
	if err := o.settleOrigin(fs.given("client")); err != nil {
		return err
	}
	return o.check()
}

func (o *benchOptions) settleURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return usageError{err}
	case u.Scheme != "http" && u.Scheme != "https":
		return usagef("%q is no URL of the scheme http or https", text)
	case u.Hostname() == "":
		return usagef("%q names no host", text)
	case o.tls:
		return usagef("--tls is for runs without a URL, whose scheme says it")
	case o.cacert != "" && o.insecure:
		return usagef("--cacert and --insecure exclude each other")
	}
	if o.http1URL != "" {
		other, err := url.Parse(o.http1URL)
		if err != nil || other.Scheme != u.Scheme || other.Hostname() == "" {
			return usagef("--http1-url must be a URL of the scheme %s", u.Scheme)
		}
	}
	o.url = u
	return nil
}

func (o *benchOptions) check() error {
	switch {
	case o.rounds < 1:
		return usagef("--rounds must be at least 1")
	case o.requests < 0 || o.requests == 0 && o.duration == 0:
		return usagef("-n must be at least 1")
	case o.conns < 1 || o.streams < 1:
		return usagef("-c and -m must be at least 1")
	case o.conns > 1<<16 || o.streams > 1<<16:
		return usagef("-c and -m must be at most 65536")
	case o.warmup < 0:
		return usagef("--warmup must not be negative")
	case o.op != load.Get && o.op != load.Post:
		return usagef("--op must be get or post")
	case o.chunked && o.op != load.Post:
		return usagef("--chunked needs --op post")
	case o.http1Conns < 0 || o.http1Conns > 1<<16:
		return usagef("--http1-conns must be between 1 and 65536")
	case o.bodyBuffer < 1 || o.bodyBuffer > 1<<30:
		return usagef("--body-buffer must be between 1 and 1GiB")
	case o.http1URL != "" && (o.rtt > 0 || o.rate > 0):
		return usagef("--http1-url does not go together with --rtt and --rate")
	}
	for _, n := range append(append([]int64(nil), o.readBuffers...), o.writeBuffers...) {
		if n < 1 || n > 1<<30 {
			return usagef("a buffer must be between 1 and 1GiB")
		}
	}
	for _, n := range o.maxFrames {
		if n < 1<<14 || n > 1<<24-1 {
			return usagef("--max-frame-size must be between 16KiB and 16777215")
		}
	}
	return nil
}

// settleSuite refuses what a suite decides by itself.
func (o *benchOptions) settleSuite(fs *flags, args []string) error {
	allowed := map[string]bool{"suite": true, "rounds": true, "json": true, "o": true}
	switch o.suite {
	case suiteReport:
		allowed["duration"], allowed["n"] = true, true
	case suiteBuffers:
		allowed["size"] = true
	case suiteMemory:
		allowed["c"] = true
	default:
		return usagef("there is no suite %q (want report, buffers or memory)", o.suite)
	}
	refused := ""
	fs.Visit(func(f *flag.Flag) {
		if !allowed[f.Name] && refused == "" {
			refused = f.Name
		}
	})
	if refused != "" {
		return usagef("the suite %s decides about %s itself", o.suite, dashes(refused)+refused)
	}
	if len(args) > 0 {
		return usagef("a suite has a server of its own and takes no URL")
	}
	if !fs.given("rounds") {
		o.rounds = 3
	}
	if o.requests == 0 && o.duration == 0 {
		o.duration = time.Second
	}
	if !fs.given("size") {
		o.size = 10 << 30
	}
	if o.suite == suiteMemory && !fs.given("c") {
		o.conns = heldConns
	}
	return o.check()
}
