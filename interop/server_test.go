package interop

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A server is a kind of HTTP/2 server that the tests talk to.
type server struct {
	name string
	// echoes says that it answers an upload with the octets themselves, and not with their digest.
	echoes bool
	// start runs it for the rest of the test with o behind both addresses. It skips the test if it is not installed.
	start func(t *testing.T, o *origin) addresses
}

// addresses are where a server listens.
type addresses struct {
	cleartext string // HTTP/2 with prior knowledge
	tls       string
}

var servers = []server{
	{name: "go", start: startGo},
	{name: "nghttpd", start: startNghttpd, echoes: true},
	{name: "nginx", start: startNginx},
}

// startGo runs net/http's server within the test.
func startGo(t *testing.T, o *origin) addresses {
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServer(http.Dir(o.dir)))
	mux.HandleFunc("POST "+uploadPath, answerUpload)
	s := &http.Server{Handler: mux, Protocols: new(http.Protocols)}
	s.Protocols.SetHTTP2(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(func() { s.Close() })
	cleartext, secure := listen(t), listen(t)
	go s.Serve(cleartext)
	go s.ServeTLS(secure, o.cert, o.key)
	return addresses{cleartext: cleartext.Addr().String(), tls: secure.Addr().String()}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// startNghttpd runs two of them, since one serves either TLS or cleartext.
func startNghttpd(t *testing.T, o *origin) addresses {
	binary := lookPath(t, "nghttpd", "nghttp2-server")
	common := []string{"--address=127.0.0.1", "--htdocs=" + o.dir, "--echo-upload"}
	cleartext := startProcess(t, 1, func(ports []string) *exec.Cmd {
		return exec.Command(binary, append(common[:3:3], "--no-tls", ports[0])...)
	})
	secure := startProcess(t, 1, func(ports []string) *exec.Cmd {
		return exec.Command(binary, append(common[:3:3], ports[0], o.key, o.cert)...)
	})
	return addresses{cleartext: cleartext[0], tls: secure[0]}
}

// startNginx runs one process, without workers, that hands uploads to the origin's backend.
func startNginx(t *testing.T, o *origin) addresses {
	binary := lookPath(t, "nginx", "nginx")
	dir := t.TempDir()
	at := startProcess(t, 2, func(ports []string) *exec.Cmd {
		config := filepath.Join(dir, "nginx.conf")
		write(t, config, fmt.Appendf(nil, nginxConfig, dir, ports[0], ports[1], o.cert, o.key, o.dir, uploadPath, o.backend))
		return exec.Command(binary, "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", config)
	})
	return addresses{cleartext: at[0], tls: at[1]}
}

// nginxConfig takes: a directory of its own, the cleartext port, the TLS port, certificate, key, the directory to
// serve, the upload path, and the address of the backend. The directive http2 is a parameter of listen up to nginx
// 1.25, and later versions still take it.
const nginxConfig = `
daemon off;
master_process off;
pid %[1]s/nginx.pid;
events {}
http {
	access_log off;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	server {
		listen 127.0.0.1:%[2]s http2;
		listen 127.0.0.1:%[3]s ssl http2;
		ssl_certificate %[4]s;
		ssl_certificate_key %[5]s;
		root %[6]s;
		client_max_body_size 0;
		location %[7]s {
			proxy_pass http://%[8]s;
			proxy_http_version 1.1;
		}
	}
}
`

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
