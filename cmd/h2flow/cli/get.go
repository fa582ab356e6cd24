package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/flow"
	"example.com/h2flow/h2http"
	"example.com/h2flow/strategy"
)

var getCommand = command{
	name:    "get",
	args:    "URL",
	summary: "download one URL over HTTP/2, with any strategy",
	text: `
Downloads URL to a file or to standard output. An http URL is spoken to in cleartext HTTP/2 by prior knowledge, an https
URL over TLS with h2 agreed on by ALPN; there is no fallback to HTTP/1.1. Redirects are not followed: any status but 2xx
is a failure, unless --fail=false.

With -o the body is written under a temporary name in the same directory and gets its name once it is whole: a transfer
that failed or was interrupted leaves no file, and one that was there before stays as it was.

With --json, one line at the end tells: url, status, bytes, seconds (until the end of the body, the connection's set-up
included), mib_per_s, strategy, window_updates, pings, peak_buffered_bytes, peak_window_bytes, file.

--trace writes qlog as a JSON text sequence (docs/qlog.md): a record for each frame, for the life of connections and
streams, and for each thing that the strategy was told, with the offsets of both windows and what it decided. --keylog
writes the secrets of TLS, so that tools which capture packets can decrypt them.`,
	example: `
h2flow get -o body.bin https://example.com/
h2flow get --strategy fixed:stream=65535:conn=65535 -v http://localhost:8080/ > body.bin
h2flow get --strategy bdp --trace trace.sqlog --json -o body.bin https://example.com/`,
	prepare: prepareGet,
}

// getOptions are what the flags of get say.
type getOptions struct {
	url          *url.URL
	out          string // empty: standard output
	strategy     flow.Config
	trace        string
	keylog       string
	verbose      bool
	json         bool
	fail         bool
	header       http.Header
	cacert       string
	insecure     bool
	timeout      time.Duration
	stallTimeout time.Duration
	readBuffer   int64
	writeBuffer  int64
	maxFrame     int64
	maxHeader    int64
}

func prepareGet(fs *flags) runner {
	o := getOptions{strategy: strategy.Auto{}, header: make(http.Header)}
	fs.StringVar(&o.out, "o", "", "write the body to `FILE` (default standard output)")
	fs.strategy(&o.strategy, "strategy", "flow-control strategy `NAME`: one of "+
		strings.Join(strategyNames(fs.configs), ", ")+",\nwith options joined by colons")
	fs.StringVar(&o.trace, "trace", "", "write events, frames and decisions to `FILE`, as qlog")
	fs.StringVar(&o.keylog, "keylog", "", "append the secrets of TLS to `FILE`, in the form of NSS")
	fs.BoolVar(&o.verbose, "v", false, "print every frame on standard error, one line each")
	fs.BoolVar(&o.json, "json", false, "print a summary as one line of JSON on standard output; needs -o")
	fs.BoolVar(&o.fail, "fail", true, "treat a status other than 2xx as a failure")
	fs.Func("H", "send the `HEADER`, as in \"accept: text/plain\"; may be repeated", o.addHeader)
	fs.StringVar(&o.cacert, "cacert", "", "trust only the certificates in `FILE` (PEM)")
	fs.BoolVar(&o.insecure, "insecure", false, "do not check the server's certificate")
	fs.duration(&o.timeout, "timeout", 0, "give up after `TIME`; 0 means never")
	fs.duration(&o.stallTimeout, "stall-timeout", 10*time.Second,
		"fail when the strategy lets the server wait for `TIME`; 0 means never")
	fs.size(&o.readBuffer, "read-buffer", 0, "`SIZE` of the connection's read buffer (default the engine's)")
	fs.size(&o.writeBuffer, "write-buffer", 0, "`SIZE` of the connection's write buffer (default the engine's)")
	fs.size(&o.maxFrame, "max-frame-size", 0,
		"largest `SIZE` of a frame to receive, 16KiB to 16777215 (default the transport's)")
	fs.size(&o.maxHeader, "max-header-list-size", 0, "largest `SIZE` of a response head (default the transport's)")
	return func(ctx context.Context, e *env, args []string) error {
		if err := o.settle(args); err != nil {
			return err
		}
		return (&download{env: e, options: o}).run(ctx)
	}
}

