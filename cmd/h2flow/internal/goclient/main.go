package main

//lint:file-ignore SA1019 x/net's own Transport is one of the clients to judge, old or not

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

func main() {
	client := flag.String("client", "nethttp", "the client: nethttp or xnet")
	method := flag.String("X", http.MethodGet, "the method")
	body := flag.String("body", "", "a file to send")
	cacert := flag.String("cacert", "", "a file with the certificate to trust")
	flag.Parse()
	rt, err := newTransport(*client, *cacert)
	if err == nil {
		err = fetchAll(rt, *method, *body, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		// A program with more to do than this one would still be there to send what the transport has to say.
		time.Sleep(linger)
		os.Exit(1)
	}
}

const linger = 300 * time.Millisecond

func newTransport(client, cacert string) (http.RoundTripper, error) {
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	if cacert != "" {
		pem, err := os.ReadFile(cacert)
		if err != nil {
			return nil, err
		}
		config.RootCAs.AppendCertsFromPEM(pem)
	}
	switch client {
	case "nethttp":
		var protocols http.Protocols
		protocols.SetHTTP2(true)
		protocols.SetUnencryptedHTTP2(true)
		return &http.Transport{Protocols: &protocols, TLSClientConfig: config}, nil
	case "xnet":
		t := &http2.Transport{AllowHTTP: true, TLSClientConfig: config, StrictMaxConcurrentStreams: true}
		if cacert == "" {
			t.DialTLSContext = func(ctx context.Context, network, addr string, _ *tls.Config) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, addr)
			}
		}
		return t, nil
	}
	return nil, fmt.Errorf("no client %q", client)
}

// fetchAll asks for all URLs at once and returns the first failure.
func fetchAll(rt http.RoundTripper, method, file string, urls []string) error {
	var body []byte
	if file != "" {
		var err error
		if body, err = os.ReadFile(file); err != nil {
			return err
		}
	}
	errs := make([]error, len(urls))
	var wg sync.WaitGroup
	for i, url := range urls {
		sent := make(chan struct{})
		wg.Go(func() { errs[i] = fetch(rt, method, url, body, sync.OnceFunc(func() { close(sent) })) })
		<-sent // so that the next one finds the connection
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// fetch asks for url and calls sent once the head of the request has left, or never will.
func fetch(rt http.RoundTripper, method, url string, body []byte, sent func()) error {
	defer sent()
	trace := &httptrace.ClientTrace{WroteHeaders: sent}
	ctx := httptrace.WithClientTrace(context.Background(), trace)
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
