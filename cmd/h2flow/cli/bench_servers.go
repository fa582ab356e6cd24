package cli

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.com/h2flow/cmd/h2flow/internal/load"
)

// originGo is the origin that is always there; the others are programs that may be installed.
const originGo = "go"

// A serverProgram is another server to measure against. It serves files, with its own defaults but for what a load
// would run into.
type serverProgram struct {
	name    string
	uploads bool // it reads the body of a POST to its end
	http1   bool // it speaks HTTP/1.1 too, in cleartext on a port of its own if twoPorts
	// twoPorts says that cleartext HTTP/2 has a port of its own.
	twoPorts bool
	// command writes what the program needs into the directory and returns the arguments.
	command func(d serverDir) ([]string, error)
}

// A serverDir is where a program finds everything.
type serverDir struct {
	path  string
	tls   bool
	port  string // of HTTP/2, and of HTTP/1.1 where one port serves both
	port1 string // of HTTP/1.1 otherwise
}

var serverPrograms = []serverProgram{
	{name: "nginx", http1: true, twoPorts: true, command: nginxCommand},
	{name: "h2o", http1: true, command: h2oCommand},
	{name: "nghttpd", uploads: true, command: nghttpdCommand},
}

// originNames are the values of --origin.
func originNames() []string {
	names := []string{originGo}
	for _, p := range serverPrograms {
		names = append(names, p.name)
	}
	return names
}

func findProgram(name string) *serverProgram {
	for i := range serverPrograms {
		if serverPrograms[i].name == name {
			return &serverPrograms[i]
		}
	}
	return nil
}

// settleOrigin checks what --origin says against the other flags.
func (o *benchOptions) settleOrigin(clientsGiven bool) error {
	if o.origin == originGo {
		return nil
	}
	p := findProgram(o.origin)
	switch {
	case p == nil:
		return usagef("there is no origin %q (want one of %s)", o.origin, strings.Join(originNames(), ", "))
	case o.url != nil:
		return usagef("--origin is for runs without a URL")
	case o.op == load.Post && !p.uploads:
		return usagef("%s has nothing here that reads an upload; use nghttpd or go", p.name)
	case o.http1URL != "" || p.twoPorts && !o.tls && (o.rtt > 0 || o.rate > 0):
		return usagef("%s has a port of its own for HTTP/1.1, which --rtt and --rate cannot stand before", p.name)
	}
	if p.http1 {
		return nil
	}
	var clients []string
	for _, c := range o.clients {
		if c != load.HTTP1 {
			clients = append(clients, c)
		} else if clientsGiven {
			return usagef("%s does not speak HTTP/1.1", p.name)
		}
	}
	o.clients = clients
	return nil
}

// startProgram starts the server program, with files of the sizes that will be asked for.
func (t *target) startProgram(ctx context.Context, p *serverProgram, useTLS bool, sizes ...int64) error {
	program, err := exec.LookPath(p.name)
	if err != nil {
		return fmt.Errorf("%s is not installed: %w", p.name, err)
	}
	dir, err := os.MkdirTemp("", "h2flow-bench-")
	if err != nil {
		return err
	}
	t.closers = append(t.closers, func() { os.RemoveAll(dir) })
	d := serverDir{path: dir, tls: useTLS}
	if d.port, d.port1, err = freePorts(); err != nil {
		return err
	}
	if t.cacert, err = d.fill(sizes); err != nil {
		return err
	}
	args, err := p.command(d)
	if err != nil {
		return err
	}
	if err := t.startProcess(ctx, exec.Command(program, args...), d); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	t.url = &url.URL{Scheme: "http", Host: "127.0.0.1:" + d.port, Path: "/"}
	if useTLS {
		t.url.Scheme = "https"
	} else if p.twoPorts {
		t.http1URL = "http://127.0.0.1:" + d.port1 + "/"
	}
	t.program = p.name
	return nil
}