// strategyNames are the names that --strategy takes.
func strategyNames(configs []flow.Config) []string {
	names := strategy.Names()
	for _, c := range configs {
		name, _, _ := strings.Cut(c.String(), ":")
		names = append(names, name)
	}
	return names
}

func (o *getOptions) addHeader(s string) error {
	name, value, ok := strings.Cut(s, ":")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return fmt.Errorf("%q is no header (want one like \"accept: text/plain\")", s)
	}
	o.header.Add(name, strings.TrimSpace(value))
	return nil
}

func (o *getOptions) settle(args []string) error {
	if len(args) != 1 {
		return usagef("want one URL, got %d arguments", len(args))
	}
	u, err := url.Parse(args[0])
	switch {
	case err != nil:
		return usageError{err}
	case u.Scheme != "http" && u.Scheme != "https":
		return usagef("%q is no URL of the scheme http or https", args[0])
	case u.Hostname() == "":
		return usagef("%q names no host", args[0])
	case o.json && o.out == "":
		return usagef("--json needs -o FILE, since standard output is for one of the two")
	case o.cacert != "" && o.insecure:
		return usagef("--cacert and --insecure exclude each other")
	case o.maxFrame != 0 && (o.maxFrame < 1<<14 || o.maxFrame > 1<<24-1):
		return usagef("--max-frame-size must be between 16KiB and 16777215")
	case max(o.readBuffer, o.writeBuffer) > 1<<30:
		return usagef("a buffer above 1GiB is too large")
	}
	o.url = u
	return nil
}

// A download is one run of the verb.
type download struct {
	env     *env
	options getOptions
	start   time.Time
	meter   *runMeter
	trace   *traceFile // nil if nobody asked for one
}

// summary is the line of JSON.
type summary struct {
	URL      string  `json:"url"`
	Status   int     `json:"status"`
	Bytes    int64   `json:"bytes"`
	Seconds  float64 `json:"seconds"`
	MiBPerS  float64 `json:"mib_per_s"`
	Strategy string  `json:"strategy"`

	WindowUpdates     int64 `json:"window_updates"`
	Pings             int64 `json:"pings"`
	PeakBufferedBytes int64 `json:"peak_buffered_bytes"`
	PeakWindowBytes   int64 `json:"peak_window_bytes"`

	File string `json:"file"`
}

func (d *download) run(ctx context.Context) (err error) {
	if d.options.timeout > 0 {
		cause := fmt.Errorf("not complete after %v (--timeout)", d.options.timeout)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d.options.timeout, cause)
		defer cancel()
		defer func() {
			if err != nil && errors.Is(err, context.DeadlineExceeded) && context.Cause(ctx) == cause {
				err = cause
			}
		}()
	}
	d.start = time.Now()
	d.meter = &runMeter{}
	if d.options.trace != "" {
		if d.trace, err = createTrace(d.options.trace, "h2flow get "+d.options.url.Redacted()); err != nil {
			return err
		}
		defer func() {
			if closing := d.trace.close(); err == nil {
				err = closing
			}
		}()
	}
	out, err := d.openOut()
	if err != nil {
		return err
	}
	defer out.discard()
	transport, err := d.transport()
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	if d.options.keylog != "" {
		keys, err := os.OpenFile(d.options.keylog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer keys.Close()
		transport.TLSClientConfig.KeyLogWriter = keys
	}
	s, err := d.fetch(ctx, transport, out)
	if err != nil {
		return err
	}
	if err := out.commit(); err != nil {
		return err
	}
	if d.options.json {
		return json.NewEncoder(d.env.stdout).Encode(s)
	}
	if d.env.terminal && d.options.out != "" {
		fmt.Fprintf(d.env.stderr, "%s: %s in %s, %s MiB/s\n", d.options.out, showSize(&s.Bytes), showSeconds(s.Seconds),
			showRate(s.Bytes, s.Seconds))
	}
	return nil
}

// An output is where a body goes: an outFile or standard output.
type output interface {
	io.Writer
	commit() error
	discard()
}

type plainOutput struct{ io.Writer }

