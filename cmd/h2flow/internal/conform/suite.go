package conform

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"example.com/h2flow/conformance"
)

// A Suite is one client and how it is to be tested. One of Get, RoundTripper and Listen says what client that is.
type Suite struct {
	// Get is the command for one GET, with its arguments, in each of which placeholders are replaced: see Command.
	Get []string
	// Post, Head and Pair are commands for cases with a POST, with a HEAD, or with two requests at once on one
	// connection. Cases that need one that is empty are skipped.
	Post, Head, Pair []string
	// FailOn is a text in the output of a command that means that its request failed, for one that exits with 0 whatever
	// happened. Empty: there is none.
	FailOn string
	// Body names a file with the body of a POST, for the placeholder {body}.
	Body string
	// CA names a file with the certificate of the server, for the placeholder {ca}; empty without TLS.
	CA string

	// RoundTripper makes a client of this process for each case, which is closed by its CloseIdleConnections.
	RoundTripper func() RoundTripper

	// Listen is an address to listen on for a client that is no command. Waiting, if not nil, is told before each case
	// what the client is to ask for.
	Listen  string
	Waiting func(c conformance.Case, url string)
	// Patience is how long to wait for a connection to Listen. Zero means one minute.
	Patience time.Duration

	// Certificate is the server's, and makes it speak TLS.
	Certificate *tls.Certificate
	// Timeout is how long the client may take for each step. Zero means conformance.DefaultTimeout.
	Timeout time.Duration
	// Jobs is how many cases are played at once. Zero means one.
	Jobs int
}

// A RoundTripper is an http.RoundTripper with connections to close.
type RoundTripper interface {
	http.RoundTripper
	CloseIdleConnections()
}

// An Outcome is what became of one case.
type Outcome struct {
	conformance.Case
	conformance.Result
	// Output is the end of what the command printed.
	Output string
	// Time is how long the case took.
	Time time.Duration
	// Known is why the case is expected to fail; empty if it is not.
	Known string
}

// Bad says whether the client broke the rule and nobody expected it.
func (o Outcome) Bad() bool {
	return !o.Verdict.Good() && o.Verdict != conformance.Skipped && o.Known == ""
}

// startTimeout is how long a client may take to connect, and a command to start, whatever the timeout of a step.
const startTimeout = 20 * time.Second

// Run plays the cases and hands each outcome to add, in order and by one goroutine at a time. The error is that of ctx,
// or says why nothing can be played.
func (s *Suite) Run(ctx context.Context, cases []conformance.Case, add func(Outcome)) error {
	jobs := max(1, s.Jobs)
	var listener net.Listener
	if s.Listen != "" {
		var err error
		if listener, err = net.Listen("tcp", s.Listen); err != nil {
			return err
		}
		defer listener.Close()
		jobs = 1
	}
	results := make([]chan Outcome, len(cases))
	for i := range results {
		results[i] = make(chan Outcome, 1)
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for i := range next {
				results[i] <- s.play(ctx, cases[i], listener)
			}
		})
	}
	wg.Go(func() {
		defer close(next)
		for i := range cases {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	defer wg.Wait()
	for _, result := range results {
		select {
		case o := <-result:
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			add(o)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// play plays one case.
func (s *Suite) play(ctx context.Context, c conformance.Case, shared net.Listener) Outcome {
	o := Outcome{Case: c}
	argv, reason := s.command(c)
	if reason != "" {
		o.Result = conformance.Result{Verdict: conformance.Skipped, Reason: reason}
		return o
	}
	start := time.Now()
	listener := shared
	if listener == nil {
		var err error
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			o.Result = conformance.Result{Verdict: conformance.Fail, Reason: err.Error()}
			return o
		}
		defer listener.Close()
	}
	client, output := s.client(ctx, c, argv, listener.Addr().String())
	server, err := s.accept(ctx, listener, client)
	if err != nil {
		client.Close()
		o.Result = conformance.Result{Verdict: conformance.Fail, Reason: err.Error()}
	} else {
		if s.Listen == "" {
			stop := refuse(listener)
			defer stop()
		}
		o.Result = conformance.Run(server, client, c, s.Timeout)
	}
	o.Output, o.Time = output(), time.Since(start)
	return o
}

// command says which command plays c, or why none does.
func (s *Suite) command(c conformance.Case) (argv []string, reason string) {
	if s.RoundTripper != nil {
		return nil, ""
	}
	var methods []string
	for _, r := range c.Requests() {
		methods = append(methods, r.Method)
	}
	kind := strings.Join(methods, " and ")
	switch kind {
	case "GET":
		argv = s.Get
	case "POST":
		argv = s.Post
	case "HEAD":
		argv = s.Head
	case "GET and GET":
		argv = s.Pair
	}
	switch {
	case c.Steered():
		return nil, "needs a client that is led step by step"
	case s.Listen != "" && kind != "GET":
		return nil, "needs " + kind
	case s.Listen == "" && len(argv) == 0:
		return nil, "needs a command for " + kind
	}
	return argv, ""
}

// A starter is a client that may end before it connects.
type starter interface {
	conformance.Client
	// ended is closed when there will be no connection any more.
	ended() <-chan struct{}
}

// client starts the client.
func (s *Suite) client(ctx context.Context, c conformance.Case, argv []string, addr string) (starter, func() string) {
	scheme := "http"
	if s.Certificate != nil {
		scheme = "https"
	}
	base := scheme + "://" + addr
	switch {
	case s.Listen != "":
		if s.Waiting != nil {
			s.Waiting(c, base+c.Requests()[0].Path)
		}
		return &stranger{}, func() string { return "" }
	case s.RoundTripper != nil:
		rt := s.RoundTripper()
		return &inProcess{conformance.NewHTTPClient(rt, base, c), rt}, func() string { return "" }
	}
	cmd := startCommand(ctx, s, c, argv, base)
	return cmd, cmd.output.String
}

// accept waits for the connection of the client.
func (s *Suite) accept(ctx context.Context, listener net.Listener, client starter) (net.Conn, error) {
	patience := startTimeout
	if s.Listen != "" {
		if patience = s.Patience; patience == 0 {
			patience = time.Minute
		}
	}
	tcp := listener.(*net.TCPListener)
	if err := tcp.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	accepted := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(accepted)
	wg.Go(func() {
		select {
		case <-client.ended():
		case <-ctx.Done():
		case <-accepted:
			return
		}
		_ = tcp.SetDeadline(time.Now()) // nobody will connect any more
	})
	nc, err := tcp.Accept()
	if err != nil {
		return nil, fmt.Errorf("the client did not connect: %w", err)
	}
	if s.Certificate == nil {
		return nc, nil
	}
	server := tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{*s.Certificate}, NextProtos: []string{"h2"}})
	handshake, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := server.HandshakeContext(handshake); err != nil {
		nc.Close()
		return nil, fmt.Errorf("TLS with the client: %w", err)
	}
	return server, nil
}

// refuse closes every further connection until it is stopped.
func refuse(listener net.Listener) (stop func()) {
	var wg sync.WaitGroup
	_ = listener.(*net.TCPListener).SetDeadline(time.Time{})
	wg.Go(func() {
		for {
			nc, err := listener.Accept()
			if err != nil {
				return
			}
			nc.Close()
		}
	})
	return func() {
		listener.Close()
		wg.Wait()
	}
}