// startProcess starts cmd and waits until it listens.
func (t *target) startProcess(ctx context.Context, cmd *exec.Cmd, d serverDir) error {
	log, err := os.Create(filepath.Join(d.path, "output"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Dir, cmd.Stdout, cmd.Stderr = d.path, log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	t.closers = append(t.closers, func() {
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(killDelay):
			cmd.Process.Kill()
			<-ended
		}
	})
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range int(10 * time.Second / (5 * time.Millisecond)) {
		if nc, err := net.Dial("tcp", "127.0.0.1:"+d.port); err == nil {
			return nc.Close()
		}
		select {
		case <-ended:
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("it ended at once: %s", strings.TrimSpace(string(text)))
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return errors.New("it does not listen")
}

// fill writes the files to serve, and a certificate with its key, which it returns.
func (d serverDir) fill(sizes []int64) (cacert string, err error) {
	if err := os.Chmod(d.path, 0o755); err != nil { // the server may drop privileges
		return "", err
	}
	if err := os.MkdirAll(d.file("www", "bytes"), 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(d.file("www", "sink"), []byte("done\n"), 0o644); err != nil {
		return "", err
	}
	for _, size := range sizes {
		name := d.file("www", "bytes", strconv.FormatInt(size, 10))
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			return "", err
		}
		if err := os.Truncate(name, size); err != nil { // a hole takes no space on the disk
			return "", err
		}
	}
	if !d.tls {
		return "", nil
	}
	cert, err := makeCertificate()
	if err != nil {
		return "", err
	}
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		return "", err
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	if err := os.WriteFile(d.file("key.pem"), private, 0o600); err != nil {
		return "", err
	}
	return string(public), os.WriteFile(d.file("cert.pem"), public, 0o644)
}

func (d serverDir) file(names ...string) string {
	return filepath.Join(append([]string{d.path}, names...)...)
}

// freePorts returns two ports that were free a moment ago.
func freePorts() (a, b string, err error) {
	var ports [2]string
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", err
		}
		defer l.Close()
		_, ports[i], _ = net.SplitHostPort(l.Addr().String())
	}
	return ports[0], ports[1], nil
}

// nginxCommand lets a connection carry any number of requests; nginx ends it after 1,000.
func nginxCommand(d serverDir) ([]string, error) {
	listen := fmt.Sprintf("listen 127.0.0.1:%s;\nlisten 127.0.0.1:%s http2;", d.port1, d.port)
	if d.tls {
		listen = fmt.Sprintf("listen 127.0.0.1:%s ssl http2;\n", d.port) +
			"ssl_certificate cert.pem;\nssl_certificate_key key.pem;"
	}
	user := ""
	if os.Getuid() == 0 {
		user = "user root;"
	}
	var temps strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temps, "%s_temp_path %s;\n", kind, d.file(kind))
	}
	config := fmt.Sprintf(`daemon off;
%s
pid nginx.pid;
events {}
http {
access_log off;
sendfile on;
keepalive_requests 1000000000;
%sserver {
%s
root www;
}
}
`, user, temps.String(), listen)
	return []string{"-p", d.path, "-e", d.file("error.log"), "-c", d.file("nginx.conf")},
		os.WriteFile(d.file("nginx.conf"), []byte(config), 0o644)
}

func h2oCommand(d serverDir) ([]string, error) {
	config := fmt.Sprintf("listen:\n  host: 127.0.0.1\n  port: %s\n", d.port)
	if d.tls {
		config += fmt.Sprintf("  ssl:\n    certificate-file: %s\n    key-file: %s\n", d.file("cert.pem"), d.file("key.pem"))
	}
	if os.Getuid() == 0 {
		config += "user: root\n"
	}
	config += fmt.Sprintf("hosts:\n  default:\n    paths:\n      /:\n        file.dir: %s\n", d.file("www"))
	return []string{"-c", d.file("h2o.conf")}, os.WriteFile(d.file("h2o.conf"), []byte(config), 0o644)
}

func nghttpdCommand(d serverDir) ([]string, error) {
	// Its own windows of 65,535 octets would measure the path between its grants and nothing else.
	args := []string{"-a", "127.0.0.1", "-d", d.file("www"), "--window-bits=24", "--connection-window-bits=26"}
	if d.tls {
		return append(args, d.port, d.file("key.pem"), d.file("cert.pem")), nil
	}
	return append(args, "--no-tls", d.port), nil
}
