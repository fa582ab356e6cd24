package interop

import (
	"bytes"
	"embed"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"text/template"
)

// A server is a kind of HTTP/2 server that the tests talk to.
type server struct {
	name string
	// echoes says that it answers an upload with the octets themselves, and not with their digest.
	echoes bool
	// heads says that it answers at headPath, trailers that it lets trailers through; noTrailers is why there is nothing to
	// test of them.
	heads, trailers bool
	noTrailers      string
	// noRestart is why a restart under load is not tested.
	noRestart string
	// shared is the strategy for streams that share a connection; empty means tiny.
	shared string
	// start runs it for the rest of the test with o behind both addresses. It skips the test if it is not installed.
	start func(t *testing.T, o *origin) running
}

// running is a server that listens.
type running struct {
	cleartext string             // address for HTTP/2 with prior knowledge
	tls       string             // address
	reload    func(t *testing.T) // restarts it gracefully; nil if it cannot
}

func (r running) targets(o *origin) []target {
	return []target{r.target(o, "http"), r.target(o, "https")}
}

func (r running) target(o *origin, scheme string) target {
	if scheme == "http" {
		return target{scheme: scheme, addr: r.cleartext, trust: o.trust}
	}
	return target{scheme: scheme, addr: r.tls, trust: o.trust}
}

const noSignal = "it has no graceful restart that a signal asks for"

var servers = []server{
	{name: "go", start: startGo, heads: true, trailers: true},
	{name: "nginx", start: startNginx, heads: true},
	{name: "nghttpd", start: startNghttpd, echoes: true, noTrailers: "it has no such page", noRestart: noSignal},
	{name: "nghttpx", start: startNghttpx, heads: true, trailers: true, noRestart: noSignal},
	{name: "apache", start: startApache, heads: true, trailers: true,
		noRestart: "it ends responses that it has begun: GOAWAY with an error code of its own"},
	{name: "h2o", start: startH2O, heads: true, noRestart: noSignal},
	{name: "caddy", start: startCaddy, heads: true, trailers: true, noRestart: noSignal},
	{name: "haproxy", start: startHAProxy, heads: true, trailers: true},
	{name: "lighttpd", start: startLighttpd, heads: true, shared: "bdp",
		noTrailers: "it ends the values of a backend's trailers with a carriage return, which is malformed",
		noRestart:  "it ends responses that it has begun"},
	{name: "varnish", start: startVarnish, heads: true, noTrailers: "it refuses a backend that sends them", noRestart: noSignal},
	{name: "trafficserver", start: startTrafficServer, heads: true, noRestart: noSignal},
	{name: "node", start: startNode, heads: true, trailers: true, noRestart: noSignal},
	{name: "hypercorn", start: startHypercorn, heads: true, noTrailers: "it has no such page", noRestart: noSignal},
	{name: "jetty", start: startJetty, heads: true, noRestart: noSignal},
}

//go:embed testdata
var testdata embed.FS

// A site is what a server's configuration refers to.
type site struct {
	Dir                      string // the server's own
	Files                    string // to serve
	Cert, Key, Pair          string // paths of PEM files; Pair holds both
	KeyStore                 string // path of a PKCS #12 file
	Backend                  string // address
	BackendHost, BackendPort string
	Cleartext, TLS           string // ports
	Root                     bool   // whether it is started as root
	User                     string // whom to become, for servers that refuse to be root
}

// newSite leaves the ports open.
func newSite(t *testing.T, o *origin) *site {
	t.Helper()
	host, port := splitAddr(t, o.backend)
	return &site{
		Dir: publicDir(t), Files: o.dir, Cert: o.cert, Key: o.key, Pair: o.pair,
		Backend: o.backend, BackendHost: host, BackendPort: port, Root: os.Geteuid() == 0, User: "#-1",
	}
}

// render writes the named file of testdata, as it reads for this site, to the site's directory and returns its path.
func (s *site) render(t *testing.T, name string) string {
	t.Helper()
	text, err := template.ParseFS(testdata, "testdata/"+name)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := text.Execute(&b, s); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Dir, name)
	write(t, path, b.Bytes())
	return path
}

// run starts a process that listens on both ports of the site, which are chosen before build is called.
func (s *site) run(t *testing.T, build func() *exec.Cmd) (*process, running) {
	t.Helper()
	p, at := startProcess(t, 2, func(ports []string) *exec.Cmd {
		s.Cleartext, s.TLS = ports[0], ports[1]
		cmd := build()
		cmd.Dir = s.Dir
		return cmd
	})
	return p, running{cleartext: at[0], tls: at[1]}
}

// startGo runs net/http's server within the test.
func startGo(t *testing.T, o *origin) running {
	s := &http.Server{Handler: o.handler(), Protocols: new(http.Protocols)}
	s.Protocols.SetHTTP2(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(func() { s.Close() })
	cleartext, secure := listen(t), listen(t)
	go s.Serve(cleartext)
	go s.ServeTLS(secure, o.cert, o.key)
	return running{cleartext: cleartext.Addr().String(), tls: secure.Addr().String()}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// publicDir is a temporary directory that the users who servers become can read.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "h2flow-interop-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// lookPath finds a server's program, also where a user's PATH does not lead, or skips the test.
func lookPath(t *testing.T, program, debianPackage string) string {
	t.Helper()
	if found, err := exec.LookPath(program); err == nil {
		return found
	}
	if found := filepath.Join("/usr/sbin", program); isFile(found) {
		return found
	}
	t.Skipf("%s is not installed (Debian: apt-get install %s)", program, debianPackage)
	return ""
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
