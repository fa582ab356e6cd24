package cli

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

// servedPaths describes the paths to people; the server gives it out too.
const servedPaths = `  /bytes/SIZE    a body of SIZE, as in /bytes/10MiB
  /sink          reads a body and answers with the number of its octets; so does a POST or PUT elsewhere
  /echo          sends the request's body back as it comes
  /status/CODE   a response with that status
  /delay/TIME    a short response after TIME
  /              this list

Options in the query, for each of them: delay=TIME before the head, chunk=SIZE to send the body in flushed pieces,
pause=TIME between those, length=no to leave the length unsaid (chunked in HTTP/1.1), status=CODE,
trailer=NAME:VALUE (may be repeated), reset=SIZE to break off after so many octets.
`

var serveCommand = command{
	name:    "serve",
	summary: "an HTTP server to test clients with: any size, pace, status and trailers",
	text: `
Go's own server, over HTTP/1.1 and HTTP/2 on one port: in cleartext (HTTP/2 by prior knowledge) or, with --tls, with a
certificate made for the occasion. Its URL is printed when it is ready. It runs until it is interrupted.

` + servedPaths + `
With --json, one line tells when it is ready: url, addr, tls, certificate (PEM; null in cleartext).`,
	example: `
h2flow serve --addr :8080
h2flow serve --tls --addr localhost:8443
h2flow get -o body.bin "http://localhost:8080/bytes/10MiB?chunk=64KiB&pause=1ms"`,
	prepare: prepareServe,
}

// serveOptions are what the flags of serve say.
type serveOptions struct {
	addr       string
	tls        bool
	cert, key  string
	json       bool
	stdin      bool
	maxStreams int
}

func prepareServe(fs *flags) runner {
	var o serveOptions
	fs.StringVar(&o.addr, "addr", "127.0.0.1:0", "`ADDRESS` to listen on; port 0 takes a free one")
	fs.BoolVar(&o.tls, "tls", false, "serve over TLS")
	fs.StringVar(&o.cert, "cert", "", "certificate for --tls in `FILE` (PEM), instead of one made for localhost")
	fs.StringVar(&o.key, "key", "", "its private key in `FILE` (PEM)")
	fs.IntVar(&o.maxStreams, "max-streams", 0, "streams that a client may open at once, `N` (default Go's)")
	fs.BoolVar(&o.stdin, "stdin", false, "end when standard input ends, for programs that start a server")
	fs.BoolVar(&o.json, "json", false, "print the line that tells the URL as JSON")
	return func(ctx context.Context, e *env, args []string) error {
		if err := o.settle(args); err != nil {
			return err
		}
		return o.serve(ctx, e, os.Stdin)
	}
}

func (o *serveOptions) settle(args []string) error {
	switch {
	case len(args) > 0:
		return usagef("unexpected argument %q", args[0])
	case (o.cert == "") != (o.key == ""):
		return usagef("--cert and --key need each other")
	case o.cert != "" && !o.tls:
		return usagef("--cert needs --tls")
	case o.maxStreams < 0:
		return usagef("--max-streams must not be negative")
	}
	return nil
}

// readyLine is what serve prints with --json.
type readyLine struct {
	URL         string  `json:"url"`
	Addr        string  `json:"addr"`
	TLS         bool    `json:"tls"`
	Certificate *string `json:"certificate"`
}

// serve runs the server until ctx or, if asked for, stdin ends.
func (o *serveOptions) serve(ctx context.Context, e *env, stdin io.Reader) error {
	server := newTestOrigin(o.maxStreams)
	ready := readyLine{TLS: o.tls}
	scheme := "http"
	if o.tls {
		cert, err := o.certificate()
		if err != nil {
			return err
		}
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}}
		text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]}))
		scheme, ready.Certificate = "https", &text
	}
	listener, err := net.Listen("tcp", o.addr)
	if err != nil {
		return err
	}
	ready.Addr = listener.Addr().String()
	ready.URL = scheme + "://" + reachable(ready.Addr) + "/"
	if o.json {
		err = json.NewEncoder(e.stdout).Encode(ready)
	} else {
		_, err = fmt.Fprintln(e.stdout, ready.URL)
	}
	if err != nil {
		listener.Close()
		return err
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	if o.stdin {
		go func() { io.Copy(io.Discard, stdin); end() }()
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if o.tls {
		err = server.ServeTLS(listener, "", "")
	} else {
		err = server.Serve(listener)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (o *serveOptions) certificate() (tls.Certificate, error) {
	if o.cert != "" {
		return tls.LoadX509KeyPair(o.cert, o.key)
	}
	return makeCertificate()
}

// reachable is addr, or loopback's address of the same port if addr means all addresses of this machine.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", port)
	}
	return addr
}

// newTestOrigin returns the server of serve; maxStreams 0 is Go's default.
func newTestOrigin(maxStreams int) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler: newTestPaths(), Protocols: &protocols, ErrorLog: log.New(io.Discard, "", 0),
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ReadHeaderTimeout: time.Minute,
	}
}