func (plainOutput) commit() error { return nil }
func (plainOutput) discard()      {}

func (d *download) openOut() (output, error) {
	if d.options.out == "" || d.options.out == "-" {
		return plainOutput{d.env.stdout}, nil
	}
	return createOut(d.options.out)
}

func (d *download) transport() (*h2http.Transport, error) {
	o := &d.options
	config := &tls.Config{InsecureSkipVerify: o.insecure}
	if o.cacert != "" {
		pem, err := os.ReadFile(o.cacert)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s contains no certificate in PEM", o.cacert)
		}
	}
	stall := o.stallTimeout
	if stall == 0 {
		stall = -1
	}
	t := &h2http.Transport{
		AllowHTTP: true, DisableCompression: true, TLSClientConfig: config, StallTimeout: stall,
		ReadBufferSize: int(o.readBuffer), WriteBufferSize: int(o.writeBuffer),
		MaxReadFrameSize: o.maxFrame, MaxHeaderListSize: o.maxHeader,
		Flow: flow.Observe(o.strategy, func() flow.Observer { return d.meter }),
	}
	if o.verbose {
		t.OnFrame = d.onFrame
	}
	if d.trace != nil {
		t.OnEvent = d.trace.event
	}
	return t, nil
}

// onFrame is told of every frame, under the connection's lock.
func (d *download) onFrame(f h2flow.FrameTrace) {
	fmt.Fprintln(d.env.stderr, transcriptLine(d.start, f))
}

// fetch does the request and writes the body to out.
func (d *download) fetch(ctx context.Context, rt http.RoundTripper, out io.Writer) (*summary, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.options.url.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header = d.options.header
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
		req.Header.Del("Host")
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "h2flow")
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return nil, explain(err)
	}
	defer resp.Body.Close()
	if d.options.fail && (resp.StatusCode < 200 || resp.StatusCode > 299) {
		return nil, statusError(resp)
	}
	n, err := d.copy(out, resp)
	if err != nil {
		return nil, err
	}
	s := &summary{
		URL: d.options.url.String(), Status: resp.StatusCode, Bytes: n, Seconds: time.Since(d.start).Seconds(),
		Strategy: d.options.strategy.String(), File: d.options.out,
	}
	s.MiBPerS = float64(n) / (1 << 20) / s.Seconds
	metrics, _ := d.meter.cut(time.Now())
	s.WindowUpdates, s.Pings = metrics.WindowUpdates, metrics.Pings
	s.PeakBufferedBytes, s.PeakWindowBytes = metrics.PeakBufferedBytes, metrics.PeakWindowBytes
	return s, nil
}

// copy writes the body to out and returns its length.
func (d *download) copy(out io.Writer, resp *http.Response) (int64, error) {
	quiet := *d.env
	quiet.terminal = d.env.terminal && !d.options.verbose && !(d.options.out == "" && d.env.stdoutTerminal)
	bar := newProgress(&quiet, resp.ContentLength, d.options.url.Hostname())
	defer bar.finish()
	n, err := io.Copy(&countingWriter{out, bar}, resp.Body)
	if err != nil {
		of := ""
		if resp.ContentLength >= 0 {
			of = fmt.Sprintf(" of %d", resp.ContentLength)
		}
		return n, fmt.Errorf("after %d%s octets of the body: %w", n, of, err)
	}
	return n, nil
}

// A countingWriter tells the progress bar what passes.
type countingWriter struct {
	w   io.Writer
	bar *progress
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.bar.octets.Add(int64(n))
	return n, err
}

func statusError(resp *http.Response) error {
	text := fmt.Sprintf("the server answered %s", resp.Status)
	if location := resp.Header.Get("Location"); location != "" && resp.StatusCode/100 == 3 {
		text += fmt.Sprintf(", to %s; redirects are not followed", location)
	}
	return errors.New(text)
}

// explain adds what the alert of a TLS server without HTTP/2 means; crypto/tls gives it no type of its own.
func explain(err error) error {
	if strings.HasSuffix(err.Error(), "tls: no application protocol") {
		return fmt.Errorf("the server does not speak HTTP/2 over TLS (ALPN h2): %w", err)
	}
	return err
}
